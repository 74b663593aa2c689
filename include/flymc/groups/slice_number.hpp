// A slice update of one number, and the random addresses of updates that are made for many groups.
#pragma once

#include <cmath>
#include <cstdint>

#include "flymc/core/random.hpp"

namespace flymc {

// An address within one purpose: which of a step's updates (a factor or a parameter), for which group, and which try.
constexpr std::uint64_t address(std::uint64_t update, std::uint64_t group, std::uint64_t attempt = 0) {
  return (update << 56) | (group << 16) | attempt;
}

// The address of update number j of several, given that of the first.
constexpr std::uint64_t numbered(std::uint64_t first, std::size_t j) { return first + (std::uint64_t{j} << 40); }

// Draws x from the density exp(log_density) by slice sampling: steps of `width` out, then shrinkage (Neal 2003, figures 3
// and 5). `x` has a finite log density. A point outside the support has the log density -inf. `own` is an address whose
// attempt is 0. The width must not depend on x.
template <class LogDensity>
double slice_number(double x, double width, const LogDensity& log_density, const Random& random, std::uint64_t own) {
  constexpr std::uint64_t most_steps = 64;
  const double level = log_density(x) + std::log(random.uniform(Purpose::slice_height, own));
  double left = x - width * random.uniform(Purpose::slice_place, own), right = left + width;
  std::uint64_t steps_left = random.choose(Purpose::slice_limit, own, most_steps);
  std::uint64_t steps_right = most_steps - 1 - steps_left;
  while (steps_left-- > 0 && log_density(left) >= level) left -= width;
  while (steps_right-- > 0 && log_density(right) >= level) right += width;
  for (std::uint64_t attempt = 0;; ++attempt) {
    const double there = left + (right - left) * random.uniform(Purpose::slice_shrink, own | attempt);
    if (log_density(there) >= level || there == x) return there;
    (there < x ? left : right) = there;
  }
}

}  // namespace flymc
