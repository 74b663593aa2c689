// A store of blocks, and its rows one by one.
#include "flymc/data/store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "flymc/core/error.hpp"

namespace flymc {

Store::Store(std::vector<std::string> columns, Precision precision)
    : precision_(precision), columns_(std::move(columns)) {
  if (columns_.empty()) throw InputError("a store needs at least one column of features (an intercept counts)");
  block_rows_ = StoreBuilder::rows_per_block(features());
  block_shift_ = std::countr_zero(static_cast<std::uint64_t>(block_rows_));
}

void Store::add_block(const ForeignBlock& block, std::shared_ptr<const void> owner) {
  Holder holder;
  Block& view = holder.view;
  view.first_row_ = rows_;
  view.rows_ = block.rows;
  view.features_ = features();
  view.precision_ = precision_;
  view.values_ = block.values;
  view.targets_ = block.targets;
  view.weights_ = block.weights;
  view.offsets_ = block.offsets;
  fact_kinds_ = {block.weights != nullptr, block.offsets != nullptr};
  holder.owner = std::move(owner);
  blocks_.push_back(std::move(holder));
  rows_ += block.rows;
}

Store Store::from_blocks(std::vector<std::string> columns, Precision precision, std::span<const ForeignBlock> blocks,
                         std::shared_ptr<const void> owner) {
  Store store(std::move(columns), precision);
  if (blocks.empty()) throw InputError("the table has no rows");
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const Index rows = blocks[b].rows;
    const bool last = b + 1 == blocks.size();
    if (last ? rows < 1 || rows > store.block_rows_ : rows != store.block_rows_)
      throw InputError(fmt::format("block {} has {} rows; every block of {} columns but the last has {}", b, rows,
                                   store.features(), store.block_rows_));
    store.add_block(blocks[b], owner);
  }
  return store;
}

inline Store::Address Store::address(RowId row) const {
  const Block& block = blocks_[static_cast<std::size_t>(row >> block_shift_)].view;
  const auto in_block = static_cast<std::size_t>(row & (block_rows_ - 1));
  const std::size_t row_bytes = columns_.size() * bytes_per_number(precision_);
  return {block, in_block, static_cast<const std::byte*>(block.values_) + in_block * row_bytes};
}

// Calls visit with a typed pointer to one row's features.
template <class Visit>
void Store::with_row(RowId row, Visit&& visit) const {
  const void* features = address(row).features;
  if (precision_ == Precision::float64)
    visit(static_cast<const double*>(features));
  else
    visit(static_cast<const float*>(features));
}

RowFacts Store::facts(RowId row) const {
  const auto [block, i, features] = address(row);
  return {block.targets_[i], block.weights_ ? block.weights_[i] : 1.0, block.offsets_ ? block.offsets_[i] : 0.0};
}

double Store::value(RowId row, Index column) const {
  double out = 0.0;
  with_row(row, [&](const auto* x) { out = static_cast<double>(x[column]); });
  return out;
}

// Asks memory for a row that is read soon. A long row's first lines are enough: a processor goes on by itself.
void Store::ask_for(RowId row) const {
  constexpr std::size_t line = 64, most = 1024;
  const auto [block, in_block, features] = address(row);
  const std::size_t row_bytes = columns_.size() * bytes_per_number(precision_);
  const std::byte* last = features + std::min(row_bytes, most) - 1;  // a row need not begin where a line does
  for (const std::byte* at = features; at < last; at += line) __builtin_prefetch(at);
  __builtin_prefetch(last);
  for (const double* column : {block.targets_, block.weights_, block.offsets_})
    if (column) __builtin_prefetch(column + in_block);
  // GCC takes a function that does nothing but prefetch for one without effect, and leaves out calls of it.
  asm volatile("");
}

// Rows far apart come from memory and not from the cache: while one is copied, the next few are under way.
void Store::copy_rows(std::span<const RowId> rows, std::span<double> features, FactColumns& facts) const {
  constexpr std::size_t ahead = 6;
  for (std::size_t i = 0; i < std::min(ahead, rows.size()); ++i) ask_for(rows[i]);
  double* to = features.data();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i + ahead < rows.size()) ask_for(rows[i + ahead]);
    with_row(rows[i], [&](const auto* x) { to = std::copy_n(x, columns_.size(), to); });
    facts.push_back(this->facts(rows[i]));
  }
}

void Store::project(std::span<const RowId> rows, const Matrix& theta, std::span<double> out) const {
  std::size_t at = 0;
  for (const RowId row : rows)
    with_row(row, [&](const auto* x) {
      for (Index k = 0; k < theta.cols(); ++k) out[at++] = dot(x, theta.col(k).data(), features());
    });
}

void Store::predict(std::span<const RowId> rows, const Matrix& theta, std::span<double> eta) const {
  project(rows, theta, eta);
  if (!fact_kinds_.offset) return;
  const auto k = static_cast<std::size_t>(theta.cols());
  for (std::size_t e = 0; e < eta.size(); ++e) eta[e] += facts(rows[e / k]).offset;
}

void Store::add_weighted_rows(std::span<const RowId> rows, std::span<const double> weight, Matrix& out) const {
  std::size_t in = 0;
  for (const RowId row : rows)
    with_row(row, [&](const auto* x) {
      for (Index k = 0; k < out.cols(); ++k) add_scaled(weight[in++], x, out.col(k).data(), features());
    });
}

Store Store::select(std::span<const RowId> rows) const {
  StoreBuilder builder(columns_, precision_, fact_kinds_);
  std::vector<double> features(columns_.size());
  for (const RowId row : rows) {
    with_row(row, [&](const auto* x) { std::copy_n(x, features.size(), features.begin()); });
    builder.append(features, facts(row));
  }
  return builder.finish();
}

}  // namespace flymc
