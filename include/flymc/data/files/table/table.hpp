// Rows of one or more files, read in order and never held whole.
//
// Parquet (.parquet, .pq), CSV (.csv, .tsv, .txt, each also with .gz) and Arrow IPC files (.arrow, .ipc, .feather).
// Files of one table have the same columns, by name, in any order.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flymc/comm/communicator.hpp"
#include "flymc/core/linear.hpp"
#include "flymc/core/parallel.hpp"

namespace arrow {
class RecordBatch;
}

namespace flymc {

// The kind of a column's values. Integers, floating-point numbers and decimals are numeric. A dictionary of texts or of
// integers (the categorical of a data frame) is text. Times, lists, bytes and the like are other and cannot be read.
enum class ColumnKind { numeric, boolean, text, other };

struct TableColumn {
  std::string name;
  ColumnKind kind = ColumnKind::other;
  bool operator==(const TableColumn&) const = default;
};

struct TableOptions {
  // Columns that are read as text, whatever they contain; names that no file has are ignored. A number of a Parquet or
  // Arrow file becomes its shortest decimal text (7, 0.5), and true and false become these words. A CSV gives the text
  // of the cell, so that an integer has the same text in every format unless it is padded (007).
  std::vector<std::string> categorical;
  // The separator of fields in a CSV; by default a comma, and a tab for .tsv.
  std::optional<char> delimiter;
};

// Consecutive rows of one file. Columns are addressed by their position in the selection that was scanned.
class TableBatch {
 public:
  Index rows() const { return rows_; }
  const std::string& file() const { return *file_; }
  // A number that identifies row i in the table.
  std::uint64_t key(Index i) const {
    return static_cast<std::uint64_t>(file_number_) << 44 | static_cast<std::uint64_t>(row(i));
  }
  // The number of row i in its file. Rows of data count from 1; the header of a CSV is not counted.
  RowId row(Index i) const { return first_row_ + i; }

  // A numeric or boolean column: a number per row, NaN where it is missing. (A NaN in a file counts as missing.)
  std::span<const double> numbers(std::size_t column) const { return columns_[column].numbers; }
  // A text column: an index into texts() per row, -1 where it is missing. texts() may contain a text twice.
  std::span<const std::int32_t> codes(std::size_t column) const { return columns_[column].codes; }
  std::span<const std::string_view> texts(std::size_t column) const { return columns_[column].texts; }

  // Access to single cells, for messages and tests.
  bool is_missing(std::size_t column, Index i) const;
  double number(std::size_t column, Index i) const { return numbers(column)[static_cast<std::size_t>(i)]; }
  std::string_view text(std::size_t column, Index i) const;

 private:
  friend class BatchFiller;
  struct Column {
    std::span<const double> numbers;
    std::vector<double> converted;  // the memory of `numbers`, unless that is the file's own
    std::vector<std::int32_t> codes;
    std::vector<std::string_view> texts;
    std::vector<std::string> written;  // the memory of `texts`, where numbers were written as text
  };
  Index rows_ = 0;
  RowId first_row_ = 1;
  const std::string* file_ = nullptr;
  std::size_t file_number_ = 0;
  std::vector<Column> columns_;
};

class TableFile;

// Which rows of each file are shown: the first `run` of every `period`, and none after the first `most`.
struct ShownRows {
  RowId run = 1, period = 1;
  RowId most = std::numeric_limits<RowId>::max();
};

class Table {
 public:
  // Each path is a file, a pattern such as part-*.csv, or a folder. Files of a pattern or a folder are sorted by name;
  // in a folder, names that begin with '.' or '_' and files of other formats are passed over. Reads metadata, and the
  // first mebibyte of a CSV, from which it infers numbers, true/false and text. A column that is empty there is
  // numeric, unless another file has values in it. Throws InputError, naming the path, if there are no files or one
  // cannot be read.
  static Table open(const std::vector<std::string>& paths, const TableOptions& options = {});

  // The same table with some of its rows, which keep their row numbers. rows() is then empty.
  Table part(const ShownRows& shown) const;

  const std::vector<TableColumn>& columns() const { return columns_; }
  const TableColumn* find(std::string_view name) const;
  std::vector<std::string> names() const;
  // Without the columns that were the index of the pandas frame that a file was written from.
  std::vector<std::string> names_without_index() const;
  std::vector<std::string> files() const;
  // For Parquet and Arrow files, known without reading the rows; empty for others.
  std::optional<RowId> rows() const { return rows_; }
  // The size of the files on disk.
  std::uint64_t bytes() const { return bytes_; }

  // Calls visit with all rows in order, a batch at a time; the contents of a batch are valid during the call only. Only
  // the named columns are read. Throws InputError, naming file, column and (if known) row and value, if a column does
  // not exist or its cells cannot be read as its kind.
  void scan(const std::vector<std::string>& names, const std::function<void(const TableBatch&)>& visit) const;

  // The same on many threads, for a part of the table. Pieces can be read independently, and are numbered over all
  // files.
  std::size_t pieces() const;
  // Calls `work(slot, batch)` from several threads, and then `then(slot)` from the caller's, in the order of the rows.
  // A slot is used by one batch at a time; there are slots(threads) of them. No batch has more than `most_rows` rows.
  static std::size_t slots(const Threads& threads) { return 2 * static_cast<std::size_t>(threads.count()); }
  void scan(const std::vector<std::string>& names, const Share& pieces, Index most_rows, const Threads& threads,
            const std::function<void(std::size_t, const TableBatch&)>& work,
            const std::function<void(std::size_t)>& then) const;

 private:
  std::vector<TableColumn> selected(const std::vector<std::string>& names) const;
  // Calls visit(file, its number, the row number of its first row, batch) for the batches of some pieces, in order.
  using VisitBatch =
      std::function<void(const TableFile&, std::size_t, RowId, const std::shared_ptr<arrow::RecordBatch>&)>;
  void read(const std::vector<TableColumn>& wanted, const Share& pieces, Index most_rows,
            const VisitBatch& visit) const;

  std::vector<std::shared_ptr<const TableFile>> files_;
  std::vector<TableColumn> columns_;
  std::optional<RowId> rows_;
  std::uint64_t bytes_ = 0;
  ShownRows shown_;
};

}  // namespace flymc
