// Builds a store from rows, one at a time.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "flymc/core/error.hpp"
#include "flymc/data/store.hpp"

namespace flymc {

StoreBuilder::StoreBuilder(Layout layout, FactKinds kinds, std::vector<GroupFactor> factors)
    : store_(std::move(layout), std::move(factors)), arena_(std::make_shared<Arena>()) {
  store_.fact_kinds_ = kinds;
}

Index StoreBuilder::rows_per_block(const Layout& layout) {
  const Index few = rows_per_block(layout.cells());
  if (!layout.coded()) return few;
  const double products = std::pow(static_cast<double>(layout.features()) / static_cast<double>(layout.cells()), 2);
  const auto rows = static_cast<std::uint64_t>(std::min(16.0 * products, 1048576.0));
  return std::max<Index>(few, static_cast<Index>(std::bit_floor(rows)));
}

Index StoreBuilder::rows_per_block(Index features) {
  const auto rows = static_cast<std::uint64_t>(std::max<Index>(1, (Index{1} << 18) / features));
  return std::clamp<Index>(static_cast<Index>(std::bit_floor(rows)), 256, 16384);
}

// Allocates a whole block: rows, then targets, weights and offsets, then the groups of each factor. Memory that a short last block does not use is
// never touched.
void StoreBuilder::open_block() {
  const auto rows = static_cast<std::size_t>(store_.block_rows_);
  const std::size_t row_bytes = store_.layout_->row_bytes();
  const auto [weight, offset] = store_.fact_kinds_;
  const std::size_t facts = 1 + (weight ? 1 : 0) + (offset ? 1 : 0);
  auto* memory = static_cast<std::byte*>(
      arena_->allocate(rows * (row_bytes + facts * sizeof(double) + store_.factors_.size() * sizeof(Group))));
  values_ = memory;
  targets_ = reinterpret_cast<double*>(memory + rows * row_bytes);
  weights_ = weight ? targets_ + rows : nullptr;
  offsets_ = offset ? targets_ + (facts - 1) * rows : nullptr;
  groups_.clear();
  for (std::size_t f = 0; f < store_.factors_.size(); ++f)
    groups_.push_back(reinterpret_cast<Group*>(targets_ + facts * rows) + f * rows);
}

void StoreBuilder::close_block() {
  store_.add_block({.values = values_,
                    .targets = targets_,
                    .weights = weights_,
                    .offsets = offsets_,
                    .rows = filled_,
                    .groups = {groups_.begin(), groups_.end()}},
                   arena_);
  filled_ = 0;
}

std::byte* StoreBuilder::next_row() {
  if (filled_ == 0) open_block();
  return values_ + static_cast<std::size_t>(filled_) * store_.layout_->row_bytes();
}

void StoreBuilder::add_facts(const RowFacts& facts, std::span<const Group> groups) {
  targets_[filled_] = facts.target;
  if (weights_) weights_[filled_] = facts.weight;
  if (offsets_) offsets_[filled_] = facts.offset;
  for (std::size_t f = 0; f < groups_.size(); ++f) groups_[f][filled_] = groups[f];
  if (++filled_ == store_.block_rows_) close_block();
}

void StoreBuilder::append(std::span<const double> cells, const RowFacts& facts, std::span<const Group> groups) {
  if (!arena_) throw InputError("the store is finished; rows cannot be added");
  store_.layout_->check(store_.rows_ + filled_, cells, facts);
  check_groups(store_.rows_ + filled_, store_.factors_, groups);
  store_.layout_->pack(cells, next_row());
  add_facts(facts, groups);
}

void StoreBuilder::append(const std::byte* row, const RowFacts& facts, std::span<const Group> groups) {
  std::copy_n(row, store_.layout_->row_bytes(), next_row());
  add_facts(facts, groups);
}

Store StoreBuilder::finish() {
  if (!arena_) throw InputError("the store is finished already");
  if (filled_ > 0) close_block();
  if (store_.rows_ == 0) throw InputError("the table has no rows");
  arena_.reset();
  return std::move(store_);
}

Store Store::from_matrix(const RowMatrix& features, const Vector& targets, std::vector<std::string> columns,
                         NumberType number_type, const Vector& weights, const Vector& offsets) {
  const auto check_size = [&](const char* what, const Vector& values, bool needed) {
    if (features.rows() != values.size() && (needed || values.size() > 0))
      throw InputError(fmt::format("{} rows of features but {} {}", features.rows(), values.size(), what));
  };
  check_size("targets", targets, true);
  check_size("weights", weights, false);
  check_size("offsets", offsets, false);
  if (columns.empty())
    for (Index j = 0; j < features.cols(); ++j) columns.push_back(fmt::format("x{}", j));
  if (static_cast<Index>(columns.size()) != features.cols())
    throw InputError(fmt::format("{} column names for {} columns", columns.size(), features.cols()));
  StoreBuilder builder(std::move(columns), number_type, {weights.size() > 0, offsets.size() > 0});
  for (Index i = 0; i < features.rows(); ++i)
    builder.append({features.row(i).data(), static_cast<std::size_t>(features.cols())},
                   {targets[i], weights.size() > 0 ? weights[i] : 1.0, offsets.size() > 0 ? offsets[i] : 0.0});
  return builder.finish();
}

}  // namespace flymc
