// Effects as record batches of some mebibytes.
#include "flymc/draws/files/effects_file.hpp"

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/io/file.h>
#include <arrow/ipc/reader.h>
#include <arrow/ipc/writer.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "flymc/core/files.hpp"
#include "flymc/draws/files/draws_file.hpp"

namespace flymc {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t batch_numbers = std::size_t{1} << 20;

void ensure_written(const arrow::Status& status, const fs::path& path) {
  if (!status.ok()) cannot_write(path, status.message());
}

template <class T>
T written(arrow::Result<T> result, const fs::path& path) {
  ensure_written(result.status(), path);
  return std::move(result).ValueUnsafe();
}

[[noreturn]] void refuse_effects(const fs::path& path, const std::string& why) {
  throw DamagedDraws(fmt::format("{}: these are not the effects of the run's groups: {}", path.string(), why));
}

template <class T>
T read_from(arrow::Result<T> result, const fs::path& path) {
  if (!result.ok()) refuse_effects(path, result.status().message());
  return std::move(result).ValueUnsafe();
}

std::shared_ptr<arrow::Schema> schema_of(const EffectsColumns& columns) {
  arrow::FieldVector fields = {arrow::field("chain", arrow::int32(), false),
                               arrow::field("draw", arrow::int64(), false)};
  for (const auto& [name, size] : columns)
    fields.push_back(arrow::field(
        name, arrow::fixed_size_list(arrow::field("item", arrow::float32(), false), static_cast<std::int32_t>(size)),
        false));
  return arrow::schema(fields);
}

}  // namespace

struct EffectsWriter::State {
  fs::path path;
  EffectsColumns columns;
  std::shared_ptr<arrow::Schema> schema;
  PendingFile pending;
  std::shared_ptr<arrow::io::FileOutputStream> stream;
  std::shared_ptr<arrow::ipc::RecordBatchWriter> writer;
  // The batch that is being filled.
  std::vector<std::int32_t> chains;
  std::vector<std::int64_t> draws;
  std::vector<std::vector<float>> numbers;
  std::size_t filled = 0;

  State(const fs::path& target, const EffectsColumns& of)
      : path(target), columns(of), schema(schema_of(of)), pending(target), numbers(of.size()) {
    stream = written(arrow::io::FileOutputStream::Open(pending.path().string()), path);
    writer = written(arrow::ipc::MakeFileWriter(stream, schema), path);
  }

  // Wraps the vectors without a copy; they live until the batch is written.
  void flush() {
    if (draws.empty()) return;
    const auto count = static_cast<std::int64_t>(draws.size());
    arrow::ArrayVector arrays = {std::make_shared<arrow::Int32Array>(count, arrow::Buffer::Wrap(chains)),
                                 std::make_shared<arrow::Int64Array>(count, arrow::Buffer::Wrap(draws))};
    for (std::size_t c = 0; c < numbers.size(); ++c) {
      const auto items =
          std::make_shared<arrow::FloatArray>(count * columns[c].second, arrow::Buffer::Wrap(numbers[c]));
      arrays.push_back(
          std::make_shared<arrow::FixedSizeListArray>(schema->field(static_cast<int>(c) + 2)->type(), count, items));
    }
    ensure_written(writer->WriteRecordBatch(*arrow::RecordBatch::Make(schema, count, std::move(arrays))), path);
    chains.clear();
    draws.clear();
    for (std::vector<float>& column : numbers) column.clear();
    filled = 0;
  }
};

EffectsWriter::EffectsWriter(const fs::path& path, const EffectsColumns& columns)
    : state_(std::make_unique<State>(path, columns)) {}
EffectsWriter::~EffectsWriter() = default;
EffectsWriter::EffectsWriter(EffectsWriter&&) noexcept = default;
EffectsWriter& EffectsWriter::operator=(EffectsWriter&&) noexcept = default;

void EffectsWriter::append(std::int32_t chain, std::int64_t draw, std::span<const double> effects) {
  State& to = *state_;
  to.chains.push_back(chain);
  to.draws.push_back(draw);
  std::size_t at = 0;
  for (std::size_t c = 0; c < to.columns.size(); ++c)
    for (Index i = 0; i < to.columns[c].second; ++i) to.numbers[c].push_back(static_cast<float>(effects[at++]));
  to.filled += at;
  if (to.filled >= batch_numbers) to.flush();
}

void EffectsWriter::finish() {
  State& to = *state_;
  to.flush();
  ensure_written(to.writer->Close(), to.path);
  ensure_written(to.stream->Close(), to.path);
  to.pending.commit();
}

struct EffectsFile::State {
  struct Batch {
    fs::path path;
    std::shared_ptr<arrow::RecordBatch> rows;
  };
  std::vector<Batch> batches;
  std::int64_t draws = 0;
  std::map<std::int32_t, std::size_t> chains;  // by number, in the order of the file

  const std::int32_t* chains_of(const Batch& batch) const {
    return static_cast<const arrow::Int32Array&>(*batch.rows->column(0)).raw_values();
  }
  const std::int64_t* draws_of(const Batch& batch) const {
    return static_cast<const arrow::Int64Array&>(*batch.rows->column(1)).raw_values();
  }
  const float* numbers_of(const Batch& batch, std::size_t column) const {
    const auto& list = static_cast<const arrow::FixedSizeListArray&>(*batch.rows->column(static_cast<int>(column) + 2));
    return static_cast<const arrow::FloatArray&>(*list.values()).raw_values() + list.value_offset(0);
  }
  // How many numbers a column has in a draw.
  Index width(const Batch& batch, std::size_t column) const {
    const auto& type = *batch.rows->schema()->field(static_cast<int>(column) + 2)->type();
    return static_cast<const arrow::FixedSizeListType&>(type).list_size();
  }
};

