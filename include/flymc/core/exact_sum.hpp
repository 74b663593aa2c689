// A sum of doubles without rounding, so that its value does not depend on order or grouping.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>

namespace flymc {

// A fixed-point number wide enough for every double: limb i counts units of 2^(32 i - 1074). A limb has room for 2^30
// additions before its bits above the 32nd must be carried to the next.
class ExactSum {
 public:
  void add(double x);
  // Adds x y as its rounded value and the rounding error. Both are exact unless the product leaves the range of double.
  void add_product(double x, double y) {
    const double product = x * y;
    add(product);
    add(std::fma(x, y, -product));
  }
  // Adds many numbers to `sum` and their squares to `squares`, faster than add(x) and add_product(x, x).
  static void add_moments(std::span<const double> all, ExactSum& sum, ExactSum& squares);
  ExactSum& operator+=(const ExactSum& other);
  // The sum to within an ulp; equal sums give equal bits. NaN if any number that was added is not finite.
  double value() const;

  // The whole state, for sending to another rank.
  static constexpr std::size_t limbs = 70;
  const std::array<std::int64_t, limbs>& parts();
  static ExactSum of_parts(const std::array<std::int64_t, limbs>& parts, bool finite);
  bool finite() const { return finite_; }

 private:
  class Bins;
  void carry();
  std::array<std::int64_t, limbs> limb_{};
  std::uint32_t added_ = 0;  // since the last carry
  bool finite_ = true;
};

inline void ExactSum::add(double x) {
  constexpr std::uint64_t low_half = 0xffffffffu;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t exponent = bits >> 52 & 0x7ffu;
  if (exponent == 0x7ffu) {
    finite_ = false;
    return;
  }
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
  const std::uint64_t mantissa = exponent == 0 ? fraction : fraction | std::uint64_t{1} << 52;
  const std::uint64_t at = exponent == 0 ? 0 : exponent - 1;  // x = mantissa 2^(at - 1074)
  const std::uint64_t shift = at & 31u;
  const std::uint64_t low = (mantissa & low_half) << shift, high = (mantissa >> 32) << shift;
  const std::int64_t sign = bits >> 63 ? -1 : 1;
  std::int64_t* limb = limb_.data() + (at >> 5);
  limb[0] += sign * static_cast<std::int64_t>(low & low_half);
  limb[1] += sign * static_cast<std::int64_t>((low >> 32) + (high & low_half));
  limb[2] += sign * static_cast<std::int64_t>(high >> 32);
  if (++added_ == 1u << 29) carry();
}

}  // namespace flymc
