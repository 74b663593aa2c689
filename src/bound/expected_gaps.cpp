// A logarithmic scale of 256 levels.
#include "flymc/bound/expected_gaps.hpp"

#include <algorithm>
#include <cmath>

namespace flymc {
namespace {

constexpr int top = 251;  // the level of 1

}  // namespace

double ExpectedGaps::value(std::uint8_t level) {
  return level == 0 ? 0.0 : std::exp2(0.25 * (static_cast<int>(level) - top));
}

std::uint8_t ExpectedGaps::level_of(double gap) {
  if (!(gap > 0.0)) return 1;
  const double level = std::ceil(4.0 * std::log2(gap)) + top;
  return static_cast<std::uint8_t>(std::clamp(level, 1.0, 255.0));
}

}  // namespace flymc
