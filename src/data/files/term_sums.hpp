// What a scan keeps of a term that is more than a column: moments of each combination of levels that occurs.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "column_sums.hpp"
#include "flymc/data/files/encoding.hpp"

namespace flymc {

struct TermSums {
  // Of combinations, which are the texts of their levels with a line break after each; "" of a number.
  LevelSums levels;
  std::vector<NumberSums> numbers;  // by combination, of terms that have numbers; without the rows of other ones
  TermSums& operator+=(const TermSums& other);
};

// Adds rows of a batch. `names` are those of the scan, and without weights all are 1.
void add_rows(const TableBatch& batch, const EncodedTerm& term, const std::vector<std::string>& names,
              std::span<const Index> rows, std::span<const double> weights, TermSums& sums);

// What is known of a term's features beside how they are encoded.
struct FeatureFacts {
  std::string name;
  ColumnHash hash;
  double minimum = 0.0, maximum = 0.0;
};
struct TermFacts {
  std::string name;
  bool product = false;  // of levels and something else
  std::vector<FeatureFacts> features = {};
};

// Gives a term its levels, shifts and scales, once the levels of columns are known, with rare ones merged. Names
// of features are left to the caller.
TermFacts describe_term(const EncodingOptions& options, const std::vector<EncodedColumn>& columns, const TermSums& sums,
                        EncodedTerm& term);

// Whether the numbers are divided by their deviation: not if they are the same everywhere, or all 0 or 1.
bool is_standardised(const EncodingOptions& options, const NumberSums& sums);

// Whether a deviation, its inverse and the squares of both are normal doubles.
bool has_usable_deviation(double deviation);

}  // namespace flymc
