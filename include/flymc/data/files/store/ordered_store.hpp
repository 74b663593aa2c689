// Writes a store in the order of a grouping factor, from rows in the order of their table.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "flymc/data/files/store/store_file.hpp"

namespace flymc {

// A stable counting sort that works for stores larger than memory, because the number of rows of each group is known
// before. Consecutive groups form a bucket of at most `memory` bytes. A row is first written to its bucket, whose place
// in a scratch file is known. Then each bucket is read, sorted, and appended to the store. So all rows are written
// twice and read once, in large pieces; without a file if they fit in `memory`. A group that is larger than that is a
// bucket by itself and is only copied. In use are about twice `memory`, and 12 bytes per group.
class OrderedStoreWriter {
 public:
  static constexpr std::size_t usual_memory = std::size_t{1} << 28;

  // `rows_of_group` has, for each group of factor `factor`, the number of rows that will be appended. Throws InputError
  // as StoreWriter does, or if they are not as many numbers as groups, or none is positive.
  OrderedStoreWriter(const std::string& path, const StoreContents& contents, std::size_t factor,
                     std::span<const RowId> rows_of_group, std::size_t memory = usual_memory);
  ~OrderedStoreWriter();
  OrderedStoreWriter(const OrderedStoreWriter&) = delete;
  OrderedStoreWriter& operator=(const OrderedStoreWriter&) = delete;

  // Throw InputError if StoreWriter would refuse the row, or there are more rows of its bucket than were announced;
  // FileError if it cannot be written.
  void append(std::span<const double> cells, const RowFacts& facts, std::span<const Group> groups);
  void append(std::span<const double> cells, const RowFacts& facts, std::int64_t file, RowId row,
              std::span<const Group> groups);
  // Sorts. Throws InputError if there are fewer rows than were announced, FileError if the file cannot be written.
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace flymc
