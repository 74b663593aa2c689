// Groups in the encoding of a table: their names and numbers, checks, and JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "flymc/data/files/encoding/encoding.hpp"

namespace flymc {

// Sets which columns are in factors and in no term.
void mark_columns_of_groups(const std::vector<EncodedTerm>& terms, const std::vector<EncodedFactor>& factors,
                            std::vector<EncodedColumn>& columns);
// Each factor as a term of levels, so that the scan collects the combinations that occur.
std::vector<EncodedTerm> combinations_of(const std::vector<EncodedFactor>& factors);
// One number for the levels of a factor's columns.
std::uint64_t key_of(const EncodedFactor& factor, const std::vector<EncodedColumn>& columns,
                     std::span<const std::uint32_t> levels);
// Throws InputError if combinations of these columns have no such numbers.
void check_keys(const EncodedFactor& factor, const std::vector<EncodedColumn>& columns);
// Throws InputError if factors or effects from a file cannot come from any table.
void check_groups(const std::vector<EncodedFactor>& factors, const std::vector<EncodedEffects>& effects,
                  const std::vector<EncodedColumn>& columns, const std::vector<EncodedTerm>& terms);

void to_json(nlohmann::ordered_json& out, const EncodedFactor& factor);
void to_json(nlohmann::ordered_json& out, const EncodedEffects& effects);
void from_json(const nlohmann::json& from, EncodedFactor& factor);
void from_json(const nlohmann::json& from, EncodedEffects& effects);

}  // namespace flymc
