// Intervals below each other, with their names and numbers: a forest plot as lines of a page, which fits any width.
#pragma once

#include <limits>
#include <string>
#include <vector>

namespace flymc {

struct IntervalLine {
  std::string name;
  double point, lower, upper;
  std::string numbers;  // the text to the right
  bool marked = false;  // drawn in the highlight colour
  // Another number to compare with, drawn as a thin mark; NaN: none.
  double other;
  // The ends of an inner interval, drawn thicker; NaN: none.
  double inner_lower = std::numeric_limits<double>::quiet_NaN(), inner_upper = inner_lower;
};

// The axis runs from the smallest to the largest end, and includes 0 if it is near; `zero` draws a line at 0.
// `other_scale` names a second axis of exp(number); empty: none.
struct IntervalOptions {
  bool zero = true;
  std::string other_scale = {};
};
std::string interval_plot(const std::vector<IntervalLine>& lines, const IntervalOptions& options = {});

}  // namespace flymc
