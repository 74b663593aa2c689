// Draws sign vectors in batches, with one matrix product per batch.
#include "flymc/diagnose/swapped_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "flymc/core/random.hpp"

namespace flymc {
namespace {

constexpr Index batch = 128;
constexpr int signs_per_word = 62;
constexpr long enough = 100;  // this many sign vectors with a strength as large give the p-value with an error of 10 %

RowMatrix signs(Index first, Index pairs, std::uint64_t seed) {
  RowMatrix out(batch, pairs);
  for (Index b = 0; b < batch; ++b) {
    const PhiloxRandom random(seed, 0, static_cast<std::uint64_t>(first + b));
    std::uint64_t word = 0;
    for (Index s = 0; s < pairs; ++s) {
      if (s % signs_per_word == 0)
        word = random.choose(Purpose::simulate, static_cast<std::uint64_t>(s / signs_per_word),
                             std::uint64_t{1} << signs_per_word);
      out(b, s) = (word & 1u) != 0 ? 1.0 : -1.0;
      word >>= 1;
    }
  }
  return out;
}

}  // namespace

SwappedPairs swapped_pairs(const RowMatrix& differences, double level, std::uint64_t seed) {
  constexpr double rounding = 1e-12;
  SwappedPairs out;
  out.limit = std::numeric_limits<double>::infinity();
  const Vector length = differences.colwise().norm().transpose();
  RowMatrix scaled = differences;
  for (Index j = 0; j < scaled.cols(); ++j) scaled.col(j) *= length[j] > 0.0 ? 1.0 / length[j] : 0.0;
  out.strength = scaled.colwise().sum().cwiseAbs().transpose();
  if (scaled.size() == 0) return out;
  const double own = out.strength.maxCoeff() * (1.0 - rounding);
  const auto most = static_cast<Index>(std::ceil(10.0 / level - rounding)) - 1;
  std::vector<double> largest;
  long as_large = 0;
  for (Index first = 0; first < most && as_large < enough; first += batch) {
    const Vector of_batch = (signs(first, scaled.rows(), seed) * scaled)
                                .cwiseAbs()
                                .rowwise()
                                .maxCoeff()
                                .head(std::min(batch, most - first));
    for (const double strength : of_batch) {
      largest.push_back(strength);
      if (strength >= own && ++as_large == enough) break;
    }
  }
  const auto drawn = static_cast<double>(largest.size());
  out.p_value =
      as_large == enough ? static_cast<double>(enough) / drawn : (static_cast<double>(as_large) + 1.0) / (drawn + 1.0);
  if (out.p_value > level) return out;
  // At most a share `level` of the sign vectors reach a strength above the limit.
  const auto at = largest.begin() + static_cast<std::ptrdiff_t>(level * (drawn + 1.0) + 0.5) - 1;
  std::nth_element(largest.begin(), at, largest.end(), std::greater<>());
  out.limit = *at * (1.0 + rounding);
  return out;
}

}  // namespace flymc
