// From what a person names to the files of a table.
#pragma once

#include <string>
#include <vector>

namespace flymc {

enum class TableFormat { parquet, csv, ipc, none };

// By the end of the name.
TableFormat format_of(const std::string& path);

// The files behind names, patterns and folders, in order; each is readable and of a known format. Throws InputError.
std::vector<std::string> expand_paths(const std::vector<std::string>& paths);

// Throws InputError, saying why, if the file cannot be opened for reading.
void require_readable(const std::string& path);

}  // namespace flymc
