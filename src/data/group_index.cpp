// Sorts the own rows of a rank by their groups.
#include "flymc/data/group_index.hpp"

#include <array>
#include <limits>
#include <span>

#include "flymc/core/counting_sort.hpp"

namespace flymc {

GroupIndex::GroupIndex(const Store& store, std::size_t factor, const Execution& execution) {
  const Share own = own_share(store.blocks(), execution.communicator);
  const RowRange range = own_rows(store, execution.communicator);
  first_ = range.first;
  std::vector<std::span<const Group>> pieces;
  pieces.reserve(own.last - own.first);
  for (std::size_t b = own.first; b < own.last; ++b) pieces.push_back(store.block(b).groups(factor));
  const auto sort = [&]<class Place>(std::vector<Place>& rows) {
    SortedPlaces<Place> sorted = sort_places<Place>(pieces, store.factors()[factor].groups, execution.threads);
    if (sorted.stray) {
      const RowId row = first_ + static_cast<RowId>(*sorted.stray);
      check_groups(row, {&store.factors()[factor], 1}, std::array{store.group(row, factor)});
    }
    begin_ = std::move(sorted.begin);
    rows = std::move(sorted.order);
  };
  if (range.last - range.first <= RowId{std::numeric_limits<std::uint32_t>::max()})
    sort(narrow_);
  else
    sort(wide_);
}

GroupRows GroupIndex::rows(Group group) const {
  const std::uint64_t begin = begin_[group];
  GroupRows out;
  out.first_ = ordered() ? first_ + static_cast<RowId>(begin) : first_;
  out.size_ = begin_[group + 1] - begin;
  if (!narrow_.empty()) out.narrow_ = narrow_.data() + begin;
  if (!wide_.empty()) out.wide_ = wide_.data() + begin;
  return out;
}

}  // namespace flymc
