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

// What a column holds. Integers, floating-point numbers and decimals are numeric. A dictionary of texts or of integers
// (the categorical of a data frame) is text. Times, lists, bytes and the like are other and cannot be read.
enum class ColumnKind { numeric, boolean, text, other };

struct TableColumn {
  std::string name;
  ColumnKind kind = ColumnKind::other;
  bool operator==(const TableColumn&) const = default;
};

struct TableOptions {
  // Columns that are read as text, whatever they hold; names that no file has are ignored. A number of a Parquet or
  // Arrow file becomes its shortest decimal text (7, 0.5), true and false those words; in a CSV the text is taken as it
  // stands, so that an integer gives the same text in every format unless it is padded (007).
  std::vector<std::string> categorical;
  // What separates the fields of a CSV; by default a comma, and a tab for .tsv.
  std::optional<char> delimiter;
};

// Consecutive rows of one file. Columns are addressed by their position in the selection that was scanned.
class TableBatch {
 public:
  Index rows() const { return rows_; }
  const std::string& file() const { return *file_; }
  // A number that no other row of the table has.
  std::uint64_t key(Index i) const {
    return static_cast<std::uint64_t>(file_number_) << 44 | static_cast<std::uint64_t>(row(i));
  }
  // The number of row i in its file. Rows of data count from 1; the header of a CSV is not counted.
  RowId row(Index i) const { return first_row_ + i; }

  // A numeric or boolean column: a number per row, NaN where it is missing. (A NaN in a file counts as missing.)
  std::span<const double> numbers(std::size_t column) const { return columns_[column].numbers; }
  // A text column: an index into texts() per row, -1 where it is missing. A text may occur there twice.
  std::span<const std::int32_t> codes(std::size_t column) const { return columns_[column].codes; }
  std::span<const std::string_view> texts(std::size_t column) const { return columns_[column].texts; }

  // Single cells, for messages and tests.
  bool is_missing(std::size_t column, Index i) const;
  double number(std::size_t column, Index i) const { return numbers(column)[static_cast<std::size_t>(i)]; }
  std::string_view text(std::size_t column, Index i) const;

 private:
  friend class BatchFiller;
  struct Column {
    std::span<const double> numbers;
    std::vector<double> converted;  // behind `numbers`, unless the file's own memory is
    std::vector<std::int32_t> codes;
    std::vector<std::string_view> texts;
    std::vector<std::string> written;  // behind `texts`, where numbers were written out
  };
  Index rows_ = 0;
  RowId first_row_ = 1;
  const std::string* file_ = nullptr;
  std::size_t file_number_ = 0;
  std::vector<Column> columns_;
};

class TableFile;

// Which rows of each file are shown: of every `period` the first `run`, and none after the first `most`.
struct ShownRows {
  RowId run = 1, period = 1;
  RowId most = std::numeric_limits<RowId>::max();
};

class Table {
 public:
  // Each path is a file, a pattern such as part-*.csv, or a folder. Matches of a pattern and files of a folder come in
  // the order of their names; of a folder, names that begin with '.' or '_' and files of other formats are passed over.
  // Reads metadata, and of a CSV the first mebibyte, from which it tells numbers, true/false and text apart; a column
  // that is empty there is numeric, unless another file knows better.
  // Throws InputError, naming the file, if there is nothing to read or it cannot be read.
  static Table open(const std::vector<std::string>& paths, const TableOptions& options = {});

  // The same table with some of its rows, which keep their numbers; how many they are is not known.
  Table part(const ShownRows& shown) const;

  const std::vector<TableColumn>& columns() const { return columns_; }
  const TableColumn* find(std::string_view name) const;
  std::vector<std::string> names() const;
  // Those that were not the index of the pandas frame that a file was written from.
  std::vector<std::string> names_without_index() const;
  std::vector<std::string> files() const;
  // Known for Parquet and Arrow files without reading them.
  std::optional<RowId> rows() const { return rows_; }
  // The size of the files on disk.
  std::uint64_t bytes() const { return bytes_; }

  // Calls visit with all rows in order, a batch at a time; what a batch shows is valid during the call only. Only the
  // named columns are read. Throws InputError, naming file, column and (where it can be found) row and value, if a
  // column does not exist or its cells cannot be read as its kind says.
  void scan(const std::vector<std::string>& names, const std::function<void(const TableBatch&)>& visit) const;

  // The same on many threads, and of a part of the table. Pieces can be read apart; all files' count through.
  std::size_t pieces() const;
  // `work(slot, batch)` is called from several threads, and then `then(slot)` for each in the order of the rows, from
  // the caller's. A slot is used by one batch at a time; there are slots(threads) of them. No batch has more than
  // `most_rows` rows.
  static std::size_t slots(const Threads& threads) { return 2 * static_cast<std::size_t>(threads.count()); }
  void scan(const std::vector<std::string>& names, const Share& pieces, Index most_rows, const Threads& threads,
            const std::function<void(std::size_t, const TableBatch&)>& work,
            const std::function<void(std::size_t)>& then) const;

 private:
  std::vector<TableColumn> selected(const std::vector<std::string>& names) const;
  // Calls visit(file, its number, the row number of its first row, batch) for the batches of some pieces in order.
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
