// Parquet files, a few columns and a few thousand rows at a time.
#include <arrow/buffer.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/dictionary.h>
#include <arrow/ipc/reader.h>
#include <arrow/memory_pool.h>
#include <arrow/util/base64.h>
#include <arrow/util/key_value_metadata.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/schema.h>
#include <parquet/exception.h>
#include <parquet/file_reader.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "arrow_status.hpp"
#include "object_store.hpp"
#include "table_file.hpp"

namespace flymc {
namespace {

using Reader = std::unique_ptr<parquet::arrow::FileReader>;

// The status of the exception that is being handled, if it is one of Parquet's reader; other exceptions are rethrown.
arrow::Status status_of_exception() {
  try {
    throw;
  } catch (const parquet::ParquetStatusException& error) {
    return error.status();
  } catch (const parquet::ParquetException& error) {
    return arrow::Status::Invalid(error.what());
  }
}

// Small buffers per column instead of whole chunks: a row group may hold the whole file.
Reader open_reader(const std::string& path, const parquet::ArrowReaderProperties& properties, std::size_t columns = 1) {
  parquet::ReaderProperties buffers;
  buffers.enable_buffered_stream();
  // An object store takes milliseconds to answer even a small request, so its buffers are larger.
  constexpr std::int64_t of_file = 1 << 18, of_object = 1 << 23, of_all_columns = 1 << 28;
  const auto share = of_all_columns / static_cast<std::int64_t>(columns);
  buffers.set_buffer_size(is_address(path) ? std::clamp(share, of_file, of_object) : of_file);
  const auto build = [&]() -> arrow::Result<Reader> {
    try {
      ARROW_ASSIGN_OR_RAISE(const auto file, open_source(path));
      parquet::arrow::FileReaderBuilder builder;
      ARROW_RETURN_NOT_OK(builder.Open(file, buffers));
      TableFile::check_column_count(path, static_cast<std::size_t>(builder.raw_reader()->metadata()->num_columns()));
      return builder.properties(properties)->Build();
    } catch (const std::exception&) {
      return status_of_exception();
    }
  };
  auto built = build();
  // Parquet's own message is about magic bytes in a footer.
  if (!built.ok() && built.status().message().find("magic bytes") != std::string::npos)
    throw InputError(
        fmt::format("{}: is cut short, or not a Parquet file although its name says so; write it again", path));
  return readable(std::move(built), path, "cannot be read as Parquet");
}

// The columns that were dictionaries in the writer's own schema. Parquet stores only the values, and Arrow recreates
// dictionaries of texts only.
std::vector<std::string> dictionaries_in(const std::shared_ptr<const arrow::KeyValueMetadata>& metadata) {
  std::vector<std::string> names;
  const auto read = [&]() -> arrow::Result<std::shared_ptr<arrow::Schema>> {
    ARROW_ASSIGN_OR_RAISE(const std::string written, metadata->Get("ARROW:schema"));
    const arrow::Result<std::string> decoded = arrow::util::base64_decode(written);  // text in older versions of Arrow
    ARROW_RETURN_NOT_OK(decoded.status());
    arrow::io::BufferReader input(arrow::Buffer::FromString(*decoded));
    arrow::ipc::DictionaryMemo memo;
    return arrow::ipc::ReadSchema(&input, &memo);
  };
  if (!metadata) return names;
  const auto schema = read();
  if (!schema.ok()) return names;  // another writer's, or unreadable: the values are taken as they are
  for (const auto& field : (*schema)->fields())
    if (field->type()->id() == arrow::Type::DICTIONARY) names.push_back(field->name());
  return names;
}

class ParquetFile final : public TableFile {
 public:
  explicit ParquetFile(const std::string& path) : TableFile(path) {
    const Reader reader = open_reader(path, parquet::default_arrow_reader_properties());
    std::shared_ptr<arrow::Schema> schema;
    must_read(reader->GetSchema(&schema), path, "cannot be read as Parquet");
    set_columns(*schema);
    set_categorical(dictionaries_in(reader->parquet_reader()->metadata()->key_value_metadata()));
    for (const auto& field : reader->manifest().schema_fields) leaves_.push_back(field.column_index);
    rows_ = reader->parquet_reader()->metadata()->num_rows();
    before_.assign(1, 0);
    for (int g = 0; g < reader->num_row_groups(); ++g)
      before_.push_back(before_.back() + reader->parquet_reader()->metadata()->RowGroup(g)->num_rows());
  }

  std::size_t pieces() const override { return std::max<std::size_t>(1, before_.size() - 1); }
  RowId rows_before(std::size_t piece) const override { return before_[piece]; }

  void read(const std::vector<TableColumn>& wanted, const Share& pieces, const Visit& visit) const override {
    auto properties = parquet::default_arrow_reader_properties();
    properties.set_use_threads(true);
    properties.set_pre_buffer(false);  // it would keep every row group that was read
    // Buffers grow by doubling: a power of two leaves no part of them unused.
    const auto rows = static_cast<std::uint64_t>(rows_of_batch(wanted.size(), 1 << 20));
    properties.set_batch_size(static_cast<std::int64_t>(std::bit_floor(rows)));
    std::vector<int> indices;
    for (const auto& column : wanted)
      if (const auto at = find(column.name)) {
        indices.push_back(leaves_[*at]);
        if (columns_[*at].kind == ColumnKind::text) properties.set_read_dictionary(leaves_[*at], true);
      }
    const Reader reader = open_reader(path_, properties, wanted.size());
    std::vector<int> row_groups(std::min(pieces.last, before_.size() - 1) - pieces.first);
    std::iota(row_groups.begin(), row_groups.end(), static_cast<int>(pieces.first));
    const auto batches = readable(reader->GetRecordBatchReader(row_groups, indices), path_, "cannot be read");
    while (const auto batch = readable(next(*batches), path_, "cannot be read")) visit(batch);
  }

 private:
  static arrow::Result<std::shared_ptr<arrow::RecordBatch>> next(arrow::RecordBatchReader& batches) {
    try {
      return batches.Next();
    } catch (const std::exception&) {
      return status_of_exception();
    }
  }

  std::vector<int> leaves_;    // Parquet's index of a column; -1 for a nested one, which is never read
  std::vector<RowId> before_;  // rows before each row group, then the total
};

}  // namespace

std::shared_ptr<const TableFile> open_parquet(const std::string& path) { return std::make_shared<ParquetFile>(path); }

}  // namespace flymc
