// Finds the files of a table from paths, patterns and folders.
#pragma once

#include <string>
#include <vector>

namespace flymc {

enum class TableFormat { parquet, csv, ipc, none };

// The formats of a table, in words.
inline constexpr const char* table_formats =
    "Parquet (.parquet, .pq), CSV (.csv, .tsv, .txt, also .gz) or Arrow (.arrow, .ipc, .feather)";

// An address without the settings of its store, such as ?region=eu-west-1; a path unchanged.
std::string without_settings(const std::string& path);

// The format, from the end of the name.
TableFormat format_of(const std::string& path);

// Throws InputError, naming the formats, if the name does not end like one of them.
void require_format(const std::string& path);

// Whether a name in a folder is passed over.
bool is_hidden(const std::string& name);

// The files and objects for names, patterns and folders, in order. Throws InputError if one is not readable or has an
// unknown format.
std::vector<std::string> expand_paths(const std::vector<std::string>& paths);

// Throws InputError, with the reason, if the file cannot be opened for reading.
void require_readable(const std::string& path);

}  // namespace flymc
