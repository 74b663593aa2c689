// Which folder may become a run, and making one.
#pragma once

#include <filesystem>

#include "flymc/run/files/run_directory.hpp"

namespace flymc {

// Throws InputError if there is something here that a new run would harm; a run is no harm if it is to be replaced.
void check_vacant(const std::filesystem::path& path, Existing existing);
// Removes the files of a run that is to be replaced, its settings last: as long as they are there it is a run, and what
// was removed is made again. Files of other names stay.
void remove_run(const std::filesystem::path& path);
// With those above it; does nothing if it is there. Throws FileError.
void make_folder(const std::filesystem::path& path);
// Throws InputError if a folder within a run's own is a link, which may lead anywhere.
void refuse_link(const std::filesystem::path& path);
// Makes a folder within a run's own. Throws InputError if it is a link.
void make_inner_folder(const std::filesystem::path& path);

}  // namespace flymc
