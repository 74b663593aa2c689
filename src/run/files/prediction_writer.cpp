// Batches of rows through Arrow's writers.
#include "prediction_writer.hpp"

#include <arrow/api.h>
#include <arrow/csv/writer.h>
#include <arrow/io/file.h>
#include <arrow/ipc/writer.h>
#include <fmt/format.h>
#include <parquet/arrow/writer.h>

#include "flymc/core/files.hpp"
#include "flymc/core/mention.hpp"

namespace flymc {
namespace {

constexpr std::int64_t rows_per_batch = 1 << 16;

void ensure(const arrow::Status& status, const std::filesystem::path& path) {
  if (status.ok()) return;
  // "[errno 2] No such file or directory" without the number.
  std::string why = status.detail() ? status.detail()->ToString() : status.message();
  if (why.starts_with('[')) why.erase(0, why.find("] ") + 2);
  cannot_write(path, why);
}

template <class T>
T ensure(arrow::Result<T> result, const std::filesystem::path& path) {
  ensure(result.status(), path);
  return std::move(result).ValueUnsafe();
}

}  // namespace

struct PredictionWriter::State {
  explicit State(std::filesystem::path target) : path(std::move(target)), pending(path) {}
  std::filesystem::path path;
  PendingFile pending;
  std::shared_ptr<arrow::io::FileOutputStream> stream;
  std::shared_ptr<arrow::Schema> schema;
  std::unique_ptr<parquet::arrow::FileWriter> parquet;
  std::shared_ptr<arrow::ipc::RecordBatchWriter> csv;
  arrow::Int64Builder rows;
  arrow::StringBuilder texts;
  bool has_text = false;
  std::vector<std::unique_ptr<arrow::DoubleBuilder>> values;
  std::int64_t row = 0;

  void flush() {
    if (rows.length() == 0) return;
    const std::int64_t count = rows.length();
    std::vector<std::shared_ptr<arrow::Array>> arrays = {ensure(rows.Finish(), path)};
    if (has_text) arrays.push_back(ensure(texts.Finish(), path));
    for (const auto& column : values) arrays.push_back(ensure(column->Finish(), path));
    const auto batch = arrow::RecordBatch::Make(schema, count, std::move(arrays));
    ensure(parquet ? parquet->WriteRecordBatch(*batch) : csv->WriteRecordBatch(*batch), path);
  }
};

PredictionWriter::PredictionWriter(const std::filesystem::path& path, const std::string& text_column,
                                   const std::vector<std::string>& columns)
    : state_(std::make_unique<State>(path)) {
  State& s = *state_;
  s.has_text = !text_column.empty();
  arrow::FieldVector fields = {arrow::field("row", arrow::int64())};
  if (s.has_text) fields.push_back(arrow::field(text_column, arrow::utf8()));
  for (const std::string& name : columns) {
    fields.push_back(arrow::field(name, arrow::float64()));
    s.values.push_back(std::make_unique<arrow::DoubleBuilder>());
  }
  s.schema = arrow::schema(fields);
  const bool csv = path.extension() == ".csv";
  if (!csv && path.extension() != ".parquet")
    throw InputError(fmt::format("{}: predictions are written as .parquet or .csv; name such a file with {}",
                                 path.string(), mention("out")));
  s.stream = ensure(arrow::io::FileOutputStream::Open(s.pending.path().string()), path);
  if (csv) {
    s.csv = ensure(arrow::csv::MakeCSVWriter(s.stream, s.schema), path);
  } else {
    // Hardly any two numbers are the same, and a dictionary of them would only take time.
    parquet::WriterProperties::Builder properties;
    properties.disable_dictionary();
    if (s.has_text) properties.enable_dictionary(text_column);
    s.parquet = ensure(
        parquet::arrow::FileWriter::Open(*s.schema, arrow::default_memory_pool(), s.stream, properties.build()), path);
  }
}

PredictionWriter::~PredictionWriter() = default;

void PredictionWriter::append(const std::optional<std::string>& text, std::span<const double> values) {
  State& s = *state_;
  ensure(s.rows.Append(++s.row), s.path);
  if (s.has_text) ensure(text ? s.texts.Append(*text) : s.texts.AppendNull(), s.path);
  for (std::size_t j = 0; j < s.values.size(); ++j)
    ensure(values.empty() ? s.values[j]->AppendNull() : s.values[j]->Append(values[j]), s.path);
  if (s.rows.length() == rows_per_batch) s.flush();
}

void PredictionWriter::finish() {
  State& s = *state_;
  s.flush();
  if (s.parquet) ensure(s.parquet->Close(), s.path);
  if (s.csv) ensure(s.csv->Close(), s.path);
  ensure(s.stream->Close(), s.path);
  s.pending.commit();
}

}  // namespace flymc
