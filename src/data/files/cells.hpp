// Cells that cannot be used, and where they stand.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "flymc/core/error.hpp"
#include "flymc/data/files/encoding.hpp"

namespace flymc {

// "file, column 'age', row 7".
inline std::string place_of(const TableBatch& batch, Index i, const std::string& column) {
  return fmt::format("{}, column '{}', row {}", batch.file(), column, batch.row(i));
}

// Throws InputError if a number cannot be a feature or a target.
inline void check_number(const TableBatch& batch, Index i, const std::string& column, double value) {
  if (std::abs(value) <= Encoding::largest_number) [[likely]]
    return;
  throw InputError(std::isfinite(value)
                       ? fmt::format("{}: {} is so large that its square overflows; rescale the column",
                                     place_of(batch, i, column), value)
                       : fmt::format("{}: {} is not a finite number; correct it, or leave it empty if it is missing",
                                     place_of(batch, i, column), value));
}

// Which rows of a batch lack something in the first columns of it.
class MissingRows {
 public:
  MissingRows(const TableBatch& batch, std::size_t columns)
      : batch_(batch), rows_(static_cast<std::size_t>(batch.rows()), 0), counts_(columns, 0) {
    for (std::size_t j = 0; j < columns; ++j) {
      const auto codes = batch.codes(j);
      const auto numbers = batch.numbers(j);
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
  // The first column that row i lacks.
  std::size_t column(Index i) const {
    std::size_t j = 0;
    while (!batch_.is_missing(j, i)) ++j;
    return j;
  }
  [[noreturn]] void refuse(Index i, const std::vector<std::string>& names) const {
    throw InputError(
        fmt::format("{}: the value is missing; fill it, or drop such rows", place_of(batch_, i, names[column(i)])));
  }

 private:
  const TableBatch& batch_;
  std::vector<char> rows_;
  std::vector<RowId> counts_;
};

}  // namespace flymc
