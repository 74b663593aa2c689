// Ranks on several machines may find different files at one path, so they compare files before they use them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flymc/comm/communicator.hpp"

namespace flymc {

// A file as one rank sees it.
struct SeenFile {
  std::string name;
  std::uint64_t bytes = 0, hash = 0;
};

// The size of a table's file or object, and a hash of its first and last bytes and some pieces between them (Parquet
// and Arrow store the numbers of rows and the positions of columns at the end). A small file is hashed as a whole.
SeenFile seen_table(const std::string& file, std::uint64_t pieces = 32);
// For a file whose contents are known. `contents` is empty if there is no such file.
SeenFile seen(const std::filesystem::path& file, std::string_view contents);

// Throws InputError on every rank unless all ranks see the same files in the same order. The message names the first
// file that differs, and the ranks. All ranks must call it; with one rank it does nothing.
void check_all_see(std::span<const SeenFile> files, const Communicator& communicator);

}  // namespace flymc
