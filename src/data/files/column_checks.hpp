// What a scan shows of columns that no fit could use.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "flymc/data/files/encoding.hpp"
#include "tally.hpp"

namespace flymc {

// "(exclude = a)", or "of the formula", after "leave it out".
std::string how_to_leave_out(bool by_formula);
std::string how_to_leave_out(bool by_formula, std::string_view columns);

// All others throw InputError: which column, and what to do about it.

// So many levels are not levels.
void check_level_count(const Table& table, const EncodingOptions& options, const std::string& column,
                       const LevelSums& sums);
void check_identifiers(const Table& table, const EncodingOptions& options, const std::string& column,
                       const LevelSums& sums, RowId rows);
// One cell that is no number, or a comma for the point, makes text of a column of numbers, and a level of every number:
// a model that nobody wants, and that would go unnoticed.
void check_spoilt_numbers(const EncodingOptions& options, const std::string& column, const LevelSums& sums);

// "'age' in 3, 'city' in 1": in how many rows a value is missing. `names` are those of the scan.
std::string missing_counts(const std::vector<std::string>& names, const Tally& all);
[[noreturn]] void refuse_missing(const EncodingOptions& options, const std::vector<std::string>& names,
                                 const Tally& all);

// Features that are the same in all `rows` rows. Without an intercept one of them may stand in for it.
void check_constants(const Table& table, const EncodingOptions& options, const std::vector<TermFacts>& terms,
                     RowId rows);
// Features that are the same as another in every row.
void check_duplicates(const Table& table, const EncodingOptions& options, const std::vector<TermFacts>& terms);

}  // namespace flymc
