// Maps the file of a store into memory.
#include "flymc/data/files/store/store_file.hpp"

#include <arrow/array.h>
#include <arrow/buffer.h>
#include <arrow/io/file.h>
#include <arrow/ipc/reader.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

#include "../table/arrow_status.hpp"
#include "../table/paths.hpp"
#include "flymc/core/names.hpp"
#include "flymc/core/nesting.hpp"
#include "store_format.hpp"

namespace flymc {

using namespace store_format;

namespace {

[[noreturn]] void foreign(const std::string& path, const std::string& why) {
  throw InputError(fmt::format("{}: is not a store of flymc ({}); make it again from the table", path, why));
}

[[noreturn]] void damaged(const std::string& path, const std::string& where) {
  throw InputError(
      fmt::format("{}: {} checksum is wrong: the file is damaged; make it again from the table", path, where));
}

// Returns the layout. Entries that are not the store's own go to `metadata`.
Layout read_metadata(const arrow::Schema& schema, const std::string& path, std::map<std::string, std::string>& metadata,
                     std::vector<std::string>& files) {
  if (schema.metadata() == nullptr) foreign(path, "it carries no names of features");
  std::map<std::string, std::string> own;
  for (const auto& [key, value] : schema.metadata()->sorted_pairs())
    (key.starts_with("flymc.") ? own : metadata).emplace(key, value);
  for (const auto& [key, value] : own)
    if (too_deep(value)) foreign(path, fmt::format("'{}' is nested too deep", on_one_line(key)));
  const std::string version = own[version_key];
  if (!version.empty() && version != numbers_version && version != codes_version && version != slopes_version)
    foreign(path, "it is of version " + version);
  for (const auto& file : nlohmann::json::parse(own[files_key], nullptr, false))
    files.push_back(file.is_string() ? file.get<std::string>() : std::string());
  if (!own.contains(columns_key)) foreign(path, "it carries no names of features");
  const auto list = nlohmann::json::parse(own[columns_key], nullptr, false);
  std::vector<std::string> names;
  for (const auto& name : list) names.push_back(name.is_string() ? name.get<std::string>() : std::string());
  if (!list.is_array() || names.empty()) foreign(path, "its names of features cannot be read");
  if (version != codes_version && version != slopes_version) {
    const auto features = schema.GetFieldByName("features");
    const bool floats = features != nullptr && features->type()->num_fields() == 1 &&
                        features->type()->field(0)->type()->Equals(arrow::float32());
    return Layout(std::move(names), floats ? NumberType::float32 : NumberType::float64);
  }
  try {
    const std::string& precision = own[precision_key];
    if (precision != "float64" && precision != "float32") throw InputError("its precision is unknown");
    return {std::move(names), precision == "float64" ? NumberType::float64 : NumberType::float32,
            nlohmann::json::parse(own[levels_key]).get<std::vector<Index>>()};
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    foreign(path, fmt::format("its levels cannot be read: {}", error.what()));
  }
}

void check_metadata(const arrow::Schema& schema, const std::string& path) {
  std::string expected;
  std::map<std::string, std::string> entries;
  for (const auto& [key, value] : schema.metadata()->sorted_pairs())
    key == checksum_key ? static_cast<void>(expected = value) : static_cast<void>(entries.emplace(key, value));
  if (expected != checksum(entries)) damaged(path, "the schema's");
}

// The pointers of a block. They must point into the mapping, because numbers that Arrow had to copy (compressed or
// byte-swapped) are gone with the batch.
Store::ForeignBlock block_of(const arrow::RecordBatch& batch, const arrow::Buffer& mapping, const Layout& layout,
                             const std::string& path) {
  const arrow::Array& values =
      layout.coded() ? *batch.column(0) : *static_cast<const arrow::FixedSizeListArray&>(*batch.column(0)).values();
  if (values.null_count() != 0) foreign(path, "it has missing values");
  for (const auto& column : batch.columns())
    if (column->null_count() != 0) foreign(path, "it has missing values");
  Store::ForeignBlock block;
  block.rows = batch.num_rows();
  // A pointer to items of `size` bytes, aligned for numbers of `width` bytes.
  const auto bytes = [&](const arrow::Array& array, std::size_t size, std::size_t width) {
    const auto& buffer = array.data()->buffers[1];
    const std::uint8_t* first =
        buffer == nullptr ? nullptr : buffer->data() + array.offset() * static_cast<Index>(size);
    const auto length = array.length() * static_cast<Index>(size);
    if (first == nullptr || first < mapping.data() || first + length > mapping.data() + mapping.size())
      foreign(path, "its numbers cannot be used where they lie");
    if (reinterpret_cast<std::uintptr_t>(first) % width != 0) foreign(path, "its numbers are not aligned");
    return reinterpret_cast<const std::byte*>(first);
  };
  const std::size_t number = bytes_per_number(layout.number_type());
  block.values = bytes(values, layout.coded() ? layout.row_bytes() : number, number);
  const auto facts = [&](const char* name) {
    const auto column = batch.GetColumnByName(name);
    return column == nullptr ? nullptr
                             : reinterpret_cast<const double*>(bytes(*column, sizeof(double), sizeof(double)));
  };
  block.targets = facts("target");
  block.weights = facts("weight");
  block.offsets = facts("offset");
  return block;
}

// One mapped file: its columns, its blocks and its metadata.
struct MappedFile {
  std::shared_ptr<arrow::Buffer> mapping;
  Layout layout;
  FactKinds kinds;
  std::map<std::string, std::string> metadata;
  std::vector<Store::ForeignBlock> blocks;
  std::vector<std::string> checksums;
  std::vector<std::string> files, origins;  // origins are per block; empty: not known
  std::vector<RowId> begun;                 // per block: rows that begin a row of the table
};

MappedFile map_file(const std::string& path) {
  require_file(path);
  require_readable(path);
  const auto file =
      readable(arrow::io::MemoryMappedFile::Open(path, arrow::io::FileMode::READ), path, "cannot be opened as a store");
  const auto size = readable(file->GetSize(), path, "cannot be opened as a store");
  MappedFile out;
  out.mapping = readable(file->ReadAt(0, size), path, "cannot be opened as a store");
  const auto reader = readable(arrow::ipc::RecordBatchFileReader::Open(file), path, "cannot be opened as a store");
  out.layout = read_metadata(*reader->schema(), path, out.metadata, out.files);
  out.kinds = {reader->schema()->GetFieldIndex("weight") >= 0, reader->schema()->GetFieldIndex("offset") >= 0};
  if (!reader->schema()->Equals(*schema_of(out.layout, out.kinds), false))
    foreign(path, "its columns are not `features` and `target`, and perhaps `weight` and `offset`");
  check_metadata(*reader->schema(), path);
  for (int b = 0; b < reader->num_record_batches(); ++b) {
    const auto [batch, notes] = readable(reader->ReadRecordBatchWithCustomMetadata(b), path, "cannot be read");
    if (const auto status = batch->Validate(); !status.ok()) foreign(path, arrow_message(status));
    out.blocks.push_back(block_of(*batch, *out.mapping, out.layout, path));
    out.checksums.push_back(notes == nullptr ? std::string() : notes->Get(checksum_key).ValueOr(""));
    out.origins.push_back(notes == nullptr ? std::string() : notes->Get(origins_key).ValueOr(""));
    out.begun.push_back(batch->num_rows());
    const std::string fewer = notes == nullptr ? std::string() : notes->Get(begun_key).ValueOr("");
    if (const char* const end = fewer.data() + fewer.size();
        !fewer.empty() && (std::from_chars(fewer.data(), end, out.begun.back()).ptr != end || out.begun.back() < 1 ||
                           out.begun.back() > batch->num_rows()))
      foreign(path, "it does not say where its rows came from");
  }
  return out;
}

}  // namespace

void StoreFile::expect(Access access) const {
  // A mapping begins at a page. The kernel may ignore the advice.
  for (const auto& bytes : mapped)
    ::madvise(const_cast<std::byte*>(bytes.data()), bytes.size(),
              access == Access::in_order ? MADV_SEQUENTIAL : MADV_RANDOM);
}

std::string StoreFile::row_name(RowId row) const {
  const auto found = origins.of(row);
  return found ? fmt::format("{}, row {}", files[static_cast<std::size_t>(found->file)], found->row)
               : fmt::format("row {} of the run", row);
}

StoreFile open_store(const std::string& path, Verify verify) {
  const Threads threads;
  return open_store(std::vector{path}, verify, {threads});
}

StoreFile open_store(const std::vector<std::string>& paths, Verify verify, const Execution& execution) {
  if (paths.empty()) throw InputError("no file of rows is named");
  StoreFile result;
  MappedFile all;  // the first file, with the blocks of the others appended
  const auto owner = std::make_shared<std::vector<std::shared_ptr<arrow::Buffer>>>();
  std::vector<std::size_t> last;  // the end of each file, in blocks
  for (const std::string& path : paths) {
    MappedFile file = map_file(path);
    const std::string part = fmt::format("{} of {}", last.size() + 1, paths.size());
    if (const auto own = file.metadata.find("part"); own != file.metadata.end()) {
      if (own->second != part) foreign(path, fmt::format("it is part {} of a table and not {}", own->second, part));
      file.metadata.erase(own);
    }
    owner->push_back(file.mapping);
    result.mapped.push_back(
        std::as_bytes(std::span(file.mapping->data(), static_cast<std::size_t>(file.mapping->size()))));
    if (last.empty()) {
      all = std::move(file);
    } else {
      if (file.layout != all.layout || file.metadata != all.metadata || file.kinds != all.kinds ||
          file.files != all.files)
        foreign(path, "it does not belong to " + paths.front());
      all.blocks.insert(all.blocks.end(), file.blocks.begin(), file.blocks.end());
      all.checksums.insert(all.checksums.end(), file.checksums.begin(), file.checksums.end());
      all.origins.insert(all.origins.end(), file.origins.begin(), file.origins.end());
      all.begun.insert(all.begun.end(), file.begun.begin(), file.begun.end());
    }
    last.push_back(all.blocks.size());
  }
  result.metadata = all.metadata;
  result.files = all.files;
  RowId first = 0;
  for (std::size_t b = 0; b < all.blocks.size(); first += all.begun[b++]) try {
      if (!all.origins[b].empty()) result.origins.add_text(all.origins[b], first, all.begun[b], all.files.size());
    } catch (const InputError& error) {
      foreign(paths.front(), error.what());
    }
  std::string sums;
  for (const std::string& one : all.checksums) sums += one;
  result.fingerprint = fmt::format("{:016x}", XXH3_64bits(sums.data(), sums.size()));
  if (verify == Verify::numbers) {
    result.expect(Access::in_order);
    const std::size_t row_bytes = all.layout.row_bytes();
    const Share own = own_share(all.blocks.size(), execution.communicator);
    execution.threads.run(own.last - own.first, [&](std::size_t i) {
      const std::size_t b = own.first + i;
      const Store::ForeignBlock& block = all.blocks[b];
      const auto rows = static_cast<std::size_t>(block.rows);
      const auto column = [rows](const double* values) { return std::span(values, values ? rows : 0); };
      const FactSpans facts(column(block.targets), column(block.weights), column(block.offsets));
      if (all.checksums[b] == checksum({block.values, rows * row_bytes}, facts)) return;
      const auto in = static_cast<std::size_t>(std::ranges::upper_bound(last, b) - last.begin());
      damaged(paths[in], fmt::format("block {}'s", b - (in == 0 ? 0 : last[in - 1])));
    });
  }
  try {
    result.store = Store::from_blocks(std::move(all.layout), all.blocks, owner);
  } catch (const InputError& error) {
    foreign(paths.front(), error.what());
  }
  return result;
}

}  // namespace flymc
