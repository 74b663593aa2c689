// The rows that a run is about, and what is known of them.
#pragma once

#include "flymc/data/files/encoding.hpp"
#include "flymc/data/files/store_file.hpp"
#include "flymc/run/files/run_directory.hpp"

namespace flymc {

// Throws InputError if the rows are those of another run (`from`), and there is none any more, or one that has other
// columns, tables or families. The rows of another run are read, never made or removed.
void check_base(const RunDirectory& run);

// Throws InputError if the run has no rows.
void check_rows(const RunDirectory& run);

// All rows of a run, however many files they are in. Where few of them will be looked at, their numbers need not be
// verified. Throws InputError if the run is finished and its draws are of other rows: those of a run that is sampled from
// another lie there, and may have been replaced.
StoreFile open_rows(const RunDirectory& run, Verify verify, const Execution& execution);
StoreFile open_unverified(const RunDirectory& run);

// Of their numbers, and of how they were made of the table: names of levels are in the latter alone.
std::string fingerprint_of(const StoreFile& rows);

// How they were made of the table. Throws as open_rows does.
Encoding encoding_of(const RunDirectory& run);

}  // namespace flymc
