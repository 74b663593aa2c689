// The sums that a scan keeps for a term that is not a column: moments of each combination of levels that occurs.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "column_sums.hpp"
#include "flymc/data/files/encoding/encoding.hpp"

namespace flymc {

struct TermSums {
  // Sums by combination, whose text is its levels with a line break after each; "" for a number.
  LevelSums levels;
  std::vector<NumberSums> numbers;  // by combination, for terms with numbers; over its own rows only
  TermSums& operator+=(const TermSums& other);
};

// Adds rows of a batch. `names` are those of the scan; empty weights are all 1.
void add_rows(const TableBatch& batch, const EncodedTerm& term, const std::vector<std::string>& names,
              std::span<const Index> rows, std::span<const double> weights, TermSums& sums);

// Throws InputError if there are more combinations than coefficients can be.
void check_combinations(const EncodedTerm& term, const TermSums& sums);

// The facts about a term's features that checks need.
struct FeatureFacts {
  std::string name;
  ColumnHash hash;
  double minimum = 0.0, maximum = 0.0;
};
struct TermFacts {
  std::string name;
  bool product = false;  // of levels and another factor
  std::vector<FeatureFacts> features = {};
};

// Sets levels, shifts and scales of a term, once the levels of columns are known and rare ones merged. The caller sets
// names of features.
TermFacts describe_term(const EncodingOptions& options, const std::vector<EncodedColumn>& columns, const TermSums& sums,
                        EncodedTerm& term);

// Whether to divide the numbers by their deviation: false if they are all the same, or all 0 or 1.
bool is_standardised(const EncodingOptions& options, const NumberSums& sums);

// Whether a deviation, its inverse and the squares of both are normal doubles.
bool has_usable_deviation(double deviation);

}  // namespace flymc
