// Single rows of a run: log likelihoods, where they came from, and which rows are bright along a chain.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "flymc/core/linear.hpp"
#include "flymc/run/files/folder/run_directory.hpp"

namespace flymc {

// Row numbers count from 0 over the rows that the run kept from the table.

// The log likelihood of each of these rows under every draw of a finished run. Each draw is a row of the result, in the
// order of draws.parquet.
RowMatrix log_likelihood(const RunDirectory& run, std::span<const RowId> rows);

// The file that each of these rows came from, and its row in that file, counted from 1. Throws InputError if there is
// no such row, or if the run does not record where rows came from.
struct FileRow {
  std::string file;
  RowId row = 0;
};
std::vector<FileRow> origins(const RunDirectory& run, std::span<const RowId> rows);

// Some rows of a study, in a further part of it: positions in the list of rows that was asked about, and the numbers that
// the part gives to them.
struct PartRows {
  std::vector<std::size_t> place;
  std::vector<RowId> row;
};
// For each further part of a study, which of these rows of the first part it has. Throws InputError if there is no such
// row, or if the parts were not made from the same rows.
std::vector<PartRows> rows_of_parts(PartRuns parts, std::span<const RowId> rows);

// Continues a chain from its checkpoint for `draws` draws, which are discarded. Returns the rows that are bright after
// each of them. Throws InputError if the chain has no checkpoint.
std::vector<std::vector<RowId>> bright_rows(const RunDirectory& run, std::uint64_t chain, std::int64_t draws);

}  // namespace flymc
