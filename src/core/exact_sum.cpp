// Limbs of 32 bits in 64.
#include "flymc/core/exact_sum.hpp"

#include <algorithm>
#include <limits>

namespace flymc {
namespace {

constexpr std::uint64_t low_half = 0xffffffffu;
constexpr std::uint64_t leading_bit = std::uint64_t{1} << 52;  // of a mantissa, above its fraction

__extension__ using Int128 = __int128;
__extension__ using Uint128 = unsigned __int128;

// Whether x^2 is exactly a double and what that leaves: from 2^-485 up to 2^512.
bool has_exact_square(std::uint64_t exponent) { return exponent - 538u <= 1534u - 538u; }

// Adds mantissa 2^(at - 1074), where the mantissa is less than 2^73.
void add_at(std::uint64_t at, Int128 mantissa, std::array<std::int64_t, ExactSum::limbs>& limb) {
  mantissa <<= at & 31u;
  std::size_t j = at >> 5;
  for (const std::size_t end = j + 3; j < end; ++j, mantissa >>= 32)
    limb[j] += static_cast<std::int64_t>(static_cast<std::uint64_t>(mantissa) & low_half);
  limb[j] += static_cast<std::int64_t>(mantissa);
}

}  // namespace

// Adds many numbers with two integer additions each. Numbers of the same sign and exponent share a bin: one of its sums
// has the lower 32 bits of the fractions, the other the upper 20 bits plus 2^40 for each number.
class ExactSum::Bins {
 public:
  static constexpr std::size_t most = std::size_t{1} << 20;  // numbers; a sum of their upper bits stays below 2^40

  void add(double x) {
    const auto bits = std::bit_cast<std::uint64_t>(x);
    const std::uint64_t mantissa = (bits & (leading_bit - 1)) | leading_bit;
    Bin& bin = bins_[bits >> 52];
    bin.lower += mantissa & low_half;
    bin.upper += mantissa >> 32;
    bin.squares += static_cast<Uint128>(mantissa) * mantissa;
  }

  // Adds numbers whose squares are exact; false if there were others.
  bool add_to(ExactSum& sum, ExactSum& squares) const {
    bool all = true;
    for (std::size_t i = 0; i < bins_.size(); ++i) {
      const Bin& bin = bins_[i];
      if (bin.upper == 0) continue;
      const std::uint64_t exponent = i & 0x7ffu;
      if (!has_exact_square(exponent)) {
        all = false;
        continue;
      }
      const std::uint64_t at = exponent - 1;          // a number is mantissa 2^(at - 1074), and its square has
      const std::uint64_t at_square = 2 * at - 1074;  // twice that exponent, -1074 + at_square
      const Int128 mantissas = (static_cast<Int128>(bin.upper) << 32) + bin.lower;
      add_at(at, i > 0x7ffu ? -mantissas : mantissas, sum.limb_);
      add_at(at_square, static_cast<std::uint64_t>(bin.squares), squares.limb_);
      add_at(at_square + 64, static_cast<std::uint64_t>(bin.squares >> 64), squares.limb_);
    }
    return all;
  }

 private:
  struct Bin {
    std::uint64_t lower = 0, upper = 0;
    Uint128 squares = 0;
  };
  std::array<Bin, 4096> bins_{};
};

void ExactSum::add_moments(std::span<const double> all, ExactSum& sum, ExactSum& squares) {
  constexpr std::size_t few = 2048;  // for which bins would take longer to clear than they save
  const auto add = [&](double x) {
    sum.add(x);
    squares.add_product(x, x);
  };
  if (all.size() < few)
    for (const double x : all) add(x);
  for (std::size_t first = 0; all.size() >= few && first < all.size(); first += Bins::most) {
    const auto part = all.subspan(first, std::min(Bins::most, all.size() - first));
    Bins bins;
    for (const double x : part) bins.add(x);
    sum.carry();
    squares.carry();
    const bool complete = bins.add_to(sum, squares);
    sum.added_ = squares.added_ = 4 * 4096;  // a limb gets at most so many parts of less than 2^32
    if (complete) continue;
    for (const double x : part)
      if ((x != 0.0) & !has_exact_square(std::bit_cast<std::uint64_t>(x) >> 52 & 0x7ffu)) add(x);
  }
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
