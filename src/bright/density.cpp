// The joint density from the collapsed bound and the bright rows, and the posterior from all rows.
#include "flymc/bright/density.hpp"

#include <cmath>
#include <limits>

#include "flymc/bright/all_rows.hpp"
#include "flymc/core/letter.hpp"
#include "flymc/core/numerics.hpp"

namespace flymc {

FullDensity::FullDensity(const Store& store, const Model& model, const Communicator& communicator)
    : store_(store), model_(model), communicator_(communicator) {
  model_.check(store, {one_, communicator_});
}

RowId FullDensity::evaluate(const Vector& theta, const BrightRows&, bool with_gradient, Evaluation& out) const {
  const LikelihoodSum sum = sum_of_likelihoods(store_, model_.family(), theta, with_gradient, {one_, communicator_});
  out.gradient = Eigen::Map<const Vector>(sum.gradient.data(), sum.gradient.size());
  out.log_density = sum.value + model_.prior().log_density(theta, with_gradient ? &out.gradient : nullptr);
  return store_.rows();
}

// Inside the zone log prior + collapsed bound + lit rows. Beyond, z is that of the nearest point of the zone, so
// log p(theta, z) = log p(nearest, z) + log posterior(theta) - log posterior(nearest), by two passes.
RowId JointDensity::base_at(const Vector& theta, const BoundPoint& point, double& base, Vector* gradient) const {
  RowId queries = static_cast<RowId>(bound_.lit().size());
  base = bound_.log_sum(point, gradient) + bound_.lit_sum(point, gradient);
  if (point.outside()) {
    const auto all = [&](const Vector& at) {
      return sum_of_likelihoods(store_, bound_.family(), at, gradient != nullptr, {one_, communicator_});
    };
    const auto flat = [](const Matrix& m) { return Eigen::Map<const Vector>(m.data(), m.size()); };
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
  // By the metric itself, since a gradient is wanted, too; on the radius it may round to the other side.
  if (!frame_ || out.point.outside()) out.point = bound_.at(theta, with_gradient);
  if (frame_ && !out.point.outside()) {
    // The frame's matrices are of the prior, too, and good to its largest changes, not to differences.
    out.base = prior.log_density(theta) + (bound_.family().only_differences()
                                               ? bound_.log_sum(out.point)
                                               : frame_->log_sum(out.b, out.point.from_anchor, out.point.rho));
    // Of the base's gradient a frame needs the lit rows' alone.
    out.base_gradient.setZero(with_gradient && bound_.lit().size() > 0 ? dimension() : 0);
    out.base += bound_.lit_sum(out.point, out.base_gradient.size() > 0 ? &out.base_gradient : nullptr);
    queries += static_cast<RowId>(bound_.lit().size());
  } else {
    out.base_gradient.setZero(with_gradient ? dimension() : 0);
    queries += base_at(theta, out.point, out.base, with_gradient ? &out.base_gradient : nullptr);
  }
  bound_.gaps(z.fixed, out.point, with_gradient, out.bright);
  add_up(z, with_gradient, out);
  return queries;
}

// base + sum of log expm1(gap) over the bright rows, in their order. The same sum, bit for bit, whether the rows' terms
// are new or kept, so a chain that resumes from theta and z (in its order) goes on as if it had never stopped.
void JointDensity::add_up(const BrightRows& z, bool with_gradient, Evaluation& at) const {
  double sum = 0.0;
  for (const double gap : at.bright.gap) sum += log_expm1(gap);
  at.log_density = at.base + sum;
  // Far from the anchor the bound falls away quadratically and the gaps of the bright rows give back what it lost, at
  // most all of it. Where so little could be left of so much that rounding would sway a decision, the density cannot be
  // computed, and says so. That depends on theta alone: a sweep never leads there.
  constexpr double worst_rounding = 1e-5;
  if (!(std::numeric_limits<double>::epsilon() * 2.0 * std::abs(at.base) < worst_rounding))
    at.log_density = std::numeric_limits<double>::quiet_NaN();
  if (!with_gradient)
    at.gradient.resize(0);
  else if (frame_ && !at.point.outside())
    at.gradient = rest(*frame_, at.b, at.point, at.base_gradient, z, at.bright);
  else if (frame_)
    at.gradient = without_gaussian(*frame_, at.b, at.base_gradient + bright_gradient(z, at.point, at.bright));
  else
    at.gradient = at.base_gradient + bright_gradient(z, at.point, at.bright);
}

// The sum of log_expm1'(gap) times the gap's slope in the zone's point, and likewise in rho.
Vector JointDensity::point_gradient(const BrightRows& z, const Gaps& gaps, double& rho_slope) const {
  const auto k = static_cast<std::size_t>(bound_.family().predictors());
  std::vector<double> weight(gaps.slope.size());
  for (std::size_t i = 0; i < gaps.gap.size(); ++i) {
    const double outer = log_expm1_slope(gaps.gap[i]);
    for (std::size_t e = i * k; e < (i + 1) * k; ++e) weight[e] = outer * gaps.slope[e];
    if (!gaps.rho_slope.empty()) rho_slope += outer * gaps.rho_slope[i];
  }
  Vector out = Vector::Zero(dimension());
  add_slopes(z.fixed.x, weight, bound_.family().predictors(), out);
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

// Where nothing but the collapsed bound is left, rho need not be exact: O(D).
RowId JointDensity::kick(const SplitFrame& frame, const Vector& b, const BrightRows& z, Vector& gradient) const {
  const bool own = &frame == frame_.get();
  const std::size_t lit = bound_.lit().size();
  if (own && z.fixed.size() == 0 && lit == 0 && prior_->quadratic())
    if (const double rho = frame.rho_about(b); rho <= bound_.radius()) {
      gradient = frame.rest(b, rho, 0.0);
      return 0;
    }
  RowId queries = z.set.bright_count();
  Gaps gaps;
  BoundPoint point;
  if (own) point = bound_.at_distance(frame.change(b), frame.rho(b));
  if (own && !point.outside()) {
    Vector from_lit = Vector::Zero(lit > 0 ? dimension() : 0);
    // On the way the lit rows' stand-ins will do.
    if (const std::size_t few = bound_.stand_ins().size(); few > 0) {
      bound_.stand_in_sum(point, from_lit);
      queries += static_cast<RowId>(few);
    } else if (lit > 0) {
      bound_.lit_sum(point, &from_lit);
      queries += static_cast<RowId>(lit);
    }
    bound_.gaps(z.fixed, point, true, gaps);
    gradient = rest(frame, b, point, from_lit, z, gaps);
    return queries;
  }
  const Vector theta = frame.theta(b);
  point = bound_.at(theta, true);
  Vector sum = Vector::Zero(dimension());
  double base = 0.0;
  queries += base_at(theta, point, base, &sum);
  bound_.gaps(z.fixed, point, true, gaps);
  gradient = without_gaussian(frame, b, sum + bright_gradient(z, point, gaps));
  return queries;
}

RowId JointDensity::look(const State& state, std::span<const RowId> rows, BoundRows& fixed, Gaps& gaps) const {
  bound_.prepare(store_, rows, fixed);
  const bool with_slopes = state.at.gradient.size() > 0;
  bound_.gaps(fixed, state.at.point, with_slopes, gaps);
  return static_cast<RowId>(rows.size());
}

void JointDensity::brighten(State& state, const BoundRows& fixed, const Gaps& gaps, std::size_t i) const {
  state.z.set.brighten(fixed.row[i]);
  state.z.fixed.append(fixed, i);
  state.at.bright.append(gaps, i);
}

void JointDensity::darken(State& state, RowId row) const {
  const auto i = static_cast<std::size_t>(state.z.set.position(row));
  state.z.set.darken(row);
  state.z.fixed.remove(i);
  Gaps& bright = state.at.bright;
  const auto take_last = [i](std::vector<double>& values, std::size_t width) {
    if (values.empty()) return;
    for (std::size_t j = 0; j < width; ++j) values[i * width + j] = values[values.size() - width + j];
    values.resize(values.size() - width);
  };
  take_last(bright.gap, 1);
  take_last(bright.slope, static_cast<std::size_t>(bound_.family().predictors()));
  take_last(bright.rho_slope, 1);
}

void JointDensity::settle(State& state) const { add_up(state.z, state.at.gradient.size() > 0, state.at); }

namespace {

// How many rows a letter tells of, how many queries they took, and where the chain is that they belong to.
struct Head {
  RowId dark = 0, queries = 0;
  std::uint64_t place = 0;
};

}  // namespace

RowId JointDensity::flip(State& state, const Flips& flips) const {
  if (communicator_.size() == 1) {
    for (std::size_t i = 0; i < flips.bright.size(); ++i) brighten(state, flips.bright, flips.gaps, i);
    for (const RowId row : flips.dark) darken(state, row);
    settle(state);
    return flips.queries;
  }
  std::vector<std::byte> letter;
  const Head own{static_cast<RowId>(flips.dark.size()), flips.queries, fingerprint(state.theta, state.at.log_density)};
  put(letter, std::span<const Head>(&own, 1));
  put(letter, std::span<const RowId>(flips.dark));
  put_rows(letter, flips.bright);

  // Ranks have their rows in the order of the ranks, so what comes one after the other is in the order of the rows.
  RowId queries = 0;
  BoundRows bright;
  bright.facts = FactColumns(store_.fact_kinds());
  std::vector<RowId> dark;
  for (const std::vector<std::byte>& from : communicator_.gather(letter)) {
    std::span<const std::byte> rest(from);
    std::vector<Head> head;
    take(rest, 1, head);
    if (head[0].place != own.place) ranks_differ();
    queries += head[0].queries;
    take(rest, static_cast<std::size_t>(head[0].dark), dark);
    take_rows(rest, store_.features(), bright);
  }
  if (bright.size() > 0) {
    bound_.complete(bright);
    Gaps gaps;
    bound_.gaps(bright, state.at.point, state.at.gradient.size() > 0, gaps);
    for (std::size_t i = 0; i < bright.size(); ++i) brighten(state, bright, gaps, i);
  }
  for (const RowId row : dark) darken(state, row);
  settle(state);
  return queries;
}

void JointDensity::fetch(std::span<const RowId> rows, BoundRows& out) const {
  out.fetch(store_, rows, communicator_);
  bound_.complete(out);
}

}  // namespace flymc
