// The moves of one iteration.
#include "flymc/groups/group_moves.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "small_matrices.hpp"
#include "updates.hpp"

namespace flymc {
namespace {

// Draws a group's effects by an elliptical slice: points on the ellipse through the present effects and a draw from the
// normal part, both about its mean.
void slice_group(GroupPlace& place, std::size_t f, Index group, const Vector& mean, const Vector& draw,
                 const Random& random) {
  GroupPlace::OneGroup own(place, f, group);
  const Vector from = place.change().groups[f].row(group).transpose() - mean;
  const Vector now = mean + from;
  const std::uint64_t at = address(Update::group, f, static_cast<std::uint64_t>(group));
  const double level = own.rest_at(now.data()) + std::log(random.uniform(Purpose::slice_height, at));
  double angle = 2.0 * std::numbers::pi * random.uniform(Purpose::slice_place, at);
  double least = angle - 2.0 * std::numbers::pi, most = angle;
  constexpr std::uint64_t tries = 200;
  for (std::uint64_t attempt = 0; attempt < tries; ++attempt) {
    const Vector there = mean + from * std::cos(angle) + draw * std::sin(angle);
    if (own.rest_at(there.data()) >= level) return own.move();
    (angle < 0.0 ? least : most) = angle;
    angle = least + (most - least) * random.uniform(Purpose::slice_shrink, at | attempt);
  }
}

// The draw itself, accepted with what the evaluated rows add.
void draw_group(GroupPlace& place, std::size_t f, Index group, const Vector& there, const Random& random) {
  GroupPlace::OneGroup own(place, f, group);
  const Vector now = place.change().groups[f].row(group).transpose();
  const double before = own.rest_at(now.data()), gain = own.rest_at(there.data()) - before;
  const std::uint64_t at = address(Update::group, f, static_cast<std::uint64_t>(group));
  if (std::log(random.uniform(Purpose::accept, at)) < gain) own.move();
}

constexpr double share_of_slices = 0.125;

}  // namespace

void move_effects(const GroupDensity& density, GroupPlace& place, std::size_t f, const Random& random) {
  const GroupLayout& layout = place.layout();
  const Index k = layout.width(f);
  const Matrix prior = inverse_of(covariance_of(layout.scales(place.theta(), f), k));
  const EffectSums& sums = density.bound().sums().effects[f];
  const RowMatrix& anchor = density.bound().anchor().at.groups[f];
  Matrix precision(k, k);
  Vector mean(k), draw(k), there(k);
  for (Index g = 0; g < layout.groups(f); ++g) {
    density.slope_of_group(f, g, place.change(), mean.data());
    random.normals(Purpose::move, address(Update::group, f, static_cast<std::uint64_t>(g)),
                   {draw.data(), static_cast<std::size_t>(k)});
    if (k == 1) {
      const double own = sums.blocks(g, 0) + prior(0, 0);
      mean[0] = (mean[0] - prior(0, 0) * anchor(g, 0)) / own;
      draw[0] /= std::sqrt(own);
    } else {
      mean.noalias() -= prior * anchor.row(g).transpose();
      precision = Matrix(sums.blocks.middleRows(g * k, k).selfadjointView<Eigen::Lower>()) + prior;
      const Eigen::LLT<Matrix> factor(precision);
      factor.solveInPlace(mean);
      factor.matrixU().solveInPlace(draw);
    }
    // Which of the two moves a group makes must not depend on its effects, only on z and chance. So a group without a
    // bright or lit row sometimes makes a slice too: where it is far, its draws are seldom accepted.
    const bool slices =
        place.is_held(f, g) ||
        random.bernoulli(Purpose::gibbs, address(Update::group, f, static_cast<std::uint64_t>(g)), share_of_slices);
    there = mean + draw;
    if (slices)
      slice_group(place, f, g, mean, draw, random);
    else if (place.is_dark(f, g, there.data()))
      place.move_dark(f, g, there.data());
    else
      draw_group(place, f, g, there, random);
  }
}

// With effects times t and standard deviations times t the prior of the effects given their scales changes by the
// Jacobian alone, and the collapsed sum is a parabola in t. So t has the density exp(parabola) times the evaluated rows,
// the prior of the scales, and t^(k - 1), which is t^k for log t. A slice of log t: a draw from the parabola would seldom be accepted, because
// the bright rows pull away from it together.
void move_scales_with_effects(const GroupDensity& density, GroupPlace& place, std::size_t f, const Random& random) {
  const GroupLayout& layout = place.layout();
  const Index k = layout.width(f), groups = layout.groups(f);
  const RowMatrix& anchor = density.bound().anchor().at.groups[f];
  const RowMatrix u = layout.effects(place.theta(), f);
  const RowMatrix& blocks = density.bound().sums().effects[f].blocks;
  double linear = 0.0, bend = 0.0;  // of the parabola linear t - bend t^2 / 2
  Vector slope(k);
  for (Index g = 0; g < groups; ++g) {
    density.slope_of_group(f, g, place.change(), slope.data());
    const auto own = blocks.middleRows(g * k, k).selfadjointView<Eigen::Lower>();
    const Vector bent = own * u.row(g).transpose();
    linear += u.row(g).dot(slope) + anchor.row(g).dot(bent);
    bend += u.row(g).dot(bent);
  }
  const double unit = unit_of_effects(density.model().model, layout.coefficients(place.theta()));
  auto scales = layout.scales(place.theta(), f);
  Effects there = place.change();
  const auto log_density = [&](double log_t) {
    const double t = std::exp(log_t);
    if (!(t > 0.0) || !std::isfinite(t)) return -HUGE_VAL;
    double sum = linear * t - 0.5 * bend * t * t + static_cast<double>(k) * log_t;
    for (Index j = 0; j < k; ++j)
      sum += density.prior(f).of(j).log_density(t * scales[static_cast<std::size_t>(j)] * unit);
    there.groups[f] = t * u - anchor;
    return sum + place.rest_at(there);
  };
  const double width = std::min(1.0, 3.0 / std::sqrt(density.information(f)));
  const double t = std::exp(slice_number(0.0, width, log_density, random, address(Update::with_effects, f)));
  for (Index j = 0; j < k; ++j) scales[static_cast<std::size_t>(j)] *= t;
  there.groups[f] = t * u - anchor;
  place.move_to(std::move(there));
}

double move_border(const GroupDensity& density, GroupPlace& place, int steps, const Random& random) {
  const GroupLayout& layout = place.layout();
  const GroupSums& sums = density.bound().sums();
  const Vector& anchor = density.bound().anchor().at.border;
  const Vector theta = place.theta();
  const Index d = layout.border();
  // The Gaussian part: the collapsed sum given the effects, the quadratic in place of the prior.
  Vector slope = sums.slope + density.prior_slope();
  for (std::size_t f = 0; f < layout.factors(); ++f) {
    const RowMatrix& u = place.change().groups[f];
    slope.noalias() -= sums.effects[f].couplings.transpose() * Eigen::Map<const Vector>(u.data(), u.size());
  }
  const Eigen::LLT<Matrix>& factor = density.border_factor();
  const Vector mean = factor.solve(slope);
  const auto upper = factor.matrixU();
  const auto lower = factor.matrixL();

  // The rest, and its gradient in the frame: exact at the ends, without far groups on the way.
  const auto prior_rest = [&](const Vector& change, Vector* gradient) {
    Vector own = Vector::Zero(gradient ? d : 0);
    const double value = density.log_prior(anchor + change, theta, gradient ? &own : nullptr);
    const Vector bent = density.prior_precision() * change;
    if (gradient) *gradient += own - density.prior_slope() + bent;
    return value - density.prior_slope().dot(change) + 0.5 * change.dot(bent);
  };
  const auto force = [&](const Vector& change) {
    Vector gradient = Vector::Zero(d);
    prior_rest(change, &gradient);
    place.rest_on_the_way(change, gradient);
    return Vector(lower.solve(gradient));
  };
  Vector b = upper * (place.change().border - mean), p(d);
  random.normals(Purpose::move, address(Update::border), {p.data(), static_cast<std::size_t>(d)});
  const double before = prior_rest(place.change().border, nullptr) + place.rest();
  const double energy = before - 0.5 * b.squaredNorm() - 0.5 * p.squaredNorm();
  const double angle = 0.5 * std::numbers::pi * (0.8 + 0.4 * random.uniform(Purpose::angle, 0));
  const double turn = angle / steps, cosine = std::cos(turn), sine = std::sin(turn);
  Vector change = place.change().border;
  Vector push = force(change);
  for (int i = 0; i < steps; ++i) {
    p += 0.5 * turn * push;
    const Vector from = b;
    b = cosine * from + sine * p;
    p = cosine * p - sine * from;
    change = mean + upper.solve(b);
    push = force(change);
    if (!push.allFinite()) return 0.0;
    p += 0.5 * turn * push;
  }
  Effects there = place.change();
  there.border = change;
  const double after = prior_rest(change, nullptr) + place.rest_at(there);
  const double gain = after - 0.5 * b.squaredNorm() - 0.5 * p.squaredNorm() - energy;
  if (!std::isfinite(gain)) return 0.0;
  if (std::log(random.uniform(Purpose::accept, address(Update::border))) < gain) place.move_to(std::move(there));
  return std::min(1.0, std::exp(gain));
}

Info GroupMove::step(State& state, const Random& random) const {
  GroupPlace place(density_->bound(), state);
  Info info;
  for (std::size_t f = 0; f < place.layout().factors(); ++f) {
    move_effects(*density_, place, f, random);
    if (density_->moves_with_effects(f)) move_scales_with_effects(*density_, place, f, random);
  }
  move_what_rows_cannot_tell(*density_, place, random);
  move_scales(*density_, place, random);
  move_residual_scale(*density_, place, random);
  info.acceptance = move_border(*density_, place, steps_, random);
  state.at.log_density = density_->log_density(place);
  info.queries = place.queries();
  info.evaluations = steps_ + 1;
  return info;
}

Info GroupMoveTuner::step(State& state, const Random& random) {
  constexpr double target = 0.8, most = 3.5;
  const Info info = GroupMove(*density_, static_cast<int>(std::lround(std::exp(log_steps_)))).step(state, random);
  count_ += 1.0;
  log_steps_ = std::clamp(log_steps_ + (target - info.acceptance) / std::pow(count_ + 4.0, 0.6), 0.0, most);
  late_.add(log_steps_);
  return info;
}

std::unique_ptr<const Kernel> GroupMoveTuner::freeze() const {
  return std::make_unique<GroupMove>(
      *density_, static_cast<int>(std::lround(std::exp(late_.empty() ? log_steps_ : late_.value()))));
}

void GroupMoveTuner::recall(std::span<const double> memory) {
  check_memory(memory, 4);
  log_steps_ = memory[0];
  count_ = memory[1];
  late_.recall(memory[2], memory[3]);
}

}  // namespace flymc
