// The rows that a run is about, and what is known of them.
#pragma once

#include "flymc/data/files/encoding.hpp"
#include "flymc/data/files/store_file.hpp"
#include "flymc/run/files/run_directory.hpp"

namespace flymc {

// For a run that uses the rows of another run (`from`): throws InputError if that run does not exist any more, or has
// other tables, columns or another family. The rows of another run are read, never made or removed.
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

// Returns how the rows were made from the table. Throws InputError if the files do not say so, hold other columns than
// their encoding names, or were made by other settings.
Encoding encoding_in(const StoreFile& rows, const Settings& settings);
// The same for the rows of a run. Throws as open_rows does, too.
Encoding encoding_of(const RunDirectory& run);

}  // namespace flymc
