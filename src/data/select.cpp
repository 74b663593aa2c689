// Which rows are a rank's own, and a store of some rows of all ranks.
#include <algorithm>

#include "flymc/data/store.hpp"

namespace flymc {

RowRange own_rows(const Store& store, const Communicator& communicator) {
  const Share own = own_share(store.blocks(), communicator);
  const auto row_of = [&](std::size_t b) { return std::min(static_cast<RowId>(b) * store.block_rows(), store.rows()); };
  return {row_of(own.first), row_of(own.last)};
}

Store select(const Store& store, std::span<const RowId> own, const Communicator& communicator) {
  if (communicator.size() == 1) return store.select(own);
  const auto features = static_cast<std::size_t>(store.features());
  std::vector<double> x(own.size() * features);
  FactColumns facts(store.fact_kinds());
  store.copy_rows(own, x, facts);
  const auto gather = [&](std::vector<double>& own_values) {
    own_values = gather_all(communicator, std::span<const double>(own_values));
  };
  gather(x);
  facts.each(gather);
  StoreBuilder builder(store.columns(), store.precision(), store.fact_kinds());
  for (std::size_t i = 0; i < facts.size(); ++i) builder.append({x.data() + i * features, features}, facts.spans()[i]);
  return builder.finish();
}

}  // namespace flymc
