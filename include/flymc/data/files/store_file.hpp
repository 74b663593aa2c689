// A store on disk: an Arrow IPC file that is mapped back without a copy.
//
// One column `features`, a fixed-size list of double or float (row-major, so that a row is one read), and one column
// `target` of double; a record batch per block, cut exactly as StoreBuilder cuts them, so that a draw does not depend
// on where the store lives. Rows with codes are bytes of a fixed number, as data/layout.hpp has them, and the levels of
// the cells are in the schema. Any program that reads Arrow can open it. Every batch carries the XXH3 of its numbers as
// custom metadata, and the schema that of its own. Where the rows came from is beside them: the names of the files in
// the schema, and the runs of each batch in its metadata.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "flymc/comm/execution.hpp"
#include "flymc/data/files/origins.hpp"
#include "flymc/data/store.hpp"

namespace flymc {

// Takes rows one by one, in order, and holds one block of them. The file appears at finish(), whole or not at all.
class StoreWriter {
 public:
  // `metadata` is kept in the file as it is; keys that begin with "flymc." are taken.
  StoreWriter(std::string path, Layout layout, const std::map<std::string, std::string>& metadata = {},
              FactKinds kinds = {}, const std::vector<std::string>& files = {});
  // Of a number for each column.
  StoreWriter(std::string path, std::vector<std::string> columns, NumberType number_type = NumberType::float64,
              const std::map<std::string, std::string>& metadata = {}, FactKinds kinds = {},
              const std::vector<std::string>& files = {})
      : StoreWriter(std::move(path), Layout(std::move(columns), number_type), metadata, kinds, files) {}
  ~StoreWriter();
  StoreWriter(const StoreWriter&) = delete;
  StoreWriter& operator=(const StoreWriter&) = delete;

  // Throws InputError if the row does not pass Layout::check, FileError if it cannot be written.
  void append(std::span<const double> cells, const RowFacts& facts);
  // The same for row `row` of a file, which counts from 1; `file` is an index into `files`. Where a row of a file becomes
  // several rows, the first one says so, and the others are appended without.
  void append(std::span<const double> cells, const RowFacts& facts, std::int64_t file, RowId row);
  RowId rows() const;
  // Throws InputError if there are no rows, FileError if the file cannot be written.
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// How rows are about to be read. It makes nothing right or wrong, only fast: what comes in order is fetched ahead and
// may be forgotten soon; what is needed here and there comes alone, a page and not its neighbours.
enum class Access { in_order, here_and_there };

struct StoreFile {
  Store store;
  std::map<std::string, std::string> metadata;
  std::string fingerprint;                         // of all numbers, by the checksums of the blocks
  std::vector<std::span<const std::byte>> mapped;  // kept by the store
  std::vector<std::string> files;                  // that the rows came from, and
  Origins origins;  // which of their rows, by the numbers of rows that said so; none of a store that does not know
  // Of a number as the origins have it: "file, row 7", or "row 6 of the run" where that is all that is known.
  std::string row_name(RowId row) const;
  void expect(Access access) const;
};

// What is held against its checksum when a store is opened. One flipped bit would make another posterior, so before
// passes over the rows are made all numbers are read once; where a few rows will be looked at, that would be the pass
// that everything else avoids.
enum class Verify { numbers, metadata };

// Maps a file that a StoreWriter wrote. Throws InputError, naming it, if it is damaged or something else.
StoreFile open_store(const std::string& path, Verify verify = Verify::numbers);
// The same for several files that follow each other, as ranks write them: each begins at a block, and says in its
// metadata which `part` it is ("2 of 4"). A rank verifies the numbers of its own blocks.
StoreFile open_store(const std::vector<std::string>& paths, Verify verify, const Execution& execution);

}  // namespace flymc
