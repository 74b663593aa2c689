// A store on disk: an Arrow IPC file that is mapped back without a copy.
//
// It has one column `features`, a fixed-size list of double or float (row-major, so that a row is one read), one column
// `target` of double, `weight` and `offset` if the table has them, and for each grouping factor F a column `group[F]`
// of uint32. There is a record batch per block, cut exactly
// as StoreBuilder cuts them, so that a draw does not depend on where the store is. Rows with codes have a fixed number
// of bytes (data/layout.hpp), and the levels of their cells are in the schema. Any program that reads Arrow can open
// the file. The custom metadata of every batch has the XXH3 of its numbers, and the schema has that of its own
// metadata. The origins of rows are stored too: names of files in the schema, and the runs of each batch in its
// metadata. If rows are scattered there would be as many runs as rows. The file then has a column `origin` of uint64,
// with a number for each row of the table (origin_key) and zeros at the end of a batch where there are fewer of these.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "flymc/comm/execution.hpp"
#include "flymc/data/files/store/origins.hpp"
#include "flymc/data/store.hpp"

namespace flymc {

// Describes the rows of a store's file.
struct StoreContents {
  Layout layout;
  FactKinds kinds = {};
  std::vector<GroupFactor> factors = {};
  std::map<std::string, std::string> metadata = {};  // stored unchanged; keys that begin with "flymc." are reserved
  std::vector<std::string> files = {};               // the files that the rows come from
  bool scattered = false;  // whether rows that follow each other come from distant places of the files
  bool operator==(const StoreContents&) const = default;
};

// Takes rows one by one, in order, and holds one block of them. The file appears at finish(), whole or not at all.
class StoreWriter {
 public:
  // Throws InputError if a key of the metadata is reserved, or check_factors refuses the factors.
  StoreWriter(std::string path, StoreContents contents);
  // For rows with a number for each column.
  StoreWriter(std::string path, std::vector<std::string> columns, NumberType number_type = NumberType::float64,
              std::map<std::string, std::string> metadata = {}, FactKinds kinds = {},
              std::vector<std::string> files = {})
      : StoreWriter(std::move(path), {.layout = Layout(std::move(columns), number_type),
                                      .kinds = kinds,
                                      .metadata = std::move(metadata),
                                      .files = std::move(files)}) {}
  ~StoreWriter();
  StoreWriter(const StoreWriter&) = delete;
  StoreWriter& operator=(const StoreWriter&) = delete;

  // Throws InputError if Layout::check or check_groups refuses the row, FileError if it cannot be written.
  void append(std::span<const double> cells, const RowFacts& facts, std::span<const Group> groups = {});
  // The same, for row `row` (counted from 1) of file `file`, an index into `files`. If a row of a file becomes several
  // rows of the store, append the first one with its origin and the others without.
  void append(std::span<const double> cells, const RowFacts& facts, std::int64_t file, RowId row,
              std::span<const Group> groups = {});
  // For scattered rows: appends the bytes of a row that Layout::pack wrote after the checks. `key` is its origin_key,
  // or 0 for a row without an origin.
  void append(const std::byte* row, const RowFacts& facts, std::span<const Group> groups, std::uint64_t key);
  RowId rows() const;
  // Throws InputError if there are no rows, FileError if the file cannot be written.
  void finish();

 private:
  struct State;
  std::byte* next_row();
  void add(const RowFacts& facts, std::span<const Group> groups);
  std::unique_ptr<State> state_;
};

// How rows are about to be read. This affects only speed: rows read in order are fetched ahead and may be evicted soon;
// for single rows only their own page is fetched.
enum class Access { in_order, here_and_there };

struct StoreFile {
  Store store;
  std::map<std::string, std::string> metadata;
  std::string fingerprint;                         // of all numbers, from the checksums of the blocks
  std::vector<std::span<const std::byte>> mapped;  // memory that belongs to the store
  std::vector<std::string> files;                  // the files that the rows came from
  Origins origins;  // of rows of the table; empty for a store without origins, or whose rows are scattered
  // The origins of scattered rows: for each block, the rows of the table before it, and the keys of its own.
  struct Keys {
    RowId first = 0;
    std::span<const std::uint64_t> keys;
  };
  std::vector<Keys> scattered;
  // Where a row of the table came from, as a run that begins at it; empty if it is not known.
  std::optional<Origins::Run> origin(RowId row) const;
  // The origin of a row as text: "file, row 7", or "row 6 of the run" if the origin is not known.
  std::string row_name(RowId row) const;
  void expect(Access access) const;
};

// The parts that are compared with their checksum when a store is opened. One flipped bit would change the posterior,
// so all numbers are read once before passes over the rows. If only a few rows are needed, `metadata` avoids that pass.
enum class Verify { numbers, metadata };

// Maps a file that a StoreWriter wrote. Throws InputError, naming the file, if it is damaged or not a store. With
// Verify::numbers, all groups exist.
StoreFile open_store(const std::string& path, Verify verify = Verify::numbers);
// The same for several files that follow each other, as ranks write them. Each begins at a block, and has its `part`
// ("2 of 4") in its metadata. A rank verifies the numbers of its own blocks.
StoreFile open_store(const std::vector<std::string>& paths, Verify verify, const Execution& execution);

}  // namespace flymc
