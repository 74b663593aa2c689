// A store on disk: an Arrow IPC file that is mapped back without a copy.
//
// It has one column `features`, a fixed-size list of double or float (row-major, so that a row is one read), one column
// `target` of double, and `weight` and `offset` if the table has them. There is a record batch per block, cut exactly
// as StoreBuilder cuts them, so that a draw does not depend on where the store is. Rows with codes have a fixed number
// of bytes (data/layout.hpp), and the levels of their cells are in the schema. Any program that reads Arrow can open
// the file. The custom metadata of every batch has the XXH3 of its numbers, and the schema has that of its own
// metadata. The origins of rows are stored too: names of files in the schema, and the runs of each batch in its
// metadata.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "flymc/comm/execution.hpp"
#include "flymc/data/files/store/origins.hpp"
#include "flymc/data/store.hpp"

namespace flymc {

// Takes rows one by one, in order, and holds one block of them. The file appears at finish(), whole or not at all.
class StoreWriter {
 public:
  // `metadata` is stored in the file unchanged; keys that begin with "flymc." are reserved.
  StoreWriter(std::string path, Layout layout, const std::map<std::string, std::string>& metadata = {},
              FactKinds kinds = {}, const std::vector<std::string>& files = {});
  // For rows with a number for each column.
  StoreWriter(std::string path, std::vector<std::string> columns, NumberType number_type = NumberType::float64,
              const std::map<std::string, std::string>& metadata = {}, FactKinds kinds = {},
              const std::vector<std::string>& files = {})
      : StoreWriter(std::move(path), Layout(std::move(columns), number_type), metadata, kinds, files) {}
  ~StoreWriter();
  StoreWriter(const StoreWriter&) = delete;
  StoreWriter& operator=(const StoreWriter&) = delete;

  // Throws InputError if Layout::check refuses the row, FileError if it cannot be written.
  void append(std::span<const double> cells, const RowFacts& facts);
  // The same, for row `row` (counted from 1) of file `file`, an index into `files`. If a row of a file becomes several
  // rows of the store, append the first one with its origin and the others without.
  void append(std::span<const double> cells, const RowFacts& facts, std::int64_t file, RowId row);
  RowId rows() const;
  // Throws InputError if there are no rows, FileError if the file cannot be written.
  void finish();

 private:
  struct State;
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
  Origins origins;                                 // the rows that have an origin; empty for a store without origins
  // The origin of a row as text: "file, row 7", or "row 6 of the run" if the origin is not known.
  std::string row_name(RowId row) const;
  void expect(Access access) const;
};

// The parts that are compared with their checksum when a store is opened. One flipped bit would change the posterior,
// so all numbers are read once before passes over the rows. If only a few rows are needed, `metadata` avoids that pass.
enum class Verify { numbers, metadata };

// Maps a file that a StoreWriter wrote. Throws InputError, naming the file, if it is damaged or not a store.
StoreFile open_store(const std::string& path, Verify verify = Verify::numbers);
// The same for several files that follow each other, as ranks write them. Each begins at a block, and has its `part`
// ("2 of 4") in its metadata. A rank verifies the numbers of its own blocks.
StoreFile open_store(const std::vector<std::string>& paths, Verify verify, const Execution& execution);

}  // namespace flymc
