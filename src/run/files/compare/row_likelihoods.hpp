// The log likelihood of single rows under every draw of a run.
#pragma once

#include <span>

#include "../reading/table_rows.hpp"
#include "flymc/draws/files/draws_file.hpp"

namespace flymc {

class RowLikelihoods {
 public:
  RowLikelihoods(const RunParts& parts, const TableRows& table, const DrawsFile& draws);

  Index draws() const { return shown_.rows(); }
  // Likelihoods of these rows of the table: a row per draw, in the order of the file, and a column per row.
  // Thread-safe.
  RowMatrix of(std::span<const RowId> rows) const;

 private:
  const RunParts& parts_;
  const TableRows& table_;
  RowMatrix shown_;  // the draws
};

}  // namespace flymc
