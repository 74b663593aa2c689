// Which folder may become a run, and making one.
#pragma once

#include <filesystem>

namespace flymc {

// Throws InputError if there is something here that a new run would harm.
void check_vacant(const std::filesystem::path& path);
// With those above it; does nothing if it is there. Throws FileError.
void make_folder(const std::filesystem::path& path);

}  // namespace flymc
