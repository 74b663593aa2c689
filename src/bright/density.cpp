// The joint density from the collapsed bound and the bright rows, and its gradient.
#include "flymc/bright/density.hpp"

#include <cmath>
#include <limits>

#include "flymc/bright/all_rows.hpp"
#include "flymc/core/numerics.hpp"

namespace flymc {

// Inside the zone: log prior + collapsed bound + lit rows. Beyond it z has the distribution at the nearest point of the
// zone, so log p(theta, z) = log p(nearest, z) + log posterior(theta) - log posterior(nearest), by two passes.
RowId JointDensity::base_at(const Vector& theta, const BoundPoint& point, double& base, Vector* gradient) const {
  RowId queries = static_cast<RowId>(bound_.lit().size());
  base = bound_.log_sum(point, gradient) + bound_.lit_sum(point, gradient);
  if (point.outside()) {
    const auto all = [&](const Vector& at) {
      return sum_of_likelihoods(store_, bound_.family(), at, gradient != nullptr, {one_, communicator_});
    };
    const auto flat = [&](const Matrix& m) { return bound_.family().arrangement().entries_of(m); };
    const LikelihoodSum here = all(theta), nearest = all(bound_.anchor() + point.from_anchor / point.beyond);
    base += here.value - nearest.value;
    queries += 2 * store_.rows();
    if (gradient) {
      *gradient -= flat(nearest.gradient);
      point.pull_to_theta(*gradient);
      *gradient += flat(here.gradient);
    }
  }
  base += prior_->log_density(theta, gradient);
  return queries;
}

RowId JointDensity::evaluate(const Vector& theta, const BrightRows& z, bool with_gradient, Evaluation& out) const {
  const Term& prior = *prior_;
  RowId queries = z.set.bright_count();
  if (frame_) {
    out.b = frame_->position(theta);
    out.point = bound_.at_distance(theta - bound_.anchor(), frame_->rho(out.b));
  }
  // Uses the metric itself if a gradient is requested; at the radius rounding may put theta on the other side.
  if (!frame_ || out.point.outside()) out.point = bound_.at(theta, with_gradient);
  if (frame_ && !out.point.outside()) {
    // The frame's matrices include the prior, and are accurate for its largest changes, not for differences.
    out.base = prior.log_density(theta) + (bound_.family().only_differences()
                                               ? bound_.log_sum(out.point)
                                               : frame_->log_sum(out.b, out.point.from_anchor, out.point.rho));
    out.base_gradient.resize(0);
    out.lit_gradient.setZero(with_gradient && bound_.lit().size() > 0 ? dimension() : 0);
    out.base += bound_.lit_sum(out.point, out.lit_gradient.size() > 0 ? &out.lit_gradient : nullptr);
    queries += static_cast<RowId>(bound_.lit().size());
  } else {
    out.lit_gradient.resize(0);
    out.base_gradient.setZero(with_gradient ? dimension() : 0);
    queries += base_at(theta, out.point, out.base, with_gradient ? &out.base_gradient : nullptr);
  }
  bound_.gaps(z.fixed, out.point, with_gradient, out.bright);
  add_up(z, with_gradient, out);
  return queries;
}

// base + sum of log expm1(gap) over the bright rows, in their order. The sum is bit-identical whether the rows' terms
// are new or kept, so a chain resumed from theta and z (in its order) continues as if it had not stopped.
void JointDensity::add_up(const BrightRows& z, bool with_gradient, Evaluation& at) const {
  double sum = 0.0;
  for (const double gap : at.bright.gap) sum += log_expm1(gap);
  at.log_density = at.base + sum;
  // Far from the anchor the bound decreases quadratically, and the gaps of the bright rows compensate at most all of
  // it. If rounding of this cancellation could influence a decision, the density cannot be computed and is NaN. This
  // condition depends on theta alone, so a sweep cannot cause it. The density at the anchor cancels in every ratio, up
  // to rounding of a sum of that size, which has no bias: its limit is larger, as 10^8 counts of 100 need.
  constexpr double eps = std::numeric_limits<double>::epsilon(), worst_rounding = 1e-5, worst_of_all = 1e-4;
  if (!(eps * 2.0 * std::abs(at.base - at_anchor_) < worst_rounding && eps * std::abs(at_anchor_) < worst_of_all))
    at.log_density = std::numeric_limits<double>::quiet_NaN();
  at.gradient.resize(0);
  at.force.resize(0);
  if (!with_gradient) return;
  if (frame_ && !at.point.outside())
    at.force = rest(*frame_, at.b, at.point, at.lit_gradient, z, at.bright);
  else if (frame_)
    at.force = without_gaussian(*frame_, at.b, at.base_gradient + bright_gradient(z, at.point, at.bright));
  else
    at.gradient = at.base_gradient + bright_gradient(z, at.point, at.bright);
}

// log_expm1'(gap) times the gap's slope in each predictor; their sum in rho goes to rho_slope.
std::vector<double> JointDensity::outer_slopes(const Gaps& gaps, double& rho_slope) const {
  const auto k = static_cast<std::size_t>(bound_.family().predictors());
  std::vector<double> weight(gaps.slope.size());
  for (std::size_t i = 0; i < gaps.gap.size(); ++i) {
    const double outer = log_expm1_slope(gaps.gap[i]);
    for (std::size_t e = i * k; e < (i + 1) * k; ++e) weight[e] = outer * gaps.slope[e];
    if (!gaps.rho_slope.empty()) rho_slope += outer * gaps.rho_slope[i];
  }
  return weight;
}

Vector JointDensity::point_gradient(const BrightRows& z, const Gaps& gaps, double& rho_slope) const {
  const std::vector<double> weight = outer_slopes(gaps, rho_slope);
  Vector out = Vector::Zero(dimension());
  add_slopes(z.fixed.x, weight, bound_.family().arrangement(), out);
  return out;
}

Vector JointDensity::bright_gradient(const BrightRows& z, const BoundPoint& point, const Gaps& gaps) const {
  if (z.fixed.size() == 0) return Vector::Zero(dimension());
  double rho_slope = 0.0;
  Vector out = point_gradient(z, gaps, rho_slope);
  if (bound_.rule().grows()) out += rho_slope * point.rho_gradient;
  point.pull_to_theta(out);
  return out;
}

Vector JointDensity::rest(const SplitFrame& frame, const Vector& b, const BoundPoint& point, const Vector& lit,
                          const BrightRows& z, const Gaps& gaps) const {
  const Term& prior = *prior_;
  const bool bright = z.fixed.size() > 0;
  if (!bright && lit.size() == 0 && prior.quadratic()) return frame.rest(b, point.rho, 0.0);
  double rho_slope = 0.0;
  Vector gradient = bright ? point_gradient(z, gaps, rho_slope) : Vector(Vector::Zero(b.size()));
  if (lit.size() > 0) gradient += lit;
  if (!prior.quadratic()) gradient += frame.prior_rest(prior, point.from_anchor);
  return frame.rest(b, point.rho, rho_slope) + frame.pull(gradient);
}

Vector JointDensity::without_gaussian(const SplitFrame& frame, const Vector& b, const Vector& gradient) {
  return frame.pull(gradient) + b - frame.centre;
}

// Only for rows with codes, which have few entries: V'x of a dense row is itself a product with V.
void JointDensity::see_lit_in_frame() {
  const RowCopies& rows = bound_.on_the_way().x;
  if (!frame_ || !store_.layout().coded() || rows.size() == 0) return;
  if (static_cast<Index>(rows.size()) * bound_.family().predictors() > dimension()) return;
  lit_in_frame_ = std::make_shared<const RowsInFrame>(*frame_, rows, bound_.family().arrangement());
}

// Cost in multiplications: n K cells D to compute V'x and 2 n K D in each kick, instead of 2 D^2.
std::optional<RowsInFrame> JointDensity::bright_in_frame(const BrightRows& z, int kicks) const {
  if (!frame_ || !store_.layout().coded() || !prior_->quadratic()) return std::nullopt;
  if (bound_.lit().size() > 0 && !lit_in_frame_) return std::nullopt;
  const Index k = bound_.family().predictors(), columns = static_cast<Index>(z.fixed.size()) * k;
  if (columns * (store_.layout().cells() + 2 * kicks) >= 2 * kicks * dimension()) return std::nullopt;
  return RowsInFrame(*frame_, z.fixed.x, bound_.family().arrangement());
}

Vector JointDensity::force_in_frame(const Vector& b, double rho, const BrightRows& z, const RowsInFrame& bright) const {
  Gaps gaps;
  gaps.delta.resize(z.fixed.eta_anchor.size());
  bright.changes(b, gaps.delta);
  bound_.gaps_of_changes(z.fixed, rho, Bound::Distance::about, true, gaps);
  double rho_slope = 0.0;
  const std::vector<double> slope = outer_slopes(gaps, rho_slope);
  Vector force = frame_->rest(b, rho, rho_slope);
  bright.pull(slope, force);
  if (!lit_in_frame_) return force;
  std::vector<double> delta(bound_.on_the_way().eta_anchor.size()), of_lit(delta.size());
  lit_in_frame_->changes(b, delta);
  bound_.on_the_way(delta, of_lit);
  lit_in_frame_->pull(of_lit, force);
  return force;
}

// If only the collapsed bound is left, rho need not be exact: O(D).
RowId JointDensity::kick(const SplitFrame& frame, const Vector& b, const BrightRows& z, Vector& force,
                         const RowsInFrame* bright) const {
  const bool own = &frame == frame_.get();
  const std::size_t lit = bound_.lit().size();
  if (own && z.fixed.size() == 0 && lit == 0 && prior_->quadratic())
    if (const double rho = frame.rho_about(b); rho <= bound_.radius()) {
      force = frame.rest(b, rho, 0.0);
      return 0;
    }
  RowId queries = z.set.bright_count();
  if (own && bright != nullptr)
    if (const double rho = frame.rho_about(b); rho <= bound_.radius()) {
      force = force_in_frame(b, rho, z, *bright);
      return queries + static_cast<RowId>(bound_.on_the_way().size());
    }
  Gaps gaps;
  BoundPoint point;
  if (own) point = bound_.at_distance(frame.change(b), frame.rho(b));
  if (own && !point.outside()) {
    Vector from_lit = Vector::Zero(lit > 0 ? dimension() : 0);
    // Along a trajectory the lit rows' stand-ins suffice.
    if (const std::size_t few = bound_.stand_ins().size(); few > 0) {
      bound_.stand_in_sum(point, from_lit);
      queries += static_cast<RowId>(few);
    } else if (lit > 0) {
      bound_.lit_sum(point, &from_lit);
      queries += static_cast<RowId>(lit);
    }
    bound_.gaps(z.fixed, point, true, gaps);
    force = rest(frame, b, point, from_lit, z, gaps);
    return queries;
  }
  const Vector theta = frame.theta(b);
  point = bound_.at(theta, true);
  Vector sum = Vector::Zero(dimension());
  double base = 0.0;
  queries += base_at(theta, point, base, &sum);
  bound_.gaps(z.fixed, point, true, gaps);
  force = without_gaussian(frame, b, sum + bright_gradient(z, point, gaps));
  return queries;
}

}  // namespace flymc
