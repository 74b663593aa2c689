// Where the rows of a store came from: the file, and the row in that file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "flymc/core/linear.hpp"

namespace flymc {

// Rows follow each other as they do in the files, but where a file ends or rows were dropped. So what is kept is a list
// of runs, a few numbers each time that something was left out.
class Origins {
 public:
  struct Run {
    RowId first = 0;        // rows first, first + 1, ... of the store, up to the next run,
    std::int64_t file = 0;  // are of this file,
    RowId row = 0;          // its rows row, row + 1, ..., which count from 1
  };

  // Row `own` of the store, which comes after those before. It is the next of its run, or begins another.
  void add(RowId own, std::int64_t file, RowId row);
  void clear() { runs_.clear(); }
  const std::vector<Run>& runs() const { return runs_; }
  // The run that a row belongs to and its row in the file; nothing if that is not known.
  std::optional<Run> of(RowId own) const;

  // As text, [[first, file, row], ...] with rows of the store counted from `from`, and back. Throws InputError if it is
  // something else, or speaks of other rows than `rows` and `files`.
  std::string to_text(RowId from) const;
  void add_text(const std::string& text, RowId from, Index rows, std::size_t files);

 private:
  std::vector<Run> runs_;
};

}  // namespace flymc
