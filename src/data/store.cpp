// A store of blocks, and access to single rows.
#include "flymc/data/store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "flymc/core/error.hpp"

namespace flymc {

Store::Store(Layout layout, std::vector<GroupFactor> factors)
    : factors_(std::move(factors)), layout_(std::make_shared<const Layout>(std::move(layout))) {
  check_factors(factors_);
  block_rows_ = StoreBuilder::rows_per_block(*layout_);
  block_shift_ = std::countr_zero(static_cast<std::uint64_t>(block_rows_));
}

void Store::add_block(ForeignBlock block, std::shared_ptr<const void> owner) {
  Holder holder;
  Block& view = holder.view;
  view.first_row_ = rows_;
  view.rows_ = block.rows;
  view.layout_ = layout_.get();
  view.values_ = block.values;
  view.targets_ = block.targets;
  view.weights_ = block.weights;
  view.offsets_ = block.offsets;
  view.groups_ = std::move(block.groups);
  fact_kinds_ = {block.weights != nullptr, block.offsets != nullptr};
  holder.owner = std::move(owner);
  blocks_.push_back(std::move(holder));
  rows_ += block.rows;
}

Store Store::from_blocks(Layout layout, std::span<const ForeignBlock> blocks, std::shared_ptr<const void> owner,
                         std::vector<GroupFactor> factors) {
  Store store(std::move(layout), std::move(factors));
  if (blocks.empty()) throw InputError("the table has no rows");
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const Index rows = blocks[b].rows;
    const bool last = b + 1 == blocks.size();
    if (last ? rows < 1 || rows > store.block_rows_ : rows != store.block_rows_)
      throw InputError(fmt::format("block {} has {} rows; every block of {} columns but the last has {}", b, rows,
                                   store.features(), store.block_rows_));
    if (blocks[b].groups.size() != store.factors_.size())
      throw InputError(fmt::format("block {} has groups of {} factors, expected {}", b, blocks[b].groups.size(),
                                   store.factors_.size()));
    store.add_block(blocks[b], owner);
  }
  return store;
}

inline Store::Address Store::address(RowId row) const {
  const Block& block = blocks_[static_cast<std::size_t>(row >> block_shift_)].view;
  const auto in_block = static_cast<std::size_t>(row & (block_rows_ - 1));
  return {block, in_block, block.values_ + in_block * layout_->row_bytes()};
}

namespace {

// Memory for the entries of a row.
struct OneRow {
  explicit OneRow(const Layout& layout)
      : feature(static_cast<std::size_t>(layout.cells())), value(static_cast<std::size_t>(layout.cells())) {}
  std::vector<std::int32_t> feature;
  std::vector<double> value;
};

}  // namespace

// Calls visit(x) with each row's features; dot and add_scaled accept x.
template <class Visit>
void Store::with_rows(std::span<const RowId> rows, Visit&& visit) const {
  if (layout_->coded()) {
    OneRow room(*layout_);
    for (const RowId row : rows) {
      layout_->unpack(address(row).bytes, 1, room.feature.data(), room.value.data());
      visit(Entries{room.feature.data(), room.value.data(), layout_->cells()});
    }
  } else if (number_type() == NumberType::float64) {
    for (const RowId row : rows) visit(Numbers<double>{address(row).bytes, features()});
  } else {
    for (const RowId row : rows) visit(Numbers<float>{address(row).bytes, features()});
  }
}

RowFacts Store::facts(RowId row) const {
  const auto [block, i, bytes] = address(row);
  return {block.targets_[i], block.weights_ ? block.weights_[i] : 1.0, block.offsets_ ? block.offsets_[i] : 0.0};
}

Group Store::group(RowId row, std::size_t factor) const {
  const auto [block, i, bytes] = address(row);
  return block.groups_[factor][i];
}

double Store::value(RowId row, Index column) const {
  double out = 0.0;
  with_rows({&row, 1}, [&](const auto& x) { out = value_of(x, column); });
  return out;
}

// Prefetches a row that is read soon. The first lines of a long row are enough: the hardware prefetcher continues.
void Store::ask_for(RowId row) const {
  constexpr std::size_t line = 64, most = 1024;
  const auto [block, in_block, bytes] = address(row);
  const std::byte* last = bytes + std::min(layout_->row_bytes(), most) - 1;  // a row may begin inside a line
  for (const std::byte* at = bytes; at < last; at += line) __builtin_prefetch(at);
  __builtin_prefetch(last);
  for (const double* column : {block.targets_, block.weights_, block.offsets_})
    if (column) __builtin_prefetch(column + in_block);
  for (const Group* column : block.groups_) __builtin_prefetch(column + in_block);
  // GCC treats a function that only prefetches as having no effect, and drops calls of it.
  asm volatile("");
}

// Rows that lie far apart come from memory and not from the cache, so the next few are prefetched while one is copied.
const std::byte* Store::fetch(std::span<const RowId> rows, std::size_t i) const {
  constexpr std::size_t ahead = 6;
  if (i == 0)
    for (std::size_t j = 0; j < std::min(ahead, rows.size()); ++j) ask_for(rows[j]);
  if (i + ahead < rows.size()) ask_for(rows[i + ahead]);
  return address(rows[i]).bytes;
}

void Store::project(std::span<const RowId> rows, const Matrix& theta, std::span<double> out) const {
  std::size_t at = 0;
  with_rows(rows, [&](const auto& x) {
    for (Index k = 0; k < theta.cols(); ++k) out[at++] = dot(x, theta.col(k).data());
  });
}

void Store::predict(std::span<const RowId> rows, const Matrix& theta, std::span<double> eta) const {
  project(rows, theta, eta);
  if (!fact_kinds_.offset) return;
  const auto k = static_cast<std::size_t>(theta.cols());
  for (std::size_t e = 0; e < eta.size(); e += k) eta[e] += facts(rows[e / k]).offset;
}

void Store::add_weighted_rows(std::span<const RowId> rows, std::span<const double> weight, Matrix& out) const {
  std::size_t in = 0;
  with_rows(rows, [&](const auto& x) {
    for (Index k = 0; k < out.cols(); ++k) add_scaled(weight[in++], x, out.col(k).data());
  });
}

Store Store::select(std::span<const RowId> rows) const {
  StoreBuilder builder(*layout_, fact_kinds_, factors_);
  std::vector<Group> groups(factors_.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (std::size_t f = 0; f < groups.size(); ++f) groups[f] = group(rows[i], f);
    builder.append(fetch(rows, i), facts(rows[i]), groups);
  }
  return builder.finish();
}

}  // namespace flymc
