// The schema, metadata and checksums of a store's file, which the writer and the reader share.
#pragma once

#include <arrow/type_fwd.h>

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "flymc/data/facts.hpp"
#include "flymc/data/files/store/store_file.hpp"
#include "flymc/data/groups.hpp"

namespace flymc::store_format {

inline constexpr const char* version_key = "flymc.store";
inline constexpr const char* columns_key = "flymc.columns";
inline constexpr const char* checksum_key = "flymc.xxh3";  // of the metadata, and of each batch
inline constexpr const char* files_key = "flymc.files";
inline constexpr const char* origins_key = "flymc.origins";
inline constexpr const char* begun_key =
    "flymc.table_rows";  // of a block, if not all of its rows begin a row of the table
inline constexpr const char* levels_key = "flymc.levels";
inline constexpr const char* precision_key = "flymc.precision";
inline constexpr const char* factors_key = "flymc.factors";
inline constexpr const char* numbers_version = "1";  // for rows of numbers
inline constexpr const char* codes_version = "2";    // for rows with codes
inline constexpr const char* slopes_version = "3";   // for rows with slopes
inline constexpr const char* groups_version = "4";   // for rows with groups or scattered rows, whatever their cells

std::shared_ptr<arrow::Schema> schema_of(const StoreContents& contents);

// The grouping factors as text, and back. Throws InputError if some factor cannot be.
std::string factors_text(std::span<const GroupFactor> factors);
std::vector<GroupFactor> factors_from(const std::string& text);

// The checksum of the rows, continued with each column of facts, the groups of each factor, and the origins.
std::string checksum(std::span<const std::byte> rows, const FactSpans& facts,
                     std::span<const std::span<const Group>> groups = {}, std::span<const std::uint64_t> origins = {});

// The checksum of entries, sorted by key: their order in the file does not matter.
std::string checksum(const std::map<std::string, std::string>& entries);

}  // namespace flymc::store_format
