// Bands that hold for many numbers simultaneously.
#pragma once

#include "flymc/core/linear.hpp"

namespace flymc {

// Compares numbers of a table, such as shares of rows, with the same numbers of S tables drawn from a model. If the
// model is right, the table is exchangeable with the drawn ones. With mean_g and sd_g of number g over all S + 1
// tables, each table has a largest deviation M = max_g |number_g - mean_g| / sd_g, and the ranks of these are equally
// likely. So mean_g -+ q sd_g, with q the quantile of M at `level`, contains all numbers of a right model's table with
// at least that probability, for any count of numbers and any dependence between them.
struct Bands {
  Vector expected;       // the mean over the drawn tables
  Vector lower, upper;   // the bands, per number
  Vector deviation;      // of the table's number from the mean, in units of sd_g; 0 if sd_g is 0
  double factor = 0.0;   // q
  double p_value = 1.0;  // the share of the S + 1 tables, this one included, whose largest deviation is as large
};

// Row 0 has the numbers of the table, the others those of drawn tables. Needs at least 1 / (1 - level) rows.
Bands simultaneous_bands(const RowMatrix& numbers, double level);

}  // namespace flymc
