// Intervals under each other, with their names and numbers: a forest plot as lines of a page, which fits any width.
#pragma once

#include <string>
#include <vector>

namespace flymc {

struct IntervalLine {
  std::string name;
  double point, lower, upper;
  std::string numbers;  // what stands to the right
  bool marked = false;  // in the colour of what is to be noticed
  // Another number to compare with, drawn as a thin mark; NaN: none.
  double other;
};

// On one axis from the smallest to the largest end, 0 included if it is near; `zero` draws a line there. `other_scale`
// names a second axis of exp(number); empty: there is none.
struct IntervalOptions {
  bool zero = true;
  std::string other_scale = {};
};
std::string interval_plot(const std::vector<IntervalLine>& lines, const IntervalOptions& options = {});

}  // namespace flymc
