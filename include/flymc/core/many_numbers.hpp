// What is asked of thousands of numbers at once, as of a row's predictors under all draws: where they lie, which of them
// have a given rank, the mean of a polynomial. As fast as the processor's vectors are wide, and with the same bits at
// every width: number i is added to sum i mod 32, and these sums are joined in a fixed order.
#pragma once

#include <cstddef>
#include <span>

#include "flymc/core/panel.hpp"

namespace flymc {

struct Location {
  double smallest = 0.0, largest = 0.0, mean = 0.0, deviation = 0.0;
};
// Of finite numbers, one or more. The deviation is for guesses: it has few digits if it is tiny beside the numbers.
Location locate(VectorWidth width, std::span<const double> numbers);

// Two numbers that follow each other in ascending order.
struct Neighbours {
  double at = 0.0, next = 0.0;
};
// Those of ranks `rank` and `rank + 1`, which count from 0; after the last one comes itself. They lie near `guess`, and
// numbers there are `step` apart: with good guesses about five looks at all numbers are enough, and bad ones cost a
// partial sort of a copy, never the result.
Neighbours neighbours(VectorWidth width, std::span<const double> numbers, const Location& location, std::size_t rank,
                      double guess, double step);

// The mean of c_0 + c_1 u + c_2 u^2 + ... over u = (number - centre) scale; one coefficient or more.
double mean_of_polynomial(VectorWidth width, std::span<const double> numbers, double centre, double scale,
                          std::span<const double> coefficients);

}  // namespace flymc
