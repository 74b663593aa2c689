// From the groups of a factor to their rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "flymc/comm/execution.hpp"
#include "flymc/data/groups.hpp"
#include "flymc/data/store.hpp"

namespace flymc {

// The rows of a group, ascending.
class GroupRows {
 public:
  std::size_t size() const { return size_; }
  RowId operator[](std::size_t i) const {
    return first_ + static_cast<RowId>(narrow_ ? narrow_[i] : wide_ ? wide_[i] : i);
  }
  // Whether they are the rows (*this)[0] + 0, 1, 2, ..., because the index has no list.
  bool consecutive() const { return !narrow_ && !wide_; }

 private:
  friend class GroupIndex;
  RowId first_ = 0;  // the numbers in the lists count from here
  std::size_t size_ = 0;
  const std::uint32_t* narrow_ = nullptr;
  const std::uint64_t* wide_ = nullptr;
};

// Compressed sparse rows: 8 bytes per group, and 4 bytes per row (8 for more than 2^32 rows). If the rows are in the
// order of the factor, the rows of a group are a range, and there are no bytes per row.
//
// Ranks share the rows by blocks, whatever their order, so a group may have rows on several ranks. The index of a rank
// leads to its own rows alone: sum over the own rows of a group, and then over the ranks. If the rows are in the order
// of the factor, each boundary between two ranks divides at most one group.
class GroupIndex {
 public:
  GroupIndex() = default;  // no groups
  // Reads the group numbers of the own rows twice. Throws InputError, naming row and factor, if one is too large, which
  // a file can contain whose numbers were not verified.
  GroupIndex(const Store& store, std::size_t factor, const Execution& execution);

  Group groups() const { return begin_.empty() ? 0 : static_cast<Group>(begin_.size() - 1); }
  // Whether the own rows are in the order of the factor.
  bool ordered() const { return narrow_.empty() && wide_.empty(); }
  GroupRows rows(Group group) const;

 private:
  RowId first_ = 0;                   // the first own row; the lists count from it
  std::vector<std::uint64_t> begin_;  // of each group in the lists, and the end
  std::vector<std::uint32_t> narrow_;
  std::vector<std::uint64_t> wide_;
};

}  // namespace flymc
