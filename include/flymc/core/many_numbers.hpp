// Functions of thousands of numbers at once, such as one row's predictors under all draws: location, order statistics,
// the mean of a polynomial. They use the full width of the processor's vectors, and give the same bits at every width:
// number i is added to sum i mod 32, and these sums are joined in a fixed order.
#pragma once

#include <cstddef>
#include <span>

#include "flymc/core/panel.hpp"

namespace flymc {

struct Location {
  double smallest = 0.0, largest = 0.0, mean = 0.0, deviation = 0.0;
};
// Requires finite numbers, at least one. The deviation is for guesses: it has few digits if it is tiny beside the
// numbers.
Location locate(VectorWidth width, std::span<const double> numbers);

// Two numbers that follow each other in ascending order.
struct Neighbours {
  double at = 0.0, next = 0.0;
};
// Returns the numbers of ranks `rank` and `rank + 1`, counted from 0; the last number is its own successor. `guess` is
// about where they lie, and `step` about how far apart numbers are there. With good guesses about five passes over the
// numbers are enough. Bad guesses cost a partial sort of a copy, and the result is the same.
Neighbours neighbours(VectorWidth width, std::span<const double> numbers, const Location& location, std::size_t rank,
                      double guess, double step);

// The mean of c_0 + c_1 u + c_2 u^2 + ... over u = (number - centre) scale; one coefficient or more.
double mean_of_polynomial(VectorWidth width, std::span<const double> numbers, double centre, double scale,
                          std::span<const double> coefficients);

}  // namespace flymc
