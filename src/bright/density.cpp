// The joint density from the collapsed bound and the bright rows, and the posterior from all rows.
#include "flymc/bright/density.hpp"

#include <cmath>
#include <limits>

#include "flymc/core/numerics.hpp"

namespace flymc {

FullDensity::FullDensity(const Store& store, const Model& model) : store_(store), model_(model) { model_.check(store); }

RowId FullDensity::evaluate(const Vector& theta, const BrightRows&, bool with_gradient, Evaluation& out) const {
  const Index k = model_.predictors();
  const Matrix weights = by_predictor(theta, k);
  Matrix gradient = Matrix::Zero(with_gradient ? store_.features() : 0, k);
  RowMatrix eta, slope;
  std::vector<double> value;
  // Block after block: chains already share out the cores.
  double sum = 0.0;
  for (std::size_t b = 0; b < store_.blocks(); ++b) {
    const Block& block = store_.block(b);
    const auto n = static_cast<std::size_t>(block.rows());
    const auto entries = n * static_cast<std::size_t>(k);
    block.predict(weights, eta);
    value.resize(n);
    if (with_gradient) slope.resize(block.rows(), k);
    model_.family().likelihood(block.targets(), {eta.data(), entries}, value,
                               with_gradient ? std::span<double>(slope.data(), entries) : std::span<double>(), {});
    double part = 0.0;
    for (const double v : value) part += v;
    sum += part;
    if (with_gradient) block.add_weighted_rows(slope, gradient);
  }
  out.gradient = Eigen::Map<const Vector>(gradient.data(), gradient.size());
  out.log_density = sum + model_.prior().log_density(theta, with_gradient ? &out.gradient : nullptr);
  return store_.rows();
}

RowId JointDensity::evaluate(const Vector& theta, const BrightRows& z, bool with_gradient, Evaluation& out) const {
  const Prior& prior = bound_.model().prior();
  if (frame_) {
    out.b = frame_->position(theta);
    const Vector offset = theta - bound_.anchor();
    out.point = bound_.at_distance(offset, frame_->rho(out.b));
    out.base = prior.log_density(theta) + frame_->log_sum(out.b, offset, out.point.rho, out.point.outside);
  } else {
    out.point = bound_.at(theta, with_gradient);
    out.base_gradient.setZero(with_gradient ? dimension() : 0);
    Vector* gradient = with_gradient ? &out.base_gradient : nullptr;
    out.base = prior.log_density(theta, gradient) + bound_.log_sum(out.point, gradient);
  }
  bound_.gaps(store_, z.fixed, out.point, with_gradient, out.bright);
  add_up(z, with_gradient, out);
  return z.set.bright_count();
}

// base + sum of log expm1(gap) over the bright rows, in their order. The same sum, bit for bit, whether the rows' terms
// are new or kept, so a chain that resumes from theta and z (in its order) goes on as if it had never stopped.
void JointDensity::add_up(const BrightRows& z, bool with_gradient, Evaluation& at) const {
  double sum = 0.0, gaps = 0.0;
  for (const double gap : at.bright.gap) {
    sum += log_expm1(gap);
    gaps += gap;
  }
  at.log_density = at.base + sum;
  // Far from the anchor the bound falls away quadratically and the gaps of the bright rows give back what it lost.
  // Where so little is left of so much that rounding could sway a decision, the density cannot be computed, and says
  // so.
  constexpr double worst_rounding = 1e-5;
  if (!(std::numeric_limits<double>::epsilon() * (std::abs(at.base) + gaps) < worst_rounding))
    at.log_density = std::numeric_limits<double>::quiet_NaN();
  if (!with_gradient) {
    at.gradient.resize(0);
    return;
  }
  if (frame_) {
    at.gradient = rest(*frame_, at.b, at.point, z, at.bright);
    return;
  }
  double rho_slope = 0.0;
  at.gradient = at.base_gradient + bright_gradient(z, at.bright, rho_slope);
  if (at.point.rho_gradient.size() > 0) at.gradient += rho_slope * at.point.rho_gradient;
}

// The sum of log_expm1'(gap) times the gap's slope in theta, and likewise in rho.
Vector JointDensity::bright_gradient(const BrightRows& z, const Gaps& gaps, double& rho_slope) const {
  const Index k = bound_.model().predictors();
  std::vector<double> weight(gaps.slope.size());
  for (std::size_t i = 0; i < gaps.gap.size(); ++i) {
    const double outer = log_expm1_slope(gaps.gap[i]);
    for (std::size_t j = 0; j < static_cast<std::size_t>(k); ++j) {
      const std::size_t e = i * static_cast<std::size_t>(k) + j;
      weight[e] = outer * gaps.slope[e];
    }
    if (!gaps.rho_slope.empty()) rho_slope += outer * gaps.rho_slope[i];
  }
  Matrix rows = Matrix::Zero(store_.features(), k);
  store_.add_weighted_rows(z.fixed.row, weight, rows);
  return Eigen::Map<const Vector>(rows.data(), rows.size());
}

Vector JointDensity::rest(const SplitFrame& frame, const Vector& b, const BoundPoint& point, const BrightRows& z,
                          const Gaps& gaps) const {
  const Prior& prior = bound_.model().prior();
  const bool bright = z.fixed.size() > 0;
  if (!bright && prior.quadratic()) return frame.rest(b, point.rho, point.outside, 0.0);
  double rho_slope = 0.0;
  Vector gradient = bright ? bright_gradient(z, gaps, rho_slope) : Vector(Vector::Zero(b.size()));
  if (!prior.quadratic())
    gradient += frame.prior_rest(prior, Eigen::Map<const Vector>(point.offset.data(), point.offset.size()));
  return frame.rest(b, point.rho, point.outside, rho_slope) + frame.pull(gradient);
}

// Where nothing but the collapsed bound is left, rho need not be exact: O(D).
RowId JointDensity::kick(const SplitFrame& frame, const Vector& b, const BrightRows& z, Vector& gradient) const {
  if (z.fixed.size() == 0 && bound_.model().prior().quadratic()) {
    const double rho = frame.rho_about(b);
    gradient = frame.rest(b, rho, rho > bound_.rule().radius(), 0.0);
    return 0;
  }
  // Another bound's frame does not know this one's distance.
  const BoundPoint point =
      &frame == frame_.get() ? bound_.at_distance(frame.offset(b), frame.rho(b)) : bound_.at(frame.theta(b), false);
  Gaps gaps;
  bound_.gaps(store_, z.fixed, point, true, gaps);
  gradient = rest(frame, b, point, z, gaps);
  return z.set.bright_count();
}

RowId JointDensity::look(const State& state, std::span<const RowId> rows, BoundRows& fixed, Gaps& gaps) const {
  bound_.prepare(store_, rows, fixed);
  const bool with_slopes = state.at.gradient.size() > 0;
  bound_.gaps(store_, fixed, state.at.point, with_slopes, gaps);
  return static_cast<RowId>(rows.size());
}

void JointDensity::brighten(State& state, const BoundRows& fixed, const Gaps& gaps, std::size_t i) const {
  state.z.set.brighten(fixed.row[i]);
  state.z.fixed.append(fixed, i);
  Gaps& bright = state.at.bright;
  bright.gap.push_back(gaps.gap[i]);
  if (!gaps.slope.empty()) {
    const auto k = static_cast<std::ptrdiff_t>(bound_.model().predictors());
    const auto first = gaps.slope.begin() + static_cast<std::ptrdiff_t>(i) * k;
    bright.slope.insert(bright.slope.end(), first, first + k);
  }
  if (!gaps.rho_slope.empty()) bright.rho_slope.push_back(gaps.rho_slope[i]);
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
  take_last(bright.slope, static_cast<std::size_t>(bound_.model().predictors()));
  take_last(bright.rho_slope, 1);
}

void JointDensity::settle(State& state) const { add_up(state.z, state.at.gradient.size() > 0, state.at); }

}  // namespace flymc
