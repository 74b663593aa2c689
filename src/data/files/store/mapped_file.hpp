// One file of a store, mapped into memory: its contents and its blocks.
#pragma once

#include <arrow/type_fwd.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "flymc/data/files/store/store_file.hpp"

namespace flymc {

struct MappedFile {
  std::shared_ptr<arrow::Buffer> mapping;
  StoreContents contents;
  // Per block:
  std::vector<Store::ForeignBlock> blocks;
  std::vector<std::string> checksums, origins;       // an empty origin is not known
  std::vector<RowId> begun;                          // rows that begin a row of the table
  std::vector<std::span<const std::uint64_t>> keys;  // the origins of scattered rows; empty for others
};

// Throws InputError if the file is not a store. Its numbers are not read.
MappedFile map_store_file(const std::string& path);

// Throws InputError: the file is not a store, for this reason.
[[noreturn]] void foreign_store(const std::string& path, const std::string& why);
// Throws InputError: this part of the file has another checksum.
[[noreturn]] void damaged_store(const std::string& path, const std::string& where);

}  // namespace flymc
