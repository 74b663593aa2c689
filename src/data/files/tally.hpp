// What one scan of a table keeps of its rows, and how ranks tell each other.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "column_sums.hpp"
#include "target_sums.hpp"
#include "term_sums.hpp"

namespace flymc {

// Of a batch, of a rank's pieces, or of the whole table.
struct Tally {
  std::vector<NumberSums> numbers;
  std::vector<LevelSums> levels;
  std::vector<TermSums> terms;  // of those that are no columns; the others have nothing here
  std::optional<TargetSums> target;
  NumberSums target_numbers;  // where the target is a number
  std::vector<RowId> missing_counts;
  std::string first_missing;
  bool fact_missing_first = false;
  ExactSum weight;            // of all rows
  bool whole_weights = true;  // whether all are whole numbers
  ExactSum events;            // of the weights of rows whose event was seen, where a column says so
  ExactSum exposure;          // exp(offset) times the weight, where the link is a logarithm and there are offsets
  RowId rows = 0, dropped = 0;
  RowId zeros = 0;  // that the count part of a hurdle does not have
};

std::vector<std::byte> to_bytes(Tally& tally);
// Into a tally of the same columns that has no rows yet.
void from_bytes(std::span<const std::byte> bytes, Tally& tally);

}  // namespace flymc
