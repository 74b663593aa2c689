// Writes batches of rows with Arrow's writers.
#include "prediction_writer.hpp"

#include <arrow/api.h>
#include <arrow/csv/writer.h>
#include <arrow/ipc/writer.h>
#include <fmt/format.h>
#include <parquet/arrow/writer.h>

#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/data/files/table/output.hpp"

namespace flymc {
namespace {

constexpr std::int64_t rows_per_batch = 1 << 16;

}  // namespace

struct PredictionWriter::State {
  explicit State(const std::string& name) : pending(name) {}
  std::shared_ptr<arrow::Schema> schema;
  std::unique_ptr<parquet::arrow::FileWriter> parquet;
  std::shared_ptr<arrow::ipc::RecordBatchWriter> csv;
  PendingOutput pending;  // ends before the writers do, whose destructors write what remains
  arrow::Int64Builder rows;
  arrow::StringBuilder texts;
  bool has_text = false;
  std::vector<std::unique_ptr<arrow::DoubleBuilder>> values;
  std::int64_t row = 0;

  void ensure(const arrow::Status& status) { pending.require(status); }
  template <class T>
  T ensure(arrow::Result<T> result) {
    ensure(result.status());
    return std::move(result).ValueUnsafe();
  }

  void flush() {
    if (rows.length() == 0) return;
    const std::int64_t count = rows.length();
    std::vector<std::shared_ptr<arrow::Array>> arrays = {ensure(rows.Finish())};
    if (has_text) arrays.push_back(ensure(texts.Finish()));
    for (const auto& column : values) arrays.push_back(ensure(column->Finish()));
    const auto batch = arrow::RecordBatch::Make(schema, count, std::move(arrays));
    ensure(parquet ? parquet->WriteRecordBatch(*batch) : csv->WriteRecordBatch(*batch));
  }
};

PredictionWriter::PredictionWriter(const std::filesystem::path& path, const std::string& text_column,
                                   const std::vector<std::string>& columns) {
  const std::string extension = extension_of(path.string());
  if (extension != ".csv" && extension != ".parquet")
    throw InputError(fmt::format("{}: predictions are written as .parquet or .csv; name such a file with {}",
                                 path.string(), mention("out")));
  state_ = std::make_unique<State>(path.string());
  State& s = *state_;
  s.has_text = !text_column.empty();
  arrow::FieldVector fields = {arrow::field("row", arrow::int64())};
  if (s.has_text) fields.push_back(arrow::field(text_column, arrow::utf8()));
  for (const std::string& name : columns) {
    fields.push_back(arrow::field(name, arrow::float64()));
    s.values.push_back(std::make_unique<arrow::DoubleBuilder>());
  }
  s.schema = arrow::schema(fields);
  if (extension == ".csv") {
    s.csv = s.ensure(arrow::csv::MakeCSVWriter(s.pending.stream(), s.schema));
  } else {
    // Numbers rarely repeat, so a dictionary of them would only cost time.
    parquet::WriterProperties::Builder properties;
    properties.disable_dictionary();
    if (s.has_text) properties.enable_dictionary(text_column);
    s.parquet = s.ensure(parquet::arrow::FileWriter::Open(*s.schema, arrow::default_memory_pool(), s.pending.stream(),
                                                          properties.build()));
  }
}

PredictionWriter::~PredictionWriter() = default;

void PredictionWriter::append(const std::optional<std::string>& text, std::span<const double> values) {
  State& s = *state_;
  s.ensure(s.rows.Append(++s.row));
  if (s.has_text) s.ensure(text ? s.texts.Append(*text) : s.texts.AppendNull());
  for (std::size_t j = 0; j < s.values.size(); ++j)
    s.ensure(values.empty() ? s.values[j]->AppendNull() : s.values[j]->Append(values[j]));
  if (s.rows.length() == rows_per_batch) s.flush();
}

void PredictionWriter::finish() {
  State& s = *state_;
  s.flush();
  if (s.parquet) s.ensure(s.parquet->Close());
  if (s.csv) s.ensure(s.csv->Close());
  s.pending.commit();
}

}  // namespace flymc
