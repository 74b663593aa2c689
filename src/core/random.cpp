// Addressed random numbers on Random123's Philox.
#include "flymc/core/random.hpp"

#include <Random123/philox.h>

#include <array>
#include <cmath>
#include <numbers>

namespace flymc {
namespace {

// (0, 1): the midpoints of 2^52 cells, so neither end is reached. (With 2^53 cells the last midpoint would round to 1.)
double to_unit(std::uint64_t bits) { return (static_cast<double>(bits >> 12) + 0.5) * 0x1.0p-52; }

}  // namespace

// The `draw`-th group of four words at an address.
static std::array<std::uint64_t, 4> words(std::uint64_t seed, std::uint64_t chain, std::uint64_t iteration,
                                          std::uint32_t slot, Purpose purpose, std::uint64_t index,
                                          std::uint64_t draw) {
  const std::uint64_t what = (static_cast<std::uint64_t>(slot) << 32) | static_cast<std::uint32_t>(purpose);
  const r123::Philox4x64::ctr_type counter = {{draw, index, iteration, what}};
  const r123::Philox4x64::key_type key = {{seed, chain}};
  const auto out = r123::Philox4x64()(counter, key);
  return {out[0], out[1], out[2], out[3]};
}

double PhiloxRandom::uniform(Purpose purpose, std::uint64_t index) const {
  return to_unit(words(seed_, chain_, iteration_, slot_, purpose, index, 0)[0]);
}

std::array<double, 4> PhiloxRandom::uniforms(Purpose purpose, std::uint64_t index) const {
  const auto bits = words(seed_, chain_, iteration_, slot_, purpose, index, 0);
  return {to_unit(bits[0]), to_unit(bits[1]), to_unit(bits[2]), to_unit(bits[3])};
}

bool PhiloxRandom::bernoulli(Purpose purpose, std::uint64_t index, double p) const {
  return uniform(purpose, index) < p;
}

std::uint64_t PhiloxRandom::choose(Purpose purpose, std::uint64_t index, std::uint64_t n) const {
  // Lemire's multiply and shift: the high word of bits * n, redrawn where the low word falls into the biased part.
  __extension__ using Wide = unsigned __int128;
  const std::uint64_t biased = (0 - n) % n;
  for (std::uint64_t draw = 0;; ++draw)
    for (const std::uint64_t bits : words(seed_, chain_, iteration_, slot_, purpose, index, draw)) {
      const Wide product = static_cast<Wide>(bits) * n;
      if (static_cast<std::uint64_t>(product) >= biased) return static_cast<std::uint64_t>(product >> 64);
    }
}

std::uint64_t PhiloxRandom::skip(Purpose purpose, std::uint64_t index, double q, std::uint64_t limit) const {
  if (q >= 1.0) return 0;
  if (!(q > 0.0)) return limit;
  // Inversion: P(failures >= m) = (1 - q)^m.
  const double failures = std::floor(std::log(uniform(purpose, index)) / std::log1p(-q));
  return failures < static_cast<double>(limit) ? static_cast<std::uint64_t>(failures) : limit;
}

void PhiloxRandom::normals(Purpose purpose, std::uint64_t index, std::span<double> out) const {
  // Box and Muller: two words make two normals, so the cost and the address of each do not depend on its value.
  for (std::size_t i = 0; i < out.size(); i += 4) {
    const auto bits = words(seed_, chain_, iteration_, slot_, purpose, index, i / 4);
    for (std::size_t pair = 0; pair < 2; ++pair) {
      const double radius = std::sqrt(-2.0 * std::log(to_unit(bits[2 * pair])));
      const double angle = 2.0 * std::numbers::pi * to_unit(bits[2 * pair + 1]);
      if (i + 2 * pair < out.size()) out[i + 2 * pair] = radius * std::cos(angle);
      if (i + 2 * pair + 1 < out.size()) out[i + 2 * pair + 1] = radius * std::sin(angle);
    }
  }
}

}  // namespace flymc
