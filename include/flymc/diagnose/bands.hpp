// Bands that hold for many numbers at once.
#pragma once

#include "flymc/core/linear.hpp"

namespace flymc {

// Some numbers of a table, such as shares of rows, and the same numbers of S tables that a model has drawn. If the model
// is right, the table is one like the others: with mean_g and sd_g of number g over all S + 1 of them, each has a largest
// deviation M = max_g |number_g - mean_g| / sd_g, and that of the table is as likely as any other to be among the largest.
// So mean_g -+ q sd_g, with q the quantile of M at `level`, has all numbers of a right model's table inside with at least
// that probability, however many they are and however they depend on each other.
struct Bands {
  Vector expected;       // the mean over the drawn tables
  Vector lower, upper;   // of each number
  Vector deviation;      // of the table's number, in units of its sd; 0 where no number varies
  double factor = 0.0;   // q
  double p_value = 1.0;  // the share of the S + 1 tables that deviate as much as this one, itself counted
};

// Row 0 has the numbers of the table, the others those of drawn ones. At least 1 / (1 - level) rows.
Bands simultaneous_bands(const RowMatrix& numbers, double level);

}  // namespace flymc
