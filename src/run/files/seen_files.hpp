// Ranks of several machines may find different files at one path: what they see is compared before it is used.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flymc/comm/communicator.hpp"

namespace flymc {

// What a rank sees of a file.
struct SeenFile {
  std::string name;
  std::uint64_t bytes = 0, hash = 0;
};

// Of the size, the first and last bytes, and some pieces between them: Parquet's and Arrow's numbers of rows and places of
// columns are at the end. All of a small file.
SeenFile seen(const std::filesystem::path& file, std::uint64_t pieces = 32);
// Of what is known of a file already; empty: it is not there.
SeenFile seen(const std::filesystem::path& file, std::string_view contents);

// Throws InputError on every rank, naming the first file that differs and the ranks, unless all ranks see the same files
// in the same order. Called by all ranks; does nothing for one.
void check_all_see(std::span<const SeenFile> files, const Communicator& communicator);

}  // namespace flymc
