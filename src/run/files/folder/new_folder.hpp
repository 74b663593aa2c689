// Checks whether a folder may become a run, and creates folders.
#pragma once

#include <filesystem>

#include "flymc/run/files/folder/run_directory.hpp"

namespace flymc {

// Throws InputError if the folder contains something that a new run would damage. `replace` permits an existing run.
void check_vacant(const std::filesystem::path& path, Existing existing);
// Removes the files of a run that is to be replaced. The settings go last: while they exist the folder is a run, which
// recreates removed files. Files with other names stay.
void remove_run(const std::filesystem::path& path);
// Creates a folder and its parents. Does nothing if it exists. Throws FileError.
void make_folder(const std::filesystem::path& path);
// Throws InputError if a folder inside a run is a link, because it may lead anywhere.
void refuse_link(const std::filesystem::path& path);
// Creates a folder inside a run. Throws InputError if it is a link.
void make_inner_folder(const std::filesystem::path& path);

}  // namespace flymc
