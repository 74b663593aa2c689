// The rows of a rank, and copies of rows on every rank.
#include <algorithm>
#include <utility>

#include "flymc/data/store.hpp"

namespace flymc {

RowRange own_rows(const Store& store, const Communicator& communicator) {
  const Share own = own_share(store.blocks(), communicator);
  const auto row_of = [&](std::size_t b) { return std::min(static_cast<RowId>(b) * store.block_rows(), store.rows()); };
  return {row_of(own.first), row_of(own.last)};
}

Store select(const Store& store, std::span<const RowId> own, const Communicator& communicator) {
  if (communicator.size() == 1) return store.select(own);
  const std::size_t row_bytes = store.layout().row_bytes();
  std::vector<std::byte> rows;
  FactColumns facts(store.fact_kinds());
  const std::size_t factors = store.factors().size();
  std::vector<Group> groups;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const std::byte* row = store.fetch(own, i);
    rows.insert(rows.end(), row, row + row_bytes);
    facts.push_back(store.facts(own[i]));
    for (std::size_t f = 0; f < factors; ++f) groups.push_back(store.group(own[i], f));
  }
  const auto gather = [&](auto& own_values) {
    own_values = gather_all(communicator, std::span(std::as_const(own_values)));
  };
  gather(rows);
  facts.each(gather);
  gather(groups);
  StoreBuilder builder(store.layout(), store.fact_kinds(), store.factors());
  for (std::size_t i = 0; i < facts.size(); ++i)
    builder.append(rows.data() + i * row_bytes, facts.spans()[i], std::span(groups).subspan(i * factors, factors));
  return builder.finish();
}

}  // namespace flymc
