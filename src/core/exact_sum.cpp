// Limbs of 32 bits in 64.
#include "flymc/core/exact_sum.hpp"

#include <algorithm>
#include <limits>

namespace flymc {
namespace {

constexpr std::uint64_t low_half = 0xffffffffu;

__extension__ using Int128 = __int128;

}  // namespace

// Adds many numbers with two integer additions each. Numbers of the same sign and exponent share a bin: one of its sums
// has the lower 32 bits of the fractions, the other the upper 20 bits plus 2^40 for each number.
class ExactSum::Bins {
 public:
  static constexpr std::size_t most = std::size_t{1} << 20;  // numbers; a sum of their upper bits stays below 2^40

  void add(double x) {
    const auto bits = std::bit_cast<std::uint64_t>(x);
    Bin& bin = bins_[bits >> 52];
    bin.lower += bits & low_half;
    bin.upper += (bits >> 32 & 0xfffffu) + (std::uint64_t{1} << 40);
  }

  // Adds the finite numbers to `limb`. Returns false if any number was not finite.
  bool add_to(std::array<std::int64_t, limbs>& limb) const {
    bool finite = true;
    for (std::size_t i = 0; i < bins_.size(); ++i) {
      const std::uint64_t count = bins_[i].upper >> 40, exponent = i & 0x7ffu;
      if (count == 0) continue;
      if (exponent == 0x7ffu) {
        finite = false;
        continue;
      }
      const std::uint64_t at = exponent == 0 ? 0 : exponent - 1;  // a number is mantissa 2^(at - 1074)
      Int128 sum = static_cast<Int128>(bins_[i].upper & ((std::uint64_t{1} << 40) - 1)) << 32;
      sum += bins_[i].lower;
      if (exponent > 0) sum += static_cast<Int128>(count) << 52;
      sum <<= at & 31u;  // less than 2^(53 + 20 + 31)
      if (i > 0x7ffu) sum = -sum;
      std::size_t j = at >> 5;
      for (const std::size_t end = j + 3; j < end; ++j, sum >>= 32)
        limb[j] += static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) & low_half);
      limb[j] += static_cast<std::int64_t>(sum);
    }
    return finite;
  }

 private:
  struct Bin {
    std::uint64_t lower = 0, upper = 0;
  };
  std::array<Bin, 4096> bins_{};
};

// A limb gets at most 4 x 4096 parts of less than 2^32.
template <class Add>
void ExactSum::add_by_bins(std::span<const double> all, const Add& add) {
  constexpr std::size_t few = 2048;             // below this, clearing the bins takes longer than they save
  constexpr std::size_t most = Bins::most / 2;  // a product adds two numbers
  if (all.size() < few)
    for (const double x : all) add(*this, x);
  else
    for (std::size_t first = 0; first < all.size(); first += most) {
      Bins bins;
      for (const double x : all.subspan(first, std::min(most, all.size() - first))) add(bins, x);
      carry();
      finite_ = bins.add_to(limb_) && finite_;
      added_ = 4 * 4096;
    }
}

void ExactSum::add_all(std::span<const double> all) {
  add_by_bins(all, [](auto& sum, double x) { sum.add(x); });
}

void ExactSum::add_squares(std::span<const double> all) {
  add_by_bins(all, [](auto& sum, double x) {
    const double square = x * x;
    sum.add(square);
    sum.add(std::fma(x, x, -square));
  });
}

// Brings every limb but the last to 0 ... 2^32 - 1, which makes the representation of a sum unique.
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
  int left = 4;  // limbs from the first that is not zero: together more digits than a double holds
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
