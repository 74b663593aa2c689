// A look at the rows of a run that has draws.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "flymc/core/linear.hpp"
#include "flymc/run/files/run_directory.hpp"

namespace flymc {

// Rows are those that the run has kept of the table, and count from 0.

// The log likelihood of each of these rows under every draw of a finished run: a row per draw, in
// the order of draws.parquet.
RowMatrix log_likelihood(const RunDirectory& run, std::span<const RowId> rows);

// The file that each of these rows came from, and its row in that file, which counts from 1. Throws InputError if there is
// no such row, or if the run does not know.
struct FileRow {
  std::string file;
  RowId row = 0;
};
std::vector<FileRow> origins(const RunDirectory& run, std::span<const RowId> rows);

// Goes on with a chain from where it stands, for some draws more that nobody keeps, and says which rows are bright
// after each of them. Throws InputError if the chain has left no checkpoint.
std::vector<std::vector<RowId>> bright_rows(const RunDirectory& run, std::uint64_t chain, std::int64_t draws);

}  // namespace flymc
