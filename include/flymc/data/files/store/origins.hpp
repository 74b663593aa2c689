// Where the rows of a store came from: the file, and the row in that file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "flymc/core/linear.hpp"

namespace flymc {

// A row's origin as one number, which is not 0 because rows count from 1.
constexpr std::uint64_t origin_key(std::int64_t file, RowId row) {
  return static_cast<std::uint64_t>(file) << 44 | static_cast<std::uint64_t>(row);
}

// Rows follow each other as they do in the files, except where a file ends or rows were dropped. So the origins are a
// list of runs, with a new run for each such place.
class Origins {
 public:
  struct Run {
    RowId first = 0;        // rows first, first + 1, ... of the store, up to the next run,
    std::int64_t file = 0;  // come from this file,
    RowId row = 0;          // and are its rows row, row + 1, ..., counted from 1
  };

  // Adds row `own` of the store, which comes after all rows before. It continues the last run or begins another.
  void add(RowId own, std::int64_t file, RowId row);
  void clear() { runs_.clear(); }
  const std::vector<Run>& runs() const { return runs_; }
  // The row's place as a run that begins at it; empty if the origin is not known.
  std::optional<Run> of(RowId own) const;

  // Writes the runs as text, [[first, file, row], ...] with rows of the store counted from `from`, and reads them back.
  // add_text throws InputError if the text is not of this form, or a run lies outside of the `rows` rows and `files`
  // files.
  std::string to_text(RowId from) const;
  void add_text(const std::string& text, RowId from, Index rows, std::size_t files);

 private:
  std::vector<Run> runs_;
};

}  // namespace flymc
