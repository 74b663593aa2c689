// Writes blocks of a store as record batches.
#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/io/file.h>
#include <arrow/ipc/writer.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>
#include <fmt/format.h>

#include <algorithm>
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
  StoreContents contents;
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
  std::vector<std::vector<Group>> groups;  // by factor
  Origins origins;
  std::vector<std::uint64_t> keys;  // the origins of scattered rows

  explicit State(const std::string& target) : path(target), pending(target) {}
  void write_block();
};

// Wraps the vectors without a copy; they live until the batch is written.
void StoreWriter::State::write_block() {
  const auto count = static_cast<std::int64_t>(facts.size());
  const Layout& layout = contents.layout;
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
  if (contents.scattered) {
    keys.resize(facts.size());
    arrays.push_back(std::make_shared<arrow::UInt64Array>(count, arrow::Buffer::Wrap(keys)));
  }
  for (const std::vector<Group>& column : groups)
    arrays.push_back(std::make_shared<arrow::UInt32Array>(count, arrow::Buffer::Wrap(column)));
  const std::string sum =
      checksum(packed, facts.spans(), std::vector<std::span<const Group>>(groups.begin(), groups.end()), keys);
  const auto notes = arrow::key_value_metadata({checksum_key}, {sum});
  if (!origins.runs().empty()) notes->Append(origins_key, origins.to_text(0));
  if (begun > 0 && begun < count) notes->Append(begun_key, fmt::format("{}", begun));
  must_write(writer->WriteRecordBatch(*arrow::RecordBatch::Make(schema, count, std::move(arrays)), notes), path);
  packed.clear();
  facts.clear();
  for (std::vector<Group>& column : groups) column.clear();
  origins.clear();
  keys.clear();
  begun = 0;
}

StoreWriter::StoreWriter(std::string path, StoreContents contents) {
  const Layout& layout = contents.layout;
  const bool any_cells = !contents.factors.empty() || contents.scattered;
  check_factors(contents.factors);
  std::map<std::string, std::string> entries = {{version_key, any_cells             ? groups_version
                                                              : layout.has_slopes() ? slopes_version
                                                              : layout.coded()      ? codes_version
                                                                                    : numbers_version},
                                                {columns_key, nlohmann::json(layout.names()).dump()}};
  if (any_cells) entries.emplace(factors_key, factors_text(contents.factors));
  if (any_cells || layout.coded()) {
    entries.emplace(levels_key, nlohmann::json(layout.levels()).dump());
    entries.emplace(precision_key, layout.number_type() == NumberType::float64 ? "float64" : "float32");
  }
  if (!contents.files.empty()) entries.emplace(files_key, nlohmann::json(contents.files).dump());
  for (const auto& [key, value] : contents.metadata) {
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
  state.facts = FactColumns(contents.kinds);
  state.groups.resize(contents.factors.size());
  state.block_rows = StoreBuilder::rows_per_block(layout);
  state.schema = schema_of(contents)->WithMetadata(arrow::key_value_metadata(keys, values));
  state.contents = std::move(contents);
  state.stream = writable(arrow::io::FileOutputStream::Open(state.pending.path().string()), path);
  state.writer = writable(arrow::ipc::MakeFileWriter(state.stream, state.schema), path);
}

StoreWriter::~StoreWriter() = default;

RowId StoreWriter::rows() const { return state_->rows; }

std::byte* StoreWriter::next_row() {
  State& state = *state_;
  const std::size_t before = state.packed.size();
  state.packed.resize(before + state.contents.layout.row_bytes());
  return state.packed.data() + before;
}

void StoreWriter::add(const RowFacts& facts, std::span<const Group> groups) {
  State& state = *state_;
  state.facts.push_back(facts);
  for (std::size_t f = 0; f < groups.size(); ++f) state.groups[f].push_back(groups[f]);
  ++state.rows;
  if (static_cast<Index>(state.facts.size()) == state.block_rows) state.write_block();
}

void StoreWriter::append(std::span<const double> cells, const RowFacts& facts, std::span<const Group> groups) {
  const State& state = *state_;
  if (state.finished) throw InputError("the store is finished; rows cannot be added");
  state.contents.layout.check(state.rows, cells, facts);
  check_groups(state.rows, state.contents.factors, groups);
  state.contents.layout.pack(cells, next_row());
  add(facts, groups);
}

void StoreWriter::append(std::span<const double> cells, const RowFacts& facts, std::int64_t file, RowId row,
                         std::span<const Group> groups) {
  State& state = *state_;
  if (state.contents.scattered)
    state.keys.push_back(origin_key(file, row));
  else
    state.origins.add(state.begun, file, row);
  ++state.begun;
  append(cells, facts, groups);
}

void StoreWriter::append(const std::byte* row, const RowFacts& facts, std::span<const Group> groups,
                         std::uint64_t key) {
  if (key != 0) {
    ++state_->begun;
    state_->keys.push_back(key);
  }
  std::copy_n(row, state_->contents.layout.row_bytes(), next_row());
  add(facts, groups);
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
