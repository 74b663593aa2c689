// The contents of a run's folder: which stages are done, and which files have its rows. It is manifest.json.
//
// A stage is done if the manifest says so, which is written after the stage's files. So a file that was written by a
// process that died before it could say so counts for nothing, and is written again. If a file that the manifest names
// was deleted, its stage is done again too. Runs of earlier versions have no manifest; their stages are done if the
// files of them exist.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flymc/core/linear.hpp"

namespace flymc {

// A file or object of a table, as it was when its rows were read: its size, and the hash of so many pieces of it.
struct TableSource {
  std::string name;
  std::uint64_t bytes = 0, pieces = 0, hash = 0;
  bool operator==(const TableSource&) const = default;
};

// A file of rows in the run's folder.
struct RowsPart {
  std::string file;
  std::optional<RowId> rows;         // how many it has; not known in a run of an earlier version
  std::vector<std::size_t> sources;  // the sources of its rows, by their index
  std::string written;               // when, as the other times: 2026-11-19T17:18:19Z
  bool operator==(const RowsPart&) const = default;
};

struct RowsEntry {
  std::vector<RowsPart> parts;  // they follow each other
  std::vector<TableSource> sources;
  // The grouping factor in whose order the rows are; empty: the order of the table. The index from groups to rows is
  // made from the columns of groups when rows are opened (data/group_index.hpp).
  std::string order;
  bool operator==(const RowsEntry&) const = default;
};

struct Manifest {
  static constexpr int present_version = 1;

  std::optional<RowsEntry> rows;
  // When these were written; empty: they are not there.
  std::optional<std::string> starts, preparation, draws, report;
  bool operator==(const Manifest&) const = default;

  std::string to_json() const;
  // Throws InputError if the text is not the manifest of a run. All names in it are then those of files of rows, and
  // all indices those of sources.
  static Manifest from_json(const std::string& text);

  // The manifest of a folder. Without the file, it is made from the files that exist, as an earlier version left them.
  // Throws InputError, naming the file, if it is damaged.
  static Manifest of(const std::filesystem::path& folder);
  // Writes the file whole or not at all.
  void write(const std::filesystem::path& folder) const;
};

// The present time as a manifest keeps it.
std::string time_now();

// The name of the file with part `part` of `parts` of the rows, and back: the part, from 0, and the number of parts.
std::string name_of_rows(int part, int parts);
std::optional<std::pair<int, int>> part_of_rows(std::string_view name);

}  // namespace flymc
