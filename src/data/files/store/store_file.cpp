// Opens the files of a store, which follow each other.
#include "flymc/data/files/store/store_file.hpp"

#include <arrow/buffer.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <xxhash.h>

#include <algorithm>

#include "flymc/core/error.hpp"
#include "mapped_file.hpp"
#include "store_format.hpp"

namespace flymc {

using namespace store_format;

void StoreFile::expect(Access access) const {
  // A mapping begins at a page. The kernel may ignore the advice.
  for (const auto& bytes : mapped)
    ::madvise(const_cast<std::byte*>(bytes.data()), bytes.size(),
              access == Access::in_order ? MADV_SEQUENTIAL : MADV_RANDOM);
}

std::optional<Origins::Run> StoreFile::origin(RowId row) const {
  if (scattered.empty()) return origins.of(row);
  const Keys& block = *std::prev(std::ranges::upper_bound(scattered, row, {}, &Keys::first));
  const auto i = static_cast<std::size_t>(row - block.first);
  const std::uint64_t key = i < block.keys.size() ? block.keys[i] : 0;
  const auto file = static_cast<std::int64_t>(key >> 44);
  if (key == 0 || file >= static_cast<std::int64_t>(files.size())) return std::nullopt;
  return Origins::Run{row, file, static_cast<RowId>(key & ((std::uint64_t{1} << 44) - 1))};
}

std::string StoreFile::row_name(RowId row) const {
  const auto found = origin(row);
  return found ? fmt::format("{}, row {}", files[static_cast<std::size_t>(found->file)], found->row)
               : fmt::format("row {} of the run", row);
}

namespace {

// Compares the numbers of the blocks of this rank's share with their checksums, and looks whether all groups exist.
// `last` is the end of each file, in blocks.
void verify_numbers(const MappedFile& all, const std::vector<std::string>& paths, const std::vector<std::size_t>& last,
                    const Execution& execution) {
  const std::size_t row_bytes = all.contents.layout.row_bytes();
  const Share own = own_share(all.blocks.size(), execution.communicator);
  execution.threads.run(own.last - own.first, [&](std::size_t i) {
    const std::size_t b = own.first + i;
    const Store::ForeignBlock& block = all.blocks[b];
    const auto rows = static_cast<std::size_t>(block.rows);
    const auto column = [rows](const double* values) { return std::span(values, values ? rows : 0); };
    const FactSpans facts(column(block.targets), column(block.weights), column(block.offsets));
    std::vector<std::span<const Group>> groups;
    for (const Group* const of_rows : block.groups) groups.emplace_back(of_rows, rows);
    const auto in = static_cast<std::size_t>(std::ranges::upper_bound(last, b) - last.begin());
    const std::string where = fmt::format("block {}'s", b - (in == 0 ? 0 : last[in - 1]));
    if (all.checksums[b] != checksum({block.values, rows * row_bytes}, facts, groups, all.keys[b]))
      damaged_store(paths[in], where);
    for (std::size_t f = 0; f < groups.size(); ++f)
      if (const GroupFactor& factor = all.contents.factors[f]; rows > 0 && std::ranges::max(groups[f]) >= factor.groups)
        foreign_store(paths[in],
                      fmt::format("{} groups of '{}' are not all below {}", where, factor.name, factor.groups));
  });
}

}  // namespace

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
    MappedFile file = map_store_file(path);
    const std::string part = fmt::format("{} of {}", last.size() + 1, paths.size());
    StoreContents& contents = file.contents;
    if (const auto own = contents.metadata.find("part"); own != contents.metadata.end()) {
      if (own->second != part)
        foreign_store(path, fmt::format("it is part {} of a table and not {}", own->second, part));
      contents.metadata.erase(own);
    }
    owner->push_back(file.mapping);
    result.mapped.push_back(
        std::as_bytes(std::span(file.mapping->data(), static_cast<std::size_t>(file.mapping->size()))));
    if (last.empty()) {
      all = std::move(file);
    } else {
      if (contents != all.contents) foreign_store(path, "it does not belong to " + paths.front());
      all.blocks.insert(all.blocks.end(), file.blocks.begin(), file.blocks.end());
      all.checksums.insert(all.checksums.end(), file.checksums.begin(), file.checksums.end());
      all.origins.insert(all.origins.end(), file.origins.begin(), file.origins.end());
      all.begun.insert(all.begun.end(), file.begun.begin(), file.begun.end());
      all.keys.insert(all.keys.end(), file.keys.begin(), file.keys.end());
    }
    last.push_back(all.blocks.size());
  }
  result.metadata = std::move(all.contents.metadata);
  result.files = std::move(all.contents.files);
  RowId first = 0;
  for (std::size_t b = 0; b < all.blocks.size(); first += all.begun[b++]) try {
      if (all.contents.scattered)
        result.scattered.push_back({first, all.keys[b].first(static_cast<std::size_t>(all.begun[b]))});
      else if (!all.origins[b].empty())
        result.origins.add_text(all.origins[b], first, all.begun[b], result.files.size());
    } catch (const InputError& error) {
      foreign_store(paths.front(), error.what());
    }
  std::string sums;
  for (const std::string& one : all.checksums) sums += one;
  result.fingerprint = fmt::format("{:016x}", XXH3_64bits(sums.data(), sums.size()));
  if (verify == Verify::numbers) {
    result.expect(Access::in_order);
    verify_numbers(all, paths, last, execution);
  }
  try {
    result.store =
        Store::from_blocks(std::move(all.contents.layout), all.blocks, owner, std::move(all.contents.factors));
  } catch (const InputError& error) {
    foreign_store(paths.front(), error.what());
  }
  return result;
}

}  // namespace flymc
