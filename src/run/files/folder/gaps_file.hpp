// The expected gaps of all rows, a byte each in the order of the rows. Ranks write and read one file in parallel.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "flymc/bound/expected_gaps.hpp"
#include "flymc/comm/communicator.hpp"

namespace flymc {

// Every rank writes the gaps of its rows, which are whole blocks. The file appears when all ranks have written. Returns
// the checksum of each block, on every rank.
std::vector<std::uint64_t> write_gaps(const std::filesystem::path& path, const ExpectedGaps& own, Index block_rows,
                                      const Communicator& communicator);
// Reads the gaps of this rank's share of the blocks. Throws InputError if a checksum differs.
ExpectedGaps read_gaps(const std::filesystem::path& path, RowId rows, Index block_rows,
                       const std::vector<std::uint64_t>& checksums, const Communicator& communicator);

}  // namespace flymc
