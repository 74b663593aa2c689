// Writes blocks of a store as record batches.
#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/io/file.h>
#include <arrow/ipc/writer.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>
#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>

#include "../table/arrow_status.hpp"
#include "../table/paths.hpp"
#include "flymc/data/files/store/store_file.hpp"
#include "store_format.hpp"

namespace flymc {

using namespace store_format;

struct StoreWriter::State {
  std::string path;
  Layout layout;
  std::shared_ptr<arrow::Schema> schema;
  PendingFile pending;
  std::shared_ptr<arrow::io::FileOutputStream> stream;
  std::shared_ptr<arrow::ipc::RecordBatchWriter> writer;
  Index block_rows = 0;
  RowId rows = 0;
  bool finished = false;
  // The block that is being filled:
  RowId begun = 0;  // rows that begin a row of the table
  std::vector<std::byte> packed;
  FactColumns facts;
  Origins origins;

  explicit State(const std::string& target) : path(target), pending(target) {}
  void write_block();
};

// Wraps the vectors without a copy; they live until the batch is written.
void StoreWriter::State::write_block() {
  const auto count = static_cast<std::int64_t>(facts.size());
  const auto buffer = arrow::Buffer::Wrap(packed);
  const auto type = schema->field(0)->type();
  const auto numbers = [&]() -> std::shared_ptr<arrow::Array> {
    const auto size = count * static_cast<std::int64_t>(layout.cells());
    if (layout.number_type() == NumberType::float64) return std::make_shared<arrow::DoubleArray>(size, buffer);
    return std::make_shared<arrow::FloatArray>(size, buffer);
  };
  arrow::ArrayVector arrays;
  if (layout.coded())
    arrays.push_back(std::make_shared<arrow::FixedSizeBinaryArray>(type, count, buffer));
  else
    arrays.push_back(std::make_shared<arrow::FixedSizeListArray>(type, count, numbers()));
  facts.each([&](std::vector<double>& column) {
    arrays.push_back(std::make_shared<arrow::DoubleArray>(count, arrow::Buffer::Wrap(column)));
  });
  const std::string sum = checksum(packed, facts.spans());
  const auto notes = arrow::key_value_metadata({checksum_key}, {sum});
  if (!origins.runs().empty()) {
    notes->Append(origins_key, origins.to_text(0));
    if (begun < count) notes->Append(begun_key, fmt::format("{}", begun));
  }
  must_write(writer->WriteRecordBatch(*arrow::RecordBatch::Make(schema, count, std::move(arrays)), notes), path);
  packed.clear();
  facts.clear();
  origins.clear();
  begun = 0;
}

StoreWriter::StoreWriter(std::string path, Layout layout, const std::map<std::string, std::string>& metadata,
                         FactKinds kinds, const std::vector<std::string>& files) {
  std::map<std::string, std::string> entries = {{version_key, layout.has_slopes() ? slopes_version
                                                              : layout.coded()    ? codes_version
                                                                                  : numbers_version},
                                                {columns_key, nlohmann::json(layout.names()).dump()}};
  if (layout.coded()) {
    entries.emplace(levels_key, nlohmann::json(layout.levels()).dump());
    entries.emplace(precision_key, layout.number_type() == NumberType::float64 ? "float64" : "float32");
  }
  if (!files.empty()) entries.emplace(files_key, nlohmann::json(files).dump());
  for (const auto& [key, value] : metadata) {
    if (key.starts_with("flymc.")) throw InputError(fmt::format("the metadata key '{}' is taken by the store", key));
    entries.emplace(key, value);
  }
  entries.emplace(checksum_key, checksum(entries));
  std::vector<std::string> keys, values;
  for (const auto& [key, value] : entries) {
    keys.push_back(key);
    values.push_back(value);
  }
  state_ = std::make_unique<State>(path);
  State& state = *state_;
  state.layout = std::move(layout);
  state.facts = FactColumns(kinds);
  state.schema = schema_of(state.layout, kinds)->WithMetadata(arrow::key_value_metadata(keys, values));
  state.block_rows = StoreBuilder::rows_per_block(state.layout);
  state.stream = writable(arrow::io::FileOutputStream::Open(state.pending.path().string()), path);
  state.writer = writable(arrow::ipc::MakeFileWriter(state.stream, state.schema), path);
}

StoreWriter::~StoreWriter() = default;

RowId StoreWriter::rows() const { return state_->rows; }

void StoreWriter::append(std::span<const double> cells, const RowFacts& facts) {
  State& state = *state_;
  if (state.finished) throw InputError("the store is finished; rows cannot be added");
  state.layout.check(state.rows, cells, facts);
  const std::size_t before = state.packed.size();
  state.packed.resize(before + state.layout.row_bytes());
  state.layout.pack(cells, state.packed.data() + before);
  state.facts.push_back(facts);
  ++state.rows;
  if (static_cast<Index>(state.facts.size()) == state.block_rows) state.write_block();
}

void StoreWriter::append(std::span<const double> cells, const RowFacts& facts, std::int64_t file, RowId row) {
  state_->origins.add(state_->begun++, file, row);
  append(cells, facts);
}

void StoreWriter::finish() {
  State& state = *state_;
  if (state.finished) throw InputError("the store is finished already");
  if (state.rows == 0) throw InputError("the table has no rows");
  if (state.facts.size() > 0) state.write_block();
  must_write(state.writer->Close(), state.path);
  must_write(state.stream->Close(), state.path);
  state.pending.commit();
  state.finished = true;
}

}  // namespace flymc
