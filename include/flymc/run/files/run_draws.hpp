// The draws of a finished run, held against what the run says of them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "flymc/draws/files/draws_file.hpp"
#include "flymc/run/files/report.hpp"
#include "flymc/run/files/run_directory.hpp"

namespace flymc {

// What report.json keeps of draws.parquet: 16 hexadecimal digits, of all bytes of the file.
std::string draws_checksum(const std::filesystem::path& draws);

// Opens the draws of a finished run. Throws DamagedDraws if they are not those that the report is of: their checksum,
// coefficients, chains or lengths differ. Reports of earlier versions have no checksum; all draws are then read once, and
// must be finite.
DrawsFile draws_of(const RunDirectory& run, const RunReport& report);
// The same, for work on rows: throws InputError if the rows do not have the coefficients that the draws have.
DrawsFile draws_of(const RunDirectory& run, const std::vector<std::string>& names_of_rows);

// Throws DamagedDraws unless the draws of a run that has no report yet end where its chains stand: with `ends`, which are
// on the scale of the table's columns, after `count` draws of each chain.
void check_ends(const std::filesystem::path& draws, const std::vector<std::string>& names, std::int64_t count,
                const std::vector<Vector>& ends);

}  // namespace flymc
