// Whether the two members of each pair may be swapped: one test of many numbers, exact for any number of pairs.
#pragma once

#include <cstdint>

#include "flymc/core/linear.hpp"

namespace flymc {

// If (a, b) and (b, a) have the same distribution, then so have the differences of all their numbers and the same with
// the other sign. So the signs of pairs are drawn at random, again and again, and the test compares the largest strength
// |sum d| / sqrt(sum d^2) over the numbers with the largest under other signs. It needs neither normal nor symmetric
// numbers, and holds for all numbers at once, however they depend on each other.
struct SwappedPairs {
  Vector strength;       // of each number, up to sqrt(pairs); 0 where no pair differs
  double p_value = 1.0;  // the share of sign vectors, that of the pairs included, with a strength as large
  // Strengths above it are too large for chance, all numbers together. Infinite where p_value > level.
  double limit = 0.0;
};

// `differences` has a row per pair and a column per number. The pairs are independent of each other. If the members may
// be swapped, p_value <= level has probability `level` at most. At most 10 / level - 1 sign vectors are drawn, from the
// seed; fewer where a hundred of them have been as large (Besag and Clifford 1991).
SwappedPairs swapped_pairs(const RowMatrix& differences, double level, std::uint64_t seed);

}  // namespace flymc
