// The joint density from the collapsed bound and the bright rows, and the posterior from all rows.
#include "flymc/bright/density.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <unordered_map>

#include "flymc/core/numerics.hpp"

namespace flymc {

namespace {

// Of one theta: the sum of the rows' log likelihoods, and its gradient where asked for.
struct LikelihoodSum {
  double value = 0.0;
  Matrix gradient;
  LikelihoodSum& operator+=(const LikelihoodSum& other) {
    value += other.value;
    gradient += other.gradient;
    return *this;
  }
  template <class F>
  void each_part(const F& f) {
    f(std::span<double>(&value, 1));
    f(std::span<double>(gradient.data(), static_cast<std::size_t>(gradient.size())));
  }
};

// A number that stands for a theta and its density.
std::uint64_t place_of(const Vector& theta, double log_density) {
  std::uint64_t out = std::bit_cast<std::uint64_t>(log_density);
  for (const double x : theta) out = (out ^ std::bit_cast<std::uint64_t>(x)) * 0x9e3779b97f4a7c15u;
  return out;
}

// Ranks compute the same chain, each for itself. Where one of them does not (another library of mathematics, or another
// checkpoint), their draws would be of no posterior.
[[noreturn]] void come_apart() {
  throw std::runtime_error(
      "the ranks of a chain have come apart; they need the same flymc on the same kind of processor, with the same C "
      "library");
}

}  // namespace

FullDensity::FullDensity(const Store& store, const Model& model, const Communicator& communicator)
    : store_(store), model_(model), communicator_(communicator) {
  model_.check(store, {one_, communicator_});
}

RowId FullDensity::evaluate(const Vector& theta, const BrightRows&, bool with_gradient, Evaluation& out) const {
  if (communicator_.size() > 1) {
    const std::uint64_t own = place_of(theta, 0.0);
    for (const std::uint64_t place : gather_all(communicator_, std::span<const std::uint64_t>(&own, 1)))
      if (place != own) come_apart();
  }
  const Index k = model_.predictors();
  const Matrix weights = by_predictor(theta, k);
  const LikelihoodSum zero{0.0, Matrix::Zero(with_gradient ? store_.features() : 0, k)};
  RowMatrix eta, slope;
  std::vector<double> value;
  const LikelihoodSum sum =
      Execution{one_, communicator_}.reduce(store_.blocks(), zero, [&](LikelihoodSum& part, std::size_t b) {
        const Block& block = store_.block(b);
        const auto n = static_cast<std::size_t>(block.rows());
        const auto entries = n * static_cast<std::size_t>(k);
        block.predict(weights, eta);
        value.resize(n);
        if (with_gradient) slope.resize(block.rows(), k);
        model_.family().likelihood(block.targets(), {eta.data(), entries}, value,
                                   with_gradient ? std::span<double>(slope.data(), entries) : std::span<double>(), {});
        for (const double v : value) part.value += v;
        if (with_gradient) block.add_weighted_rows(slope, part.gradient);
      });
  out.gradient = Eigen::Map<const Vector>(sum.gradient.data(), sum.gradient.size());
  out.log_density = sum.value + model_.prior().log_density(theta, with_gradient ? &out.gradient : nullptr);
  return store_.rows();
}

RowId JointDensity::evaluate(const Vector& theta, const BrightRows& z, bool with_gradient, Evaluation& out) const {
  const Prior& prior = bound_.model().prior();
  if (frame_) {
    out.b = frame_->position(theta);
    out.point = bound_.at_distance(theta - bound_.anchor(), frame_->rho(out.b));
    // The frame's matrices are of the prior, too, and good to its largest offsets, not to differences.
    out.base = prior.log_density(theta) +
               (bound_.model().family().only_differences()
                    ? bound_.log_sum(out.point)
                    : frame_->log_sum(out.b, out.point.from_anchor, out.point.rho, out.point.outside));
  } else {
    out.point = bound_.at(theta, with_gradient);
    out.base_gradient.setZero(with_gradient ? dimension() : 0);
    Vector* gradient = with_gradient ? &out.base_gradient : nullptr;
    out.base = prior.log_density(theta, gradient) + bound_.log_sum(out.point, gradient);
  }
  bound_.gaps(z.fixed, out.point, with_gradient, out.bright);
  add_up(z, with_gradient, out);
  return z.set.bright_count();
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
  Matrix rows = Matrix::Zero(dimension() / k, k);
  z.fixed.x.add_weighted(weight, rows);
  return Eigen::Map<const Vector>(rows.data(), rows.size());
}

Vector JointDensity::rest(const SplitFrame& frame, const Vector& b, const BoundPoint& point, const BrightRows& z,
                          const Gaps& gaps) const {
  const Prior& prior = bound_.model().prior();
  const bool bright = z.fixed.size() > 0;
  if (!bright && prior.quadratic()) return frame.rest(b, point.rho, point.outside, 0.0);
  double rho_slope = 0.0;
  Vector gradient = bright ? bright_gradient(z, gaps, rho_slope) : Vector(Vector::Zero(b.size()));
  if (!prior.quadratic()) gradient += frame.prior_rest(prior, point.from_anchor);
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
  bound_.gaps(z.fixed, point, true, gaps);
  gradient = rest(frame, b, point, z, gaps);
  return z.set.bright_count();
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
  take_last(bright.slope, static_cast<std::size_t>(bound_.model().predictors()));
  take_last(bright.rho_slope, 1);
}

void JointDensity::settle(State& state) const { add_up(state.z, state.at.gradient.size() > 0, state.at); }

namespace {

template <class T>
void put(std::vector<std::byte>& letter, std::span<const T> values) {
  const auto bytes = std::as_bytes(values);
  letter.insert(letter.end(), bytes.begin(), bytes.end());
}

// Takes values from the front of a letter.
template <class T>
void take(std::span<const std::byte>& letter, std::size_t count, std::vector<T>& out) {
  const std::size_t old = out.size();
  out.resize(old + count);
  if (count > 0) std::memcpy(out.data() + old, letter.data(), count * sizeof(T));
  letter = letter.subspan(count * sizeof(T));
}

// How many rows a letter tells of, how many queries they took, and where the chain is that they belong to.
struct Head {
  RowId bright = 0, dark = 0, queries = 0;
  std::uint64_t place = 0;
};

// What rows are, as they go from the rank that has them to the others.
void put_rows(std::vector<std::byte>& letter, const BoundRows& rows) {
  put(letter, std::span<const RowId>(rows.row));
  put(letter, std::span<const double>(rows.y));
  if (rows.size() > 0)
    put(letter, std::span<const double>(rows.x.row(0), rows.size() * static_cast<std::size_t>(rows.x.features())));
}

// And back: rows, with their features in `x`, behind those of the letters before.
void take_rows(std::span<const std::byte>& letter, std::size_t count, Index features, BoundRows& rows,
               std::vector<double>& x) {
  take(letter, count, rows.row);
  take(letter, count, rows.y);
  take(letter, count * static_cast<std::size_t>(features), x);
}

}  // namespace

RowId JointDensity::flip(State& state, const Flips& flips) const {
  if (communicator_.size() == 1) {
    for (std::size_t i = 0; i < flips.bright.size(); ++i) brighten(state, flips.bright, flips.gaps, i);
    for (const RowId row : flips.dark) darken(state, row);
    settle(state);
    return flips.queries;
  }
  std::vector<std::byte> letter;
  const Head own{static_cast<RowId>(flips.bright.size()), static_cast<RowId>(flips.dark.size()), flips.queries,
                 place_of(state.theta, state.at.log_density)};
  put(letter, std::span<const Head>(&own, 1));
  put(letter, std::span<const RowId>(flips.dark));
  put_rows(letter, flips.bright);

  // Ranks have their rows in the order of the ranks, so what comes one after the other is in the order of the rows.
  RowId queries = 0;
  BoundRows bright;
  std::vector<double> x;
  std::vector<RowId> dark;
  for (const std::vector<std::byte>& from : communicator_.gather(letter)) {
    std::span<const std::byte> rest(from);
    std::vector<Head> head;
    take(rest, 1, head);
    if (head[0].place != own.place) come_apart();
    queries += head[0].queries;
    take(rest, static_cast<std::size_t>(head[0].dark), dark);
    take_rows(rest, static_cast<std::size_t>(head[0].bright), store_.features(), bright, x);
  }
  if (bright.size() > 0) {
    bright.x.assign(store_.features(), x);
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
  if (communicator_.size() == 1) return bound_.prepare(store_, rows, out);
  std::vector<RowId> mine;
  for (const RowId row : rows)
    if (owns(row)) mine.push_back(row);
  BoundRows own, all;
  own.fetch(store_, mine);
  std::vector<std::byte> letter;
  put_rows(letter, own);
  const std::size_t features = static_cast<std::size_t>(store_.features());
  std::vector<double> x;
  for (const std::vector<std::byte>& from : communicator_.gather(letter)) {
    std::span<const std::byte> rest(from);
    take_rows(rest, from.size() / (sizeof(RowId) + (1 + features) * sizeof(double)), store_.features(), all, x);
  }
  // From the order of the ranks to that of the caller.
  std::unordered_map<RowId, std::size_t> place;
  for (std::size_t i = 0; i < all.size(); ++i) place[all.row[i]] = i;
  out.row.assign(rows.begin(), rows.end());
  out.y.clear();
  std::vector<double> ordered;
  for (const RowId row : rows) {
    const std::size_t i = place.at(row);
    out.y.push_back(all.y[i]);
    ordered.insert(ordered.end(), x.begin() + static_cast<std::ptrdiff_t>(i * features),
                   x.begin() + static_cast<std::ptrdiff_t>((i + 1) * features));
  }
  out.x.assign(store_.features(), ordered);
  bound_.complete(out);
}

}  // namespace flymc
