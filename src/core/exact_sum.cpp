// Limbs of 32 bits in 64.
#include "flymc/core/exact_sum.hpp"

#include <limits>

namespace flymc {
namespace {

constexpr std::uint64_t low_half = 0xffffffffu;

}  // namespace

// Every limb but the last to 0 ... 2^32 - 1: the one way to write the sum.
void ExactSum::carry() {
  for (std::size_t i = 0; i + 1 < limbs; ++i) {
    const std::int64_t rest = limb_[i] & static_cast<std::int64_t>(low_half);
    limb_[i + 1] += (limb_[i] - rest) / (std::int64_t{1} << 32);
    limb_[i] = rest;
  }
  added_ = 0;
}

ExactSum& ExactSum::operator+=(const ExactSum& other) {
  carry();
  ExactSum more = other;
  more.carry();
  for (std::size_t i = 0; i < limbs; ++i) limb_[i] += more.limb_[i];
  added_ = 2;
  finite_ = finite_ && other.finite_;
  return *this;
}

double ExactSum::value() const {
  if (!finite_) return std::numeric_limits<double>::quiet_NaN();
  ExactSum sum = *this;
  sum.carry();
  const bool negative = sum.limb_.back() < 0;
  if (negative) {
    for (std::int64_t& limb : sum.limb_) limb = -limb;
    sum.carry();
  }
  double out = 0.0;
  int left = 4;  // limbs from the first that is not zero: more than a double holds
  for (std::size_t i = limbs; i-- > 0 && left > 0;)
    if (sum.limb_[i] != 0 || left < 4) {
      out += std::ldexp(static_cast<double>(sum.limb_[i]), 32 * static_cast<int>(i) - 1074);
      --left;
    }
  return negative ? -out : out;
}

const std::array<std::int64_t, ExactSum::limbs>& ExactSum::parts() {
  carry();
  return limb_;
}

ExactSum ExactSum::of_parts(const std::array<std::int64_t, limbs>& parts, bool finite) {
  ExactSum out;
  out.limb_ = parts;
  out.finite_ = finite;
  return out;
}

}  // namespace flymc
