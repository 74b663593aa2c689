// The draws of a finished run in the formats of other tools.
#pragma once

#include "flymc/run/files/folder/run_directory.hpp"

namespace flymc {

// Writes the draws in the format given by the extension of `out`: .nc is NetCDF in ArviZ's layout, .csv is Stan CSV
// (one file per chain, draws_1.csv ...), .parquet is the format of the run's own file. The draws are of the numbers
// that a summary reports: the coefficients, or their differences from `reference_class` (run/reported.hpp). NetCDF
// includes the targets if there are at most `most_observed` rows. Returns the files that were written.
constexpr RowId most_observed = 100000;
std::vector<std::filesystem::path> export_draws(const RunDirectory& directory, const std::filesystem::path& out,
                                                const std::string& reference_class = "");

}  // namespace flymc
