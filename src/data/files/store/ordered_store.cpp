// Rows wait in their bucket as records: the bytes of the row, its facts, its groups and its origin.
#include "flymc/data/files/store/ordered_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "flymc/core/counting_sort.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/files.hpp"

namespace flymc {
namespace {

[[noreturn]] void changed(const std::string& path) {
  throw InputError(
      fmt::format("{}: its rows are not as many in each group as were counted before: the table changed while it was "
                  "read; run it again when the table is complete",
                  path));
}

// Groups `first` and after, up to the next bucket's.
struct Bucket {
  Group first = 0;
  RowId rows = 0;                 // as announced
  RowId begin = 0;                // the records in the scratch file before its own
  RowId written = 0;              // its records in that file so far
  std::vector<std::byte> buffer;  // the records after them
};

}  // namespace

struct OrderedStoreWriter::State {
  std::string path;
  StoreContents contents;
  std::size_t factor, memory;
  std::size_t groups_at, record_bytes;  // within a record
  StoreWriter writer;
  std::vector<Bucket> buckets;
  std::optional<ScratchFile> scratch;
  std::vector<std::byte> record;  // of one row, as the next member
  std::vector<Group> groups_of_row;
  RowId rows = 0;

  State(const std::string& target, const StoreContents& described, std::size_t by, std::size_t most);
  void make_buckets(std::span<const RowId> rows_of_group);
  std::size_t records_in(std::size_t bytes) const { return std::max<std::size_t>(1, bytes / record_bytes); }
  void append(std::span<const double> cells, const RowFacts& facts, std::span<const Group> groups, std::uint64_t key);
  Group group_of(const std::byte* of_row) const;
  void write(const std::byte* of_row);
  void spill(Bucket& bucket);
  void write_sorted(const Bucket& bucket, Group groups);
  void write_one_group(const Bucket& bucket);
};

OrderedStoreWriter::State::State(const std::string& target, const StoreContents& described, std::size_t by,
                                 std::size_t most)
    : path(target),
      contents(described),
      factor(by),
      memory(most),
      groups_at(contents.layout.row_bytes() +
                sizeof(double) * (1 + (contents.kinds.weight ? 1 : 0) + (contents.kinds.offset ? 1 : 0))),
      record_bytes(groups_at + contents.factors.size() * sizeof(Group) + sizeof(std::uint64_t)),
      writer(target,
             [&] {
               contents.scattered = true;
               return contents;
             }()),
      record(record_bytes),
      groups_of_row(contents.factors.size()) {}

void OrderedStoreWriter::State::make_buckets(std::span<const RowId> rows_of_group) {
  if (factor >= contents.factors.size())
    throw InputError(
        fmt::format("{}: there are {} grouping factors, and no factor {}", path, contents.factors.size(), factor));
  if (rows_of_group.size() != contents.factors[factor].groups)
    throw InputError(fmt::format("{}: the rows of {} groups are counted, and '{}' has {}", path, rows_of_group.size(),
                                 contents.factors[factor].name, contents.factors[factor].groups));
  const auto most = static_cast<RowId>(records_in(memory));
  RowId all = 0;
  buckets.emplace_back();
  for (Group group = 0; group < rows_of_group.size(); ++group) {
    const RowId own = rows_of_group[group];
    if (own < 0 || own > (RowId{1} << 48))
      throw InputError(fmt::format("{}: group {} cannot have {} rows", path, group, own));
    if (buckets.back().rows > 0 && buckets.back().rows + own > most)
      buckets.push_back({.first = group, .rows = 0, .begin = all, .written = 0, .buffer = {}});
    buckets.back().rows += own;
    all += own;
  }
  if (all == 0) throw InputError("the table has no rows");
}

Group OrderedStoreWriter::State::group_of(const std::byte* of_row) const {
  Group group = 0;
  std::memcpy(&group, of_row + groups_at + factor * sizeof group, sizeof group);
  return group;
}

void OrderedStoreWriter::State::append(std::span<const double> cells, const RowFacts& facts,
                                       std::span<const Group> groups, std::uint64_t key) {
  contents.layout.check(rows, cells, facts);
  check_groups(rows, contents.factors, groups);
  ++rows;
  contents.layout.pack(cells, record.data());
  std::byte* to = record.data() + contents.layout.row_bytes();
  const auto put = [&](const void* from, std::size_t bytes) {
    std::memcpy(to, from, bytes);
    to += bytes;
  };
  put(&facts.target, sizeof(double));
  if (contents.kinds.weight) put(&facts.weight, sizeof(double));
  if (contents.kinds.offset) put(&facts.offset, sizeof(double));
  put(groups.data(), groups.size_bytes());
  put(&key, sizeof key);

  Bucket& bucket = *std::prev(std::ranges::upper_bound(buckets, groups[factor], {}, &Bucket::first));
  const std::size_t room = records_in(memory / buckets.size()) * record_bytes;
  if (bucket.buffer.size() == room) spill(bucket);
  if (bucket.written + static_cast<RowId>(bucket.buffer.size() / record_bytes) == bucket.rows) changed(path);
  bucket.buffer.insert(bucket.buffer.end(), record.begin(), record.end());
}

void OrderedStoreWriter::State::spill(Bucket& bucket) {
  if (!scratch) scratch.emplace(path);
  scratch->write(static_cast<std::uint64_t>(bucket.begin + bucket.written) * record_bytes, bucket.buffer);
  bucket.written += static_cast<RowId>(bucket.buffer.size() / record_bytes);
  bucket.buffer.clear();
}

// Appends a record to the store.
void OrderedStoreWriter::State::write(const std::byte* of_row) {
  const std::byte* from = of_row + contents.layout.row_bytes();
  const auto take = [&](auto& to) {
    std::memcpy(&to, from, sizeof to);
    from += sizeof to;
  };
  RowFacts facts(0.0);
  take(facts.target);
  if (contents.kinds.weight) take(facts.weight);
  if (contents.kinds.offset) take(facts.offset);
  for (Group& group : groups_of_row) take(group);
  std::uint64_t key = 0;
  take(key);
  writer.append(of_row, facts, groups_of_row, key);
}

void OrderedStoreWriter::State::write_sorted(const Bucket& bucket, Group groups) {
  const auto rows_of_bucket = static_cast<std::size_t>(bucket.rows);
  std::vector<std::byte> records(rows_of_bucket * record_bytes);
  const std::size_t on_disk = static_cast<std::size_t>(bucket.written) * record_bytes;
  if (on_disk > 0)
    scratch->read(static_cast<std::uint64_t>(bucket.begin) * record_bytes, std::span(records).first(on_disk));
  std::ranges::copy(bucket.buffer, records.begin() + static_cast<std::ptrdiff_t>(on_disk));
  std::vector<std::uint32_t> keys;
  keys.reserve(rows_of_bucket);
  for (std::size_t i = 0; i < rows_of_bucket; ++i)
    keys.push_back(group_of(records.data() + i * record_bytes) - bucket.first);
  const Threads here(1);
  const std::span<const std::uint32_t> piece = keys;
  const SortedPlaces<std::uint32_t> sorted = sort_places<std::uint32_t>({&piece, 1}, groups, here);
  for (std::size_t i = 0; i < rows_of_bucket; ++i)
    write(records.data() + (sorted.order.empty() ? i : sorted.order[i]) * record_bytes);
}

// The rows of a single group are in order, and may be more than memory holds.
void OrderedStoreWriter::State::write_one_group(const Bucket& bucket) {
  std::vector<std::byte> piece;
  std::optional<Group> only;
  const auto write_all = [&](std::span<const std::byte> records) {
    for (std::size_t at = 0; at < records.size(); at += record_bytes) {
      const Group group = group_of(records.data() + at);
      if (only && *only != group) changed(path);
      only = group;
      write(records.data() + at);
    }
  };
  const auto most = static_cast<RowId>(records_in(memory));
  for (RowId at = 0; at < bucket.written; at += most) {
    piece.resize(static_cast<std::size_t>(std::min(most, bucket.written - at)) * record_bytes);
    scratch->read(static_cast<std::uint64_t>(bucket.begin + at) * record_bytes, piece);
    write_all(piece);
  }
  write_all(bucket.buffer);
}

OrderedStoreWriter::OrderedStoreWriter(const std::string& path, const StoreContents& contents, std::size_t factor,
                                       std::span<const RowId> rows_of_group, std::size_t memory)
    : state_(std::make_unique<State>(path, contents, factor, memory)) {
  state_->make_buckets(rows_of_group);
}

OrderedStoreWriter::~OrderedStoreWriter() = default;

void OrderedStoreWriter::append(std::span<const double> cells, const RowFacts& facts, std::span<const Group> groups) {
  state_->append(cells, facts, groups, 0);
}

void OrderedStoreWriter::append(std::span<const double> cells, const RowFacts& facts, std::int64_t file, RowId row,
                                std::span<const Group> groups) {
  state_->append(cells, facts, groups, origin_key(file, row));
}

void OrderedStoreWriter::finish() {
  State& state = *state_;
  const auto most = static_cast<RowId>(state.records_in(state.memory));
  for (std::size_t b = 0; b < state.buckets.size(); ++b) {
    Bucket& bucket = state.buckets[b];
    if (bucket.written + static_cast<RowId>(bucket.buffer.size() / state.record_bytes) < bucket.rows)
      changed(state.path);
    const Group end =
        b + 1 < state.buckets.size() ? state.buckets[b + 1].first : state.contents.factors[state.factor].groups;
    if (bucket.rows > most)
      state.write_one_group(bucket);
    else
      state.write_sorted(bucket, end - bucket.first);
    bucket.buffer = {};
  }
  state.writer.finish();
}

}  // namespace flymc