EffectsFile::EffectsFile(const std::vector<fs::path>& parts, const EffectsColumns& columns) {
  auto state = std::make_shared<State>();
  const auto schema = schema_of(columns);
  for (const fs::path& path : parts) {
    require_file(path);
    const auto file = read_from(arrow::io::MemoryMappedFile::Open(path.string(), arrow::io::FileMode::READ), path);
    const auto reader = read_from(arrow::ipc::RecordBatchFileReader::Open(file), path);
    if (!reader->schema()->Equals(*schema, false)) refuse_effects(path, "it has other columns");
    for (int b = 0; b < reader->num_record_batches(); ++b) {
      auto rows = read_from(reader->ReadRecordBatch(b), path);
      if (const auto status = rows->ValidateFull(); !status.ok()) refuse_effects(path, status.message());
      for (const auto& column : rows->columns())
        if (column->null_count() > 0) refuse_effects(path, "a number is missing");
      state->draws += rows->num_rows();
      state->batches.push_back({path, std::move(rows)});
      const State::Batch& own = state->batches.back();
      for (std::int64_t i = 0; i < own.rows->num_rows(); ++i)
        state->chains.try_emplace(state->chains_of(own)[i], state->chains.size());
    }
  }
  state_ = std::move(state);
}

std::int64_t EffectsFile::draws() const { return state_->draws; }

std::vector<KeptDraws> EffectsFile::kept() const {
  std::vector<KeptDraws> out(state_->chains.size());
  for (const auto& [number, place] : state_->chains) out[place].chain = number;
  for (const auto& [chain, draw] : chains_and_draws()) out[state_->chains.at(chain)].draws.push_back(draw);
  return out;
}

std::vector<std::pair<std::int32_t, std::int64_t>> EffectsFile::chains_and_draws() const {
  std::vector<std::pair<std::int32_t, std::int64_t>> out;
  for (const State::Batch& batch : state_->batches)
    for (std::int64_t i = 0; i < batch.rows->num_rows(); ++i)
      out.emplace_back(state_->chains_of(batch)[i], state_->draws_of(batch)[i]);
  return out;
}

std::vector<const float*> EffectsFile::columns_of_draws(std::size_t column) const {
  std::vector<const float*> out;
  for (const State::Batch& batch : state_->batches)
    for (std::int64_t i = 0; i < batch.rows->num_rows(); ++i)
      out.push_back(state_->numbers_of(batch, column) + i * state_->width(batch, column));
  return out;
}

void EffectsFile::check_finite() const {
  for (const State::Batch& batch : state_->batches)
    for (std::size_t c = 0; c + 2 < static_cast<std::size_t>(batch.rows->num_columns()); ++c) {
      const float* const numbers = state_->numbers_of(batch, c);
      const float* const end = numbers + batch.rows->num_rows() * state_->width(batch, c);
      if (!std::all_of(numbers, end, [](float number) { return std::isfinite(number); }))
        refuse_effects(batch.path, "a draw is not a finite number");
    }
}

void EffectsFile::check_draws(std::int32_t chain, std::int64_t m) const {
  std::int64_t next = 0;
  for (const State::Batch& batch : state_->batches)
    for (std::int64_t i = 0; i < batch.rows->num_rows(); ++i, next += m)
      if (state_->chains_of(batch)[i] != chain || state_->draws_of(batch)[i] != next)
        refuse_effects(batch.path, fmt::format("draw {} of chain {} should be here", next, chain));
}

std::vector<std::vector<std::vector<double>>> EffectsFile::read(std::size_t column, Index first, Index count) const {
  std::vector<std::vector<std::vector<double>>> out(static_cast<std::size_t>(count));
  for (auto& chains : out) chains.resize(state_->chains.size());
  for (const State::Batch& batch : state_->batches) {
    const float* const numbers = state_->numbers_of(batch, column);
    const Index width = state_->width(batch, column);
    for (std::int64_t i = 0; i < batch.rows->num_rows(); ++i) {
      const std::size_t chain = state_->chains.at(state_->chains_of(batch)[i]);
      for (Index j = 0; j < count; ++j) {
        const double value = static_cast<double>(numbers[i * width + first + j]);
        if (!std::isfinite(value)) refuse_effects(batch.path, "a draw is not a finite number");
        out[static_cast<std::size_t>(j)][chain].push_back(value);
      }
    }
  }
  return out;
}

void merge_effects(const std::vector<fs::path>& parts, const EffectsColumns& columns, const fs::path& target) {
  const EffectsFile from(parts, columns);
  EffectsWriter writer(target, columns);
  std::vector<double> effects;
  for (const EffectsFile::State::Batch& batch : from.state_->batches)
    for (std::int64_t i = 0; i < batch.rows->num_rows(); ++i) {
      effects.clear();
      for (std::size_t c = 0; c < columns.size(); ++c) {
        const float* const numbers = from.state_->numbers_of(batch, c) + i * columns[c].second;
        effects.insert(effects.end(), numbers, numbers + columns[c].second);
      }
      writer.append(from.state_->chains_of(batch)[i], from.state_->draws_of(batch)[i], effects);
    }
  writer.finish();
}

}  // namespace flymc
