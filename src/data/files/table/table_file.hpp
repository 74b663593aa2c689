// One file of a table, in any format: its columns, and its rows as record batches of Arrow.
#pragma once

#include <arrow/record_batch.h>
#include <arrow/type.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "flymc/comm/communicator.hpp"
#include "flymc/data/files/table/table.hpp"

namespace flymc {

struct FileColumn {
  std::string name;
  ColumnKind kind = ColumnKind::other;
  bool empty = false;  // no values seen so far, which fits every kind
};

class TableFile {
 public:
  using Visit = std::function<void(const std::shared_ptr<arrow::RecordBatch>&)>;

  // The most columns that a table may have, so that the facts about all of them fit in memory.
  static constexpr std::size_t most_columns = 100000;
  // Throws InputError if there are more columns than that.
  static void check_column_count(const std::string& path, std::size_t columns);

  virtual ~TableFile() = default;
  const std::string& path() const { return path_; }
  const std::vector<FileColumn>& columns() const { return columns_; }
  // The position of a column, of the first if two have the name; empty if there is none.
  std::optional<std::size_t> find(std::string_view name) const {
    const auto found = places_.find(name);
    return found == places_.end() ? std::nullopt : std::optional(found->second);
  }
  // Columns that were the index of the pandas frame that the file was written from.
  const std::vector<std::string>& index() const { return index_; }
  std::optional<RowId> rows() const { return rows_; }
  // The number of pieces that can be read independently: row groups or record batches; 1 for a CSV.
  virtual std::size_t pieces() const { return 1; }
  // The number of rows before a piece.
  virtual RowId rows_before(std::size_t) const { return 0; }
  // Calls visit with every row of some pieces, in order; each batch contains at least the wanted columns.
  virtual void read(const std::vector<TableColumn>& wanted, const Share& pieces, const Visit& visit) const = 0;

 protected:
  explicit TableFile(std::string path) : path_(std::move(path)) {}
  // Sets names and kinds from a schema. A column that pandas marked categorical is text, however its values are stored.
  void set_columns(const arrow::Schema& schema);
  // Marks columns whose values are names of levels.
  void set_categorical(const std::vector<std::string>& names);

  std::string path_;
  std::vector<FileColumn> columns_;
  std::vector<std::string> index_;
  std::optional<RowId> rows_;

 private:
  std::unordered_map<std::string_view, std::size_t> places_;  // of columns_, whose elements do not move
};

std::shared_ptr<const TableFile> open_csv(const std::string& path, const TableOptions& options);
std::shared_ptr<const TableFile> open_parquet(const std::string& path);
std::shared_ptr<const TableFile> open_ipc(const std::string& path);

// The rows of a batch: about `numbers` numbers in all, which fit the caches, but at least 4096 rows unless these are
// more than four times as many numbers, because each batch has a cost of its own.
inline Index rows_of_batch(std::size_t columns, Index numbers) {
  const auto wide = static_cast<Index>(std::min<std::size_t>(columns, 4096));
  return std::min<Index>(std::max(numbers / wide, std::min<Index>(4096, 4 * numbers / wide)), 1 << 16);
}

// The kind of a type of Arrow. A dictionary is text, whatever its values are: they are names of levels.
ColumnKind kind_of(const arrow::DataType& type);
// "numbers", "true/false", "text", or "neither numbers nor text".
const char* kind_name(ColumnKind kind);

// Presents the rows of a record batch as a TableBatch.
class BatchFiller {
 public:
  explicit BatchFiller(const std::vector<TableColumn>& wanted);
  // Returns the batch, which must be of moderate size. `first` is the number of its first row in the file, and the file
  // is the table's `number`-th. The record batch must exist until the next call.
  const TableBatch& fill(const arrow::RecordBatch& batch, const std::string& file, std::size_t number, RowId first);

 private:
  void fill(std::size_t column, const arrow::Array& array);
  void fill_numbers(TableBatch::Column& out, const arrow::Array& array, const std::string& name);
  void fill_texts(TableBatch::Column& out, const arrow::Array& array, const std::string& name);
  void fill_dictionary(TableBatch::Column& out, const arrow::Array& array, const std::string& name);

  std::vector<TableColumn> wanted_;
  TableBatch batch_;
};

}  // namespace flymc
