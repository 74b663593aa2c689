// The draws of a finished run in the formats of other tools.
#pragma once

#include "flymc/run/files/run_directory.hpp"

namespace flymc {

// By the extension of `out`: .nc is NetCDF as ArviZ has it, .csv Stan CSV (one file per chain, draws_1.csv ...),
// .parquet as the run's own file. They have what a summary reports: the coefficients, or their differences from
// `reference_class` (run/reported.hpp). Returns the files that were written. Targets of at most `most_observed` rows go
// along to NetCDF.
constexpr RowId most_observed = 100000;
std::vector<std::filesystem::path> export_draws(const RunDirectory& directory, const std::filesystem::path& out,
                                                const std::string& reference_class = "");

}  // namespace flymc
