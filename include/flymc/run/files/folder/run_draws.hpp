// The draws of a finished run, compared with its report.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "flymc/draws/files/draws_file.hpp"
#include "flymc/run/files/folder/report.hpp"
#include "flymc/run/files/folder/run_directory.hpp"

namespace flymc {

// The checksum of draws.parquet that report.json keeps: 16 hexadecimal digits, over all bytes of the file.
std::string draws_checksum(const std::filesystem::path& draws);

// Opens the draws of a finished run. Throws DamagedDraws if their checksum, coefficients, chains or lengths differ from
// those in the report. Reports of earlier versions have no checksum; all draws are then read once, and must be finite.
DrawsFile draws_of(const RunDirectory& run, const RunReport& report);
// The same, for work on rows: throws InputError if the draws are not of the coefficients of these rows.
DrawsFile draws_of(const RunDirectory& run, const std::vector<std::string>& names_of_rows);

// For a run that has no report yet: throws DamagedDraws unless each chain has `count` draws and the last one equals the
// state in its checkpoint, `ends`, on the scale of the table's columns.
void check_ends(const std::filesystem::path& draws, const std::vector<std::string>& names, std::int64_t count,
                const std::vector<Vector>& ends);

}  // namespace flymc
