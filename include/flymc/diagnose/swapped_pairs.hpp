// Tests whether the two members of each pair are exchangeable: one test of many numbers, exact for any number of pairs.
#pragma once

#include <cstdint>

#include "flymc/core/linear.hpp"

namespace flymc {

// If (a, b) and (b, a) have the same distribution, the vector of differences d = b - a has the same distribution as -d.
// So the test draws the sign of each pair at random, many times, and compares the largest strength |sum d| / sqrt(sum
// d^2) over the numbers with the largest strengths under random signs. The numbers need not be normal or symmetric, and
// one p-value holds for all of them, for any dependence between them.
struct SwappedPairs {
  Vector strength;       // of each number, up to sqrt(pairs); 0 if no pair differs
  double p_value = 1.0;  // the share of sign vectors, the observed one included, whose largest strength is as large
  // Strengths above this are significant, with allowance for all numbers. Infinite if p_value > level.
  double limit = 0.0;
};

// `differences` has a row per pair and a column per number; pairs are independent of each other. If the members can be
// swapped, p_value <= level has probability `level` at most. The seed gives at most 10 / level - 1 sign vectors;
// drawing stops once a hundred of them have a strength as large (Besag and Clifford 1991).
SwappedPairs swapped_pairs(const RowMatrix& differences, double level, std::uint64_t seed);

}  // namespace flymc
