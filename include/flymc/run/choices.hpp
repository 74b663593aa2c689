// What `automatic` means for a table of this shape: the way that is cheaper in expectation, and regular MCMC where all
// rows are few; and why.
#pragma once

#include <string>

#include "flymc/core/linear.hpp"
#include "flymc/run/options.hpp"

namespace flymc {

// All that is known of a table before its rows are looked at.
struct TableShape {
  RowId rows = 0;
  Index coefficients = 0;
};

// How many rows the sharp bound leaves bright, roughly: proportional to D^2 / sqrt(N) where rows are many.
double expected_bright(const TableShape& shape);
// Nanoseconds per effective draw, roughly: with the sharp bound and sweeps by rows, and by regular MCMC.
double expected_cost(const TableShape& shape);
double expected_regular_cost(const TableShape& shape);

// Whether it is left to the program how to treat the rows: with a bound or all of them.
bool leaves_rows(const FitOptions& options);
// The options with every `automatic` replaced by what it means, as far as the shape alone can tell. Where bound and
// sweep are both automatic, that may be regular MCMC.
FitOptions chosen(FitOptions options, const TableShape& shape);
// What was chosen and why, in words: a line.
std::string describe_choices(const FitOptions& options, const TableShape& shape);
// The same where regular MCMC was chosen for a reason.
std::string describe_regular(const FitOptions& options, const std::string& why);

}  // namespace flymc
