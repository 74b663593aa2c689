// Whether many numbers are finite and of moderate size.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

namespace flymc {

// Whether no number is NaN or larger than `limit`, which is not negative. As integers, magnitudes have the order of the
// numbers, and NaN comes after infinity: so a difference has the sign bit exactly where a number is beyond.
inline bool all_within(std::span<const double> values, double limit) {
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  const auto most = std::bit_cast<std::uint64_t>(limit);
  std::uint64_t differences = 0;
  for (const double value : values) differences |= most - (std::bit_cast<std::uint64_t>(value) & ~sign);
  return (differences & sign) == 0;
}

}  // namespace flymc
