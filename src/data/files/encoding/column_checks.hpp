// Checks for columns that no fit could use, after a scan.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "flymc/data/files/encoding/encoding.hpp"
#include "tally.hpp"

namespace flymc {

// The words after "leave it out": "(exclude = a)", or "of the formula".
std::string how_to_leave_out(bool by_formula);
std::string how_to_leave_out(bool by_formula, std::string_view columns);

// The checks below throw InputError, which says which column and what to do about it.

// Throw if a column has too many levels, or a factor too many groups.
void check_group_count(const std::string& factor, const LevelSums& sums);
void check_level_count(const Table& table, const EncodingOptions& options, const std::string& column,
                       const LevelSums& sums);
void check_identifiers(const Table& table, const EncodingOptions& options, const std::string& column,
                       const LevelSums& sums, RowId rows);
// Throws if a column of numbers was read as text because of a single cell, or of decimal commas. Every number would
// become a level, and the useless model might go unnoticed.
void check_spoilt_numbers(const EncodingOptions& options, const std::string& column, const LevelSums& sums);

// "'age' in 3, 'city' in 1": in how many rows each column is missing. `names` are those of the scan.
std::string missing_counts(const std::vector<std::string>& names, const Tally& all);
[[noreturn]] void refuse_missing(const EncodingOptions& options, const std::vector<std::string>& names,
                                 const Tally& all);

// Throws if a feature is the same in all `rows` rows. Without an intercept one such feature is allowed in its place.
void check_constants(const Table& table, const EncodingOptions& options, const std::vector<TermFacts>& terms,
                     RowId rows);
// Throws if two features are equal in every row.
void check_duplicates(const Table& table, const EncodingOptions& options, const std::vector<TermFacts>& terms);

}  // namespace flymc
