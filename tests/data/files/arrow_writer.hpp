// Writes small Arrow tables as Parquet and Arrow IPC files.
#pragma once

#include <arrow/api.h>
#include <arrow/io/file.h>
#include <arrow/ipc/writer.h>
#include <arrow/util/compression.h>
#include <parquet/arrow/writer.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace flymc {

using ArrayPointer = std::shared_ptr<arrow::Array>;

inline void must(const arrow::Status& status) {
  if (!status.ok()) status.Abort();
}

// An array from values, some of them missing.
template <class Builder, class Value>
ArrayPointer array_of(const std::vector<std::optional<Value>>& values, Builder&& builder) {
  for (const auto& value : values) must((value ? builder.Append(*value) : builder.AppendNull()));
  return builder.Finish().ValueOrDie();
}
inline ArrayPointer doubles(const std::vector<std::optional<double>>& values) {
  return array_of(values, arrow::DoubleBuilder());
}
inline ArrayPointer integers(const std::vector<std::optional<std::int64_t>>& values) {
  return array_of(values, arrow::Int64Builder());
}
inline ArrayPointer booleans(const std::vector<std::optional<bool>>& values) {
  return array_of(values, arrow::BooleanBuilder());
}
inline ArrayPointer texts(const std::vector<std::optional<std::string>>& values) {
  return array_of(values, arrow::StringBuilder());
}

struct NamedArray {
  std::string name;
  ArrayPointer array;
};

inline std::shared_ptr<arrow::Table> table_of(const std::vector<NamedArray>& columns) {
  arrow::FieldVector fields;
  arrow::ArrayVector arrays;
  for (const auto& [name, array] : columns) {
    fields.push_back(arrow::field(name, array->type()));
    arrays.push_back(array);
  }
  return arrow::Table::Make(arrow::schema(fields), arrays);
}

inline std::string write_parquet(const std::string& path, const std::vector<NamedArray>& columns,
                                 std::int64_t rows_per_group = 1 << 20) {
  const auto stream = arrow::io::FileOutputStream::Open(path).ValueOrDie();
  must(parquet::arrow::WriteTable(*table_of(columns), arrow::default_memory_pool(), stream, rows_per_group));
  must(stream->Close());
  return path;
}

inline std::string write_ipc(const std::string& path, const std::vector<NamedArray>& columns,
                             std::int64_t rows_per_batch = 1 << 20,
                             arrow::Compression::type compression = arrow::Compression::UNCOMPRESSED) {
  const auto stream = arrow::io::FileOutputStream::Open(path).ValueOrDie();
  auto options = arrow::ipc::IpcWriteOptions::Defaults();
  if (compression != arrow::Compression::UNCOMPRESSED)
    options.codec = arrow::util::Codec::Create(compression).ValueOrDie();
  const auto table = table_of(columns);
  const auto writer = arrow::ipc::MakeFileWriter(stream, table->schema(), options).ValueOrDie();
  must(writer->WriteTable(*table, rows_per_batch));
  must(writer->Close());
  must(stream->Close());
  return path;
}

}  // namespace flymc
