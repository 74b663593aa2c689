// The univariate slice update on a line through theta, and the two ways to choose lines.
#include "flymc/kernel/slice.hpp"

#include <fmt/format.h>

#include <cmath>

#include "flymc/core/error.hpp"
#include "flymc/core/numerics.hpp"

namespace flymc {
namespace {

constexpr std::uint64_t most_steps_out = 64;

// log cosh a, up to a constant.
double log_cosh(double a) { return log1p_exp(2.0 * a) - a; }

// Draws a point of a curve through theta, by Neal's figures 3 (stepping out) and 5 (shrinkage). `at(t)` is a point of
// the curve, and at(0) is theta. log_jacobian(t) is added to the log density, which makes it a density of t. `line`
// distinguishes the updates of one step in the random addresses. Returns the t of the new point.
template <class At, class LogJacobian>
double update_curve(const Density& density, State& state, const At& at, const LogJacobian& log_jacobian, double width,
                    const Random& random, std::uint64_t line, Info& info) {
  const double level = state.at.log_density + log_jacobian(0.0) + std::log(random.uniform(Purpose::slice_height, line));
  const auto inside = [&](double t) {
    info.queries += density.evaluate(at(t), state.z, false, state.proposed);
    ++info.evaluations;
    if (!std::isfinite(state.proposed.log_density)) {
      ++info.not_finite;
      return false;
    }
    // >= instead of >: if the height is so near 1 that the level rounds to the density at theta, theta must be inside.
    return state.proposed.log_density + log_jacobian(t) >= level;
  };

  double left = -width * random.uniform(Purpose::slice_place, line);
  double right = left + width;
  // At most `most_steps_out` widths in total, split between both sides at random: the interval must be equally likely
  // from every point of the slice inside it.
  std::uint64_t steps_left = random.choose(Purpose::slice_limit, line, most_steps_out);
  std::uint64_t steps_right = most_steps_out - 1 - steps_left;
  while (steps_left-- > 0 && inside(left)) left -= width;
  while (steps_right-- > 0 && inside(right)) right += width;

  for (std::uint64_t tries = 0;; ++tries) {
    const double t = left + (right - left) * random.uniform(Purpose::slice_shrink, (line << 32) | tries);
    // Ends at the latest when at(t) rounds to theta, which is inside.
    if (inside(t)) {
      state.theta = at(t);
      std::swap(state.at, state.proposed);
      return t;
    }
    (t < 0.0 ? left : right) = t;
  }
}

// The same on the line theta + t direction.
double update_line(const Density& density, State& state, const Vector& direction, double width, const Random& random,
                   std::uint64_t line, Info& info) {
  const Vector origin = state.theta;
  return update_curve(
      density, state, [&](double t) { return Vector(origin + t * direction); }, [](double) { return 0.0; }, width,
      random, line, info);
}

void check_width(double width) {
  if (!(width > 0.0) || !std::isfinite(width))
    throw InputError(fmt::format("a slice width must be positive and finite, not {}", width));
}

}  // namespace

SliceCoordinates::SliceCoordinates(const Density& density, Vector widths)
    : density_(&density), widths_(std::move(widths)) {
  if (widths_.size() != density.dimension())
    throw InputError(fmt::format("{} slice widths for {} coordinates", widths_.size(), density.dimension()));
  for (const double width : widths_) check_width(width);
}

SliceDirection::SliceDirection(const Density& density, std::shared_ptr<const Precision> metric, double width)
    : density_(&density), metric_(std::move(metric)), width_(width) {
  check_metric(density, *metric_);
  check_width(width);
}

SliceSome::SliceSome(const Density& density, std::vector<Coordinate> coordinates)
    : density_(&density), coordinates_(std::move(coordinates)) {
  if (coordinates_.empty()) throw InputError("there are no coordinates to update");
  for (const Coordinate& coordinate : coordinates_) {
    check_width(coordinate.scale);
    check_width(coordinate.width);
    if (coordinate.entry < 0 || coordinate.entry >= density.dimension())
      throw InputError(fmt::format("coordinate {} is none of {}", coordinate.entry, density.dimension()));
  }
}

Info SliceSome::step(State& state, const Random& random) const {
  Info info;
  const auto& [entry, location, scale, width] = coordinates_[random.choose(Purpose::move, 0, coordinates_.size())];
  const double here = std::asinh((state.theta[entry] - location) / scale);
  Vector point = state.theta;
  const auto at = [&, j = entry, centre = location, size = scale](double t) -> const Vector& {
    point[j] = centre + size * std::sinh(here + t);
    return point;
  };
  const auto log_jacobian = [&](double t) { return log_cosh(here + t); };
  info.moved = std::abs(update_curve(*density_, state, at, log_jacobian, width, random, 0, info));
  return info;
}

Info SliceCoordinates::step(State& state, const Random& random) const {
  Vector moved;
  return step(state, random, moved);
}

Info SliceCoordinates::step(State& state, const Random& random, Vector& moved) const {
  Info info;
  moved.resize(state.theta.size());
  for (Index j = 0; j < state.theta.size(); ++j)
    moved[j] = std::abs(update_line(*density_, state, Vector::Unit(state.theta.size(), j), widths_[j], random,
                                    static_cast<std::uint64_t>(j), info));
  return info;
}

Info SliceDirection::step(State& state, const Random& random) const {
  Info info;
  Vector u(state.theta.size());
  random.normals(Purpose::move, 0, {u.data(), static_cast<std::size_t>(u.size())});
  info.moved = std::abs(update_line(*density_, state, metric_->unwhiten(u.normalized()), width_, random, 0, info));
  return info;
}

SliceCoordinatesTuner::SliceCoordinatesTuner(const Density& density, Vector first_widths)
    : density_(&density),
      first_widths_(std::move(first_widths)),
      moved_(static_cast<std::size_t>(first_widths_.size())) {}

Vector SliceCoordinatesTuner::widths() const {
  Vector out = first_widths_;
  for (std::size_t j = 0; j < moved_.size(); ++j)
    if (moved_[j].value() > 0.0) out[static_cast<Index>(j)] = 3.0 * moved_[j].value();
  return out;
}

Info SliceCoordinatesTuner::step(State& state, const Random& random) {
  Vector moved;
  const Info info = SliceCoordinates(*density_, widths()).step(state, random, moved);
  for (std::size_t j = 0; j < moved_.size(); ++j) moved_[j].add(moved[static_cast<Index>(j)]);
  return info;
}

std::unique_ptr<const Kernel> SliceCoordinatesTuner::freeze() const {
  return std::make_unique<SliceCoordinates>(*density_, widths());
}

std::vector<double> SliceCoordinatesTuner::memory() const {
  std::vector<double> out;
  for (const LateMean& mean : moved_) {
    out.push_back(mean.count());
    out.push_back(mean.value());
  }
  return out;
}

void SliceCoordinatesTuner::recall(std::span<const double> memory) {
  check_memory(memory, 2 * moved_.size());
  for (std::size_t j = 0; j < moved_.size(); ++j) moved_[j].recall(memory[2 * j], memory[2 * j + 1]);
}

double SliceDirectionTuner::width() const { return moved_.value() > 0.0 ? 3.0 * moved_.value() : first_width_; }

Info SliceDirectionTuner::step(State& state, const Random& random) {
  const Info info = SliceDirection(*density_, metric_, width()).step(state, random);
  moved_.add(info.moved);
  return info;
}

std::unique_ptr<const Kernel> SliceDirectionTuner::freeze() const {
  return std::make_unique<SliceDirection>(*density_, metric_, width());
}

std::vector<double> SliceDirectionTuner::memory() const { return {moved_.count(), moved_.value()}; }

void SliceDirectionTuner::recall(std::span<const double> memory) {
  check_memory(memory, 2);
  moved_.recall(memory[0], memory[1]);
}

}  // namespace flymc
