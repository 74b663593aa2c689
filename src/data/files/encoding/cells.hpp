// Checks of cells, and the names of cells in messages.
#pragma once

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/core/names.hpp"
#include "flymc/core/within.hpp"
#include "flymc/data/files/encoding/encoding.hpp"

namespace flymc {

inline InputPlace cell_of(const TableBatch& batch, Index i, const std::string& column) {
  return {batch.file(), column, batch.row(i)};
}

// "file, column 'age', row 7".
inline std::string cell_name(const InputPlace& cell) {
  return fmt::format("{}, column '{}', row {}", cell.file, on_one_line(cell.column), cell.row);
}

// The error whose message is the name of the cell and `what`.
inline InputError cell_error(InputPlace cell, const std::string& what) {
  const std::string text = fmt::format("{}: {}", cell_name(cell), what);
  return InputError(text, std::move(cell));
}

inline bool is_number(std::string_view text) {
  double value = 0.0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error != std::errc::invalid_argument && stop == text.data() + text.size();
}

// Throws InputError if a number cannot be a feature or a target: it is infinite, or its square overflows.
inline void check_number(const TableBatch& batch, Index i, const std::string& column, double value) {
  if (std::abs(value) <= Encoding::largest_number) [[likely]]
    return;
  throw cell_error(
      cell_of(batch, i, column),
      std::isfinite(value)
          ? fmt::format("{} is so large that its square overflows; rescale the column", value)
          : fmt::format("{} is not a finite number; correct it, or leave it empty if it is missing", value));
}

// Whether all can be.
inline bool all_usable(std::span<const double> values) { return all_within(values, Encoding::largest_number); }

// Whether all can be, or are missing.
inline bool all_usable_or_missing(std::span<const double> values) {
  bool none = true;
  for (const double value : values) none &= !(std::abs(value) > Encoding::largest_number);
  return none;
}

// Throws InputError if a number cannot be a weight.
inline void check_weight(const TableBatch& batch, Index i, const std::string& column, double value) {
  check_number(batch, i, column, value);
  if (value < 0.0)
    throw cell_error(cell_of(batch, i, column), fmt::format("a weight is 0 or more, not {}; correct it", value));
}

// The share of successes among trials. Throws InputError unless both are whole and 0 <= successes <= trials.
inline double share_of(const TableBatch& batch, Index i, const std::string& column, double successes, double trials) {
  const bool whole = successes == std::floor(successes) && trials == std::floor(trials);
  if (!whole || successes < 0.0 || successes > trials)
    throw cell_error(
        cell_of(batch, i, column),
        fmt::format("{} successes of {} trials; both must be whole numbers, and successes no more than trials",
                    successes, trials));
  return trials > 0.0 ? successes / trials : 0.0;
}

// The offset of a cell: its number, or the logarithm of an exposure. Throws InputError if it has none.
inline double offset_of(const TableBatch& batch, Index i, const std::string& column, double value, bool exposure) {
  check_number(batch, i, column, value);
  if (!exposure) return value;
  if (!(value > 0.0))
    throw cell_error(cell_of(batch, i, column),
                     fmt::format("an exposure is more than 0, not {}; correct it, or leave the row out", value));
  return std::log(value);
}

// The logarithm of a time or an amount. Throws InputError if the number is not positive.
inline double log_of_time(const TableBatch& batch, Index i, const std::string& column, double value) {
  if (value > 0.0) return std::log(value);
  throw cell_error(cell_of(batch, i, column),
                   fmt::format("a time or an amount is more than 0, not {}; correct it, or leave the row out", value));
}

// Whether an event was seen, 1 or 0. Throws InputError if the cell is neither.
inline double event_of(const TableBatch& batch, Index i, const std::string& column, double value) {
  if (value == 0.0 || value == 1.0) return value;
  throw cell_error(
      cell_of(batch, i, column),
      fmt::format("{} does not say whether the event was seen, which is 1, or not yet, which is 0", value));
}

// The count in a cell. Throws InputError if it is not a count.
inline double count_of(const TableBatch& batch, Index i, const std::string& column, double value) {
  if (value >= 0.0 && value == std::floor(value) && value <= Encoding::largest_number) return value;
  throw cell_error(
      cell_of(batch, i, column),
      fmt::format("{} is not a count, which is 0, 1, 2 and so on; correct it, or leave the row out", value));
}

// Throws InputError if a text cannot be a level. A line break shows that a quote was never closed, which makes one cell
// of all lines below it; in the last column there is no other sign of it.
inline void check_level(const TableBatch& batch, Index i, const std::string& column, std::string_view text) {
  if (text.find_first_of("\r\n") == std::string_view::npos) [[likely]]
    return;
  throw cell_error(
      cell_of(batch, i, column),
      fmt::format("a line break is in the value '{}'; close the quote before it, or remove it", on_one_line(text)));
}

// Which rows of a batch have a missing value in the first `columns` columns.
class MissingRows {
 public:
  MissingRows(const TableBatch& batch, std::size_t columns)
      : batch_(batch), rows_(static_cast<std::size_t>(batch.rows()), 0), counts_(columns, 0), whole_(columns, false) {
    for (std::size_t j = 0; j < columns; ++j) {
      const auto codes = batch.codes(j);
      const auto numbers = batch.numbers(j);
      whole_[j] = codes.empty() && all_usable(numbers);
      if (whole_[j]) continue;
      for (std::size_t i = 0; i < rows_.size(); ++i) {
        const char missing = codes.empty() ? std::isnan(numbers[i]) : codes[i] < 0;
        rows_[i] = static_cast<char>(rows_[i] | missing);
        counts_[j] += missing;
      }
    }
  }
  bool operator[](Index i) const { return rows_[static_cast<std::size_t>(i)] != 0; }
  // Missing cells per column.
  const std::vector<RowId>& counts() const { return counts_; }
  // Whether a column is of numbers, none of them missing, infinite or too large.
  bool whole(std::size_t column) const { return whole_[column]; }
  // The first column that row i lacks.
  std::size_t column(Index i) const {
    std::size_t j = 0;
    while (!batch_.is_missing(j, i)) ++j;
    return j;
  }
  [[noreturn]] void refuse(Index i, const std::vector<std::string>& names) const {
    throw cell_error(
        cell_of(batch_, i, names[column(i)]),
        fmt::format("the value is missing; fill it, or leave such rows out ({})", mention("missing", "drop")));
  }

 private:
  const TableBatch& batch_;
  std::vector<char> rows_;
  std::vector<RowId> counts_;
  std::vector<bool> whole_;
};

}  // namespace flymc
