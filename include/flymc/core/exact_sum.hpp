// A sum of doubles without rounding, so that its value does not depend on order or grouping.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

namespace flymc {

// A fixed-point number wide enough for every double: limb i counts units of 2^(32 i - 1074). A limb has room for 2^30
// additions before what is above 32 bits must be carried on.
class ExactSum {
 public:
  void add(double x);
  // Of x y, as its rounded value and what that leaves. Both are exact unless the product leaves the range of double.
  void add_product(double x, double y) {
    const double product = x * y;
    add(product);
    add(std::fma(x, y, -product));
  }
  ExactSum& operator+=(const ExactSum& other);
  // To within an ulp, and the same for the same sum. Not a number once anything that was added was not finite.
  double value() const;

  // All there is to it, for sending.
  static constexpr std::size_t limbs = 70;
  const std::array<std::int64_t, limbs>& parts();
  static ExactSum of_parts(const std::array<std::int64_t, limbs>& parts, bool finite);
  bool finite() const { return finite_; }

 private:
  void carry();
  std::array<std::int64_t, limbs> limb_{};
  std::uint32_t added_ = 0;  // since the last carry
  bool finite_ = true;
};

}  // namespace flymc
