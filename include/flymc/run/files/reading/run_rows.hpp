// The rows that a run uses, and facts about them.
#pragma once

#include "flymc/data/files/encoding/encoding.hpp"
#include "flymc/data/files/store/store_file.hpp"
#include "flymc/run/files/folder/run_directory.hpp"

namespace flymc {

// For a run that uses the rows of another run (`from`): throws InputError if that run does not exist any more, or has
// other tables, columns or another family. The rows of another run are read, never made or removed.
void check_base(const RunDirectory& run);

// Throws InputError if the run has no rows.
void check_rows(const RunDirectory& run);

// Opens all rows of a run, from one or several files. Their checksums need not be verified if only few rows will be
// read. Throws InputError if the run is finished and its draws belong to other rows; this happens if the rows lie in
// another run's folder and were replaced there.
StoreFile open_rows(const RunDirectory& run, Verify verify, const Execution& execution);
StoreFile open_unverified(const RunDirectory& run);

// Throws InputError if the manifest counts other rows than there are in these, which are the run's.
void check_counted(const RunDirectory& run, const StoreFile& rows);

// A checksum of the numbers in the rows and of the encoding, which alone contains the names of levels.
std::string fingerprint_of(const StoreFile& rows);

// Returns how the table was encoded. Throws InputError if the files do not say so, contain other columns than their
// encoding names, or were made with other settings.
Encoding encoding_in(const StoreFile& rows, const Settings& settings);
// The same for the rows of a run. Throws also as open_rows does.
Encoding encoding_of(const RunDirectory& run);

}  // namespace flymc
