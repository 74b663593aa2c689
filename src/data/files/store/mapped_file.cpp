// Reads the schema and the batches of an Arrow IPC file, which must be those that a StoreWriter writes.
#include "mapped_file.hpp"

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/io/file.h>
#include <arrow/ipc/reader.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>
#include <fmt/format.h>

#include <charconv>
#include <map>
#include <nlohmann/json.hpp>

#include "../table/arrow_status.hpp"
#include "../table/paths.hpp"
#include "flymc/core/names.hpp"
#include "flymc/core/nesting.hpp"
#include "store_format.hpp"

namespace flymc {

using namespace store_format;

void foreign_store(const std::string& path, const std::string& why) {
  throw InputError(fmt::format("{}: is not a store of flymc ({}); make it again from the table", path, why));
}

void damaged_store(const std::string& path, const std::string& where) {
  throw InputError(
      fmt::format("{}: {} checksum is wrong: the file is damaged; make it again from the table", path, where));
}

namespace {

// Returns what the file contains. `metadata` gets the entries that are not the store's own.
StoreContents read_metadata(const arrow::Schema& schema, const std::string& path) {
  StoreContents out;
  if (schema.metadata() == nullptr) foreign_store(path, "it carries no names of features");
  std::map<std::string, std::string> own;
  for (const auto& [key, value] : schema.metadata()->sorted_pairs())
    (key.starts_with("flymc.") ? own : out.metadata).emplace(key, value);
  for (const auto& [key, value] : own)
    if (too_deep(value)) foreign_store(path, fmt::format("'{}' is nested too deep", on_one_line(key)));
  const std::string version = own[version_key];
  const bool of_numbers = version.empty() || version == numbers_version;
  if (!of_numbers && version != codes_version && version != slopes_version && version != groups_version)
    foreign_store(path, "it is of version " + version);
  for (const auto& file : nlohmann::json::parse(own[files_key], nullptr, false))
    out.files.push_back(file.is_string() ? file.get<std::string>() : std::string());
  if (!own.contains(columns_key)) foreign_store(path, "it carries no names of features");
  const auto list = nlohmann::json::parse(own[columns_key], nullptr, false);
  std::vector<std::string> names;
  for (const auto& name : list) names.push_back(name.is_string() ? name.get<std::string>() : std::string());
  if (!list.is_array() || names.empty()) foreign_store(path, "its names of features cannot be read");
  if (of_numbers) {
    const auto features = schema.GetFieldByName("features");
    const bool floats = features != nullptr && features->type()->num_fields() == 1 &&
                        features->type()->field(0)->type()->Equals(arrow::float32());
    out.layout = Layout(std::move(names), floats ? NumberType::float32 : NumberType::float64);
    return out;
  }
  try {
    const std::string& precision = own[precision_key];
    if (precision != "float64" && precision != "float32") throw InputError("its precision is unknown");
    out.layout = Layout(std::move(names), precision == "float64" ? NumberType::float64 : NumberType::float32,
                        nlohmann::json::parse(own[levels_key]).get<std::vector<Index>>());
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    foreign_store(path, fmt::format("its levels cannot be read: {}", error.what()));
  }
  try {
    if (version == groups_version) out.factors = factors_from(own[factors_key]);
  } catch (const InputError& error) {
    foreign_store(path, error.what());
  }
  return out;
}

void check_metadata(const arrow::Schema& schema, const std::string& path) {
  std::string expected;
  std::map<std::string, std::string> entries;
  for (const auto& [key, value] : schema.metadata()->sorted_pairs())
    key == checksum_key ? static_cast<void>(expected = value) : static_cast<void>(entries.emplace(key, value));
  if (expected != checksum(entries)) damaged_store(path, "the schema's");
}

// Adds the pointers of a block. They must point into the mapping, because numbers that Arrow had to copy (compressed or
// byte-swapped) are gone with the batch.
void add_block(const arrow::RecordBatch& batch, const std::string& path, MappedFile& out) {
  const Layout& layout = out.contents.layout;
  const arrow::Buffer& mapping = *out.mapping;
  const arrow::Array& values =
      layout.coded() ? *batch.column(0) : *static_cast<const arrow::FixedSizeListArray&>(*batch.column(0)).values();
  if (values.null_count() != 0) foreign_store(path, "it has missing values");
  for (const auto& column : batch.columns())
    if (column->null_count() != 0) foreign_store(path, "it has missing values");
  Store::ForeignBlock block;
  block.rows = batch.num_rows();
  // A pointer to items of `size` bytes, aligned for numbers of `width` bytes.
  const auto bytes = [&](const arrow::Array& array, std::size_t size, std::size_t width) {
    const auto& buffer = array.data()->buffers[1];
    const std::uint8_t* first =
        buffer == nullptr ? nullptr : buffer->data() + array.offset() * static_cast<Index>(size);
    const auto length = array.length() * static_cast<Index>(size);
    if (first == nullptr || first < mapping.data() || first + length > mapping.data() + mapping.size())
      foreign_store(path, "its numbers cannot be used where they lie");
    if (reinterpret_cast<std::uintptr_t>(first) % width != 0) foreign_store(path, "its numbers are not aligned");
    return reinterpret_cast<const std::byte*>(first);
  };
  const std::size_t number = bytes_per_number(layout.number_type());
  block.values = bytes(values, layout.coded() ? layout.row_bytes() : number, number);
  // The columns after the features, in the order of the schema.
  int column = 0;
  const auto next = [&]<class Number>(const Number*) {
    return reinterpret_cast<const Number*>(bytes(*batch.column(++column), sizeof(Number), sizeof(Number)));
  };
  block.targets = next(block.targets);
  if (out.contents.kinds.weight) block.weights = next(block.weights);
  if (out.contents.kinds.offset) block.offsets = next(block.offsets);
  if (out.contents.scattered)
    out.keys.emplace_back(next(static_cast<const std::uint64_t*>(nullptr)), static_cast<std::size_t>(block.rows));
  else
    out.keys.emplace_back();
  for (std::size_t f = 0; f < out.contents.factors.size(); ++f)
    block.groups.push_back(next(static_cast<const Group*>(nullptr)));
  out.blocks.push_back(std::move(block));
}

}  // namespace

MappedFile map_store_file(const std::string& path) {
  require_file(path);
  require_readable(path);
  const auto file =
      readable(arrow::io::MemoryMappedFile::Open(path, arrow::io::FileMode::READ), path, "cannot be opened as a store");
  const auto size = readable(file->GetSize(), path, "cannot be opened as a store");
  MappedFile out;
  out.mapping = readable(file->ReadAt(0, size), path, "cannot be opened as a store");
  const auto reader = readable(arrow::ipc::RecordBatchFileReader::Open(file), path, "cannot be opened as a store");
  out.contents = read_metadata(*reader->schema(), path);
  FactKinds& kinds = out.contents.kinds;
  out.contents.scattered = reader->schema()->GetFieldIndex("origin") >= 0;
  kinds = {reader->schema()->GetFieldIndex("weight") >= 0, reader->schema()->GetFieldIndex("offset") >= 0};
  if (!reader->schema()->Equals(*schema_of(out.contents), false))
    foreign_store(path,
                  "its columns are not `features` and `target`, and perhaps `weight`, `offset`, `origin` and groups");
  check_metadata(*reader->schema(), path);
  for (int b = 0; b < reader->num_record_batches(); ++b) {
    const auto [batch, notes] = readable(reader->ReadRecordBatchWithCustomMetadata(b), path, "cannot be read");
    if (const auto status = batch->Validate(); !status.ok()) foreign_store(path, arrow_message(status));
    add_block(*batch, path, out);
    out.checksums.push_back(notes == nullptr ? std::string() : notes->Get(checksum_key).ValueOr(""));
    out.origins.push_back(notes == nullptr ? std::string() : notes->Get(origins_key).ValueOr(""));
    out.begun.push_back(batch->num_rows());
    const std::string fewer = notes == nullptr ? std::string() : notes->Get(begun_key).ValueOr("");
    if (const char* const end = fewer.data() + fewer.size();
        !fewer.empty() && (std::from_chars(fewer.data(), end, out.begun.back()).ptr != end || out.begun.back() < 1 ||
                           out.begun.back() > batch->num_rows()))
      foreign_store(path, "it does not say where its rows came from");
  }
  return out;
}

}  // namespace flymc
