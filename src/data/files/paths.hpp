// From what a person names to the files of a table.
#pragma once

#include <string>
#include <vector>

namespace flymc {

enum class TableFormat { parquet, csv, ipc, none };

// What a table is, in words.
inline constexpr const char* table_formats =
    "Parquet (.parquet, .pq), CSV (.csv, .tsv, .txt, also .gz) or Arrow (.arrow, .ipc, .feather)";

// An address without settings of its store, as in s3://bucket/part.parquet?region=eu-west-1; a path as it is.
std::string without_settings(const std::string& path);

// By the end of the name.
TableFormat format_of(const std::string& path);

// Throws InputError, naming the formats, if the name ends in none.
void require_format(const std::string& path);

// Whether a name in a folder is passed over.
bool is_hidden(const std::string& name);

// The files and objects behind names, patterns and folders, in order; each is readable and of a known format. Throws
// InputError.
std::vector<std::string> expand_paths(const std::vector<std::string>& paths);

// Throws InputError, saying why, if the file cannot be opened for reading.
void require_readable(const std::string& path);

}  // namespace flymc
