// The sums that one scan of a table keeps, and their exchange between ranks.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "column_sums.hpp"
#include "flymc/core/error.hpp"
#include "target_sums.hpp"
#include "term_sums.hpp"

namespace flymc {

// The sums of a batch, of a rank's pieces, or of the whole table.
struct Tally {
  std::vector<NumberSums> numbers;
  std::vector<LevelSums> levels;
  std::vector<TermSums> terms;  // by term, and then by factor; empty for a term or a factor that is a column
  std::optional<TargetSums> target;
  std::vector<RowId> missing_counts;
  std::optional<InputPlace> first_missing;
  bool fact_missing_first = false;
  ExactSum weight;            // of all rows
  bool whole_weights = true;  // whether all are whole numbers
  ExactSum exposure;          // sum of exp(offset) times the weight, if the link is a logarithm and there are offsets
  RowId rows = 0, dropped = 0;
  RowId zeros() const { return target->left_out(); }
};

std::vector<std::byte> to_bytes(Tally& tally);
// Reads a tally into one of the same columns that has no rows yet.
void from_bytes(std::span<const std::byte> bytes, Tally& tally);

}  // namespace flymc
