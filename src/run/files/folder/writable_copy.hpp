// Copies a file of a run; the copy is writable, whatever the permissions of the original.
#pragma once

#include <fmt/format.h>

#include <filesystem>

#include "flymc/core/files.hpp"

namespace flymc {

// Replaces `to` if it exists. Throws FileError.
inline void copy_writable(const std::filesystem::path& from, const std::filesystem::path& to) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::copy_file(from, to, fs::copy_options::overwrite_existing, error);
  if (!error) fs::permissions(to, fs::perms::owner_read | fs::perms::owner_write, fs::perm_options::add, error);
  if (error)
    throw FileError(from, fmt::format("cannot be copied to {} ({}); check the permissions and the free space",
                                      to.string(), error.message()));
}

}  // namespace flymc
