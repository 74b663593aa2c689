// Finds rows of a part of a study in the next part, which has the rows whose target is positive in the part before.
#pragma once

#include <span>
#include <vector>

#include "../reading/table_rows.hpp"
#include "flymc/run/files/compare/inspect.hpp"

namespace flymc {

// The number in the next part of a row that is positive. Rows are recognised by where they came from. Throws InputError
// if the next part lacks the row.
RowId row_in_next_part(const TableRows& before, const TableRows& next, RowId row);
// Those of the rows that are positive.
PartRows rows_in_next_part(const TableRows& before, const TableRows& next, std::span<const RowId> rows);
// For each further part, which of these rows of the first part it has.
std::vector<PartRows> rows_in_further_parts(std::span<const TableRows* const> parts, std::span<const RowId> rows);

}  // namespace flymc
