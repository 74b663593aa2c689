// The immutable rows of a regression, in blocks of a fixed number of rows.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "flymc/comm/communicator.hpp"
#include "flymc/core/arena.hpp"
#include "flymc/core/linear.hpp"
#include "flymc/data/facts.hpp"
#include "flymc/data/groups.hpp"
#include "flymc/data/layout.hpp"

namespace flymc {

// One of several weighted sums over a block: out += sum_i weight[i stride] x_i x_i', the lower triangle only.
struct GramSum {
  const double* weight = nullptr;
  Index stride = 1;
  Eigen::Ref<Matrix> out;
};

// One block: rows first_row() ... first_row() + rows() - 1. The operations below are the only access to features above
// the layer `data`, so other code does not depend on whether a block has codes or is in a mapped file.
class Block {
 public:
  RowId first_row() const { return first_row_; }
  Index rows() const { return rows_; }
  FactSpans facts() const { return {column(targets_), column(weights_), column(offsets_)}; }
  // The group of each row in this factor, by its index in Store::factors().
  std::span<const Group> groups(std::size_t factor) const { return {groups_[factor], static_cast<std::size_t>(rows_)}; }
  // Rows first ... first + count - 1 of this block, counted from its first row.
  Block part(Index first, Index count) const;

  // eta(i, k) = x_i' theta_k, plus offset_i for k = 0, where theta has one column per predictor.
  void predict(const Matrix& theta, RowMatrix& eta) const;
  // out(:, k) += sum_i weight(i, k) x_i.
  void add_weighted_rows(const RowMatrix& weight, Matrix& out) const;
  // out += sum_i weight_i x_i x_i', the lower triangle only.
  void add_gram(const Vector& weight, Eigen::Ref<Matrix> out) const;
  // Several such sums in one pass over the rows. A row costs no time in a sum where its weight is zero. Meanwhile the
  // rows of `next`, if given, are fetched into the cache.
  void add_grams(std::span<GramSum> sums, const Block* next = nullptr) const;
  // out_j += sum_i weight_i x_ij^2.
  void add_weighted_squares(const Vector& weight, Vector& out) const;
  // Appends, in order, the rows with weight_i x_ij^2 > limit_j for any column j.
  void add_rows_beyond(const Vector& weight, const Vector& limit, std::vector<RowId>& out) const;

 private:
  friend class Store;
  friend class StoreBuilder;
  // Calls visit(row, x) for every row; dot and add_scaled accept x.
  template <class Visit>
  void each_row(Visit&& visit) const;
  template <class Visit>
  void with_values(Visit&& visit) const;
  void add_grams_of_numbers(std::span<GramSum> sums, const Block* next) const;
  void add_grams_of_codes(std::span<GramSum> sums) const;
  std::span<const double> column(const double* values) const {
    return {values, values ? static_cast<std::size_t>(rows_) : 0};
  }

  RowId first_row_ = 0;
  Index rows_ = 0;
  const Layout* layout_ = nullptr;  // the store's
  const std::byte* values_ = nullptr;
  const double *targets_ = nullptr, *weights_ = nullptr, *offsets_ = nullptr;  // the last two may be null
  std::vector<const Group*> groups_;                                           // by factor
};

class Store {
 public:
  Store() = default;  // no rows and no columns
  RowId rows() const { return rows_; }
  Index features() const { return layout_->features(); }
  NumberType number_type() const { return layout_->number_type(); }
  const std::vector<std::string>& columns() const { return layout_->names(); }
  const Layout& layout() const { return *layout_; }

  Index block_rows() const { return block_rows_; }
  std::size_t blocks() const { return blocks_.size(); }
  const Block& block(std::size_t b) const { return blocks_[b].view; }

  FactKinds fact_kinds() const { return fact_kinds_; }
  RowFacts facts(RowId row) const;
  double target(RowId row) const { return facts(row).target; }
  // The grouping factors. The order of the rows need not be that of a factor (data/group_index.hpp).
  const std::vector<GroupFactor>& factors() const { return factors_; }
  Group group(RowId row, std::size_t factor) const;
  // Feature `column` of a row; for messages and tests, not for sums.
  double value(RowId row, Index column) const;
  // eta[i K + k] = x_{rows[i]}' theta_k, plus the row's offset for k = 0. A row's result is bit-identical in any batch.
  void predict(std::span<const RowId> rows, const Matrix& theta, std::span<double> eta) const;
  // The same without the rows' offsets.
  void project(std::span<const RowId> rows, const Matrix& theta, std::span<double> out) const;
  // out(:, k) += sum_i weight[i K + k] x_{rows[i]}, in the order of `rows`.
  void add_weighted_rows(std::span<const RowId> rows, std::span<const double> weight, Matrix& out) const;

  // A copy of these rows in memory, in their order and with the number type of this store.
  Store select(std::span<const RowId> rows) const;

  // A matrix with a line per row, and a target per row; weights and offsets too, unless they are empty.
  static Store from_matrix(const RowMatrix& features, const Vector& targets, std::vector<std::string> columns = {},
                           NumberType number_type = NumberType::float64, const Vector& weights = {},
                           const Vector& offsets = {});

  // Rows in memory owned elsewhere, such as a mapped file: consecutive rows in the layout's format, a target per row,
  // optional weights and offsets, which all blocks have or none, and the groups of each factor.
  struct ForeignBlock {
    const std::byte* values = nullptr;
    const double *targets = nullptr, *weights = nullptr, *offsets = nullptr;
    Index rows = 0;
    std::vector<const Group*> groups = {};
  };
  // A store over such blocks that copies no rows and keeps `owner` alive. Every block but the last must have
  // StoreBuilder::rows_per_block rows, as a builder's blocks do, so that sums are the same bit for bit. Numbers must be
  // finite, codes must be levels and groups must exist; this is not checked.
  static Store from_blocks(Layout layout, std::span<const ForeignBlock> blocks, std::shared_ptr<const void> owner,
                           std::vector<GroupFactor> factors = {});

 private:
  friend class StoreBuilder;
  friend class RowCopies;
  friend Store select(const Store&, std::span<const RowId>, const Communicator&);
  Store(Layout layout, std::vector<GroupFactor> factors);
  // The bytes of rows[i]; prefetches later rows, so call it for i = 0, 1, ... in order.
  const std::byte* fetch(std::span<const RowId> rows, std::size_t i) const;
  void add_block(ForeignBlock block, std::shared_ptr<const void> owner);
  struct Holder {
    Block view;
    std::shared_ptr<const void> owner;  // keeps the block's memory
  };
  // The place of a row.
  struct Address {
    const Block& block;
    std::size_t in_block;
    const std::byte* bytes;
  };
  Address address(RowId row) const;
  template <class Visit>
  void with_rows(std::span<const RowId> rows, Visit&& visit) const;
  void ask_for(RowId row) const;

  RowId rows_ = 0;
  Index block_rows_ = 0;
  int block_shift_ = 0;  // block_rows_ is 2 to this power
  FactKinds fact_kinds_;
  std::vector<GroupFactor> factors_;
  std::shared_ptr<const Layout> layout_ = std::make_shared<const Layout>();
  std::vector<Holder> blocks_;
};

// The rows in a rank's share of the blocks.
struct RowRange {
  RowId first = 0, last = 0;
  bool contains(RowId row) const { return first <= row && row < last; }
};
RowRange own_rows(const Store& store, const Communicator& communicator);
// A copy in memory, on every rank, of the rows that the ranks name. Each rank names some of its own rows, in order.
Store select(const Store& store, std::span<const RowId> own, const Communicator& communicator);

// Takes rows one by one, in order, and holds each only once.
class StoreBuilder {
 public:
  explicit StoreBuilder(std::vector<std::string> columns, NumberType number_type = NumberType::float64,
                        FactKinds kinds = {})
      : StoreBuilder(Layout(std::move(columns), number_type), kinds) {}
  // Throws InputError if check_factors refuses the factors.
  explicit StoreBuilder(Layout layout, FactKinds kinds = {}, std::vector<GroupFactor> factors = {});
  StoreBuilder(StoreBuilder&&) = default;  // not copyable: two copies would fill the same block
  StoreBuilder& operator=(StoreBuilder&&) = default;

  // Throws InputError, and leaves the builder as it is, if Layout::check or check_groups refuses the row.
  void append(std::span<const double> cells, const RowFacts& facts, std::span<const Group> groups = {});
  // Appends the bytes of a row of a store with the same layout and factors.
  void append(const std::byte* row, const RowFacts& facts, std::span<const Group> groups = {});
  // Returns the store. Throws InputError if there are no rows, or if it was returned before.
  Store finish();

  // Rows per block: a power of two that makes a block about 2 MiB of doubles. With codes and many features it is more,
  // because sums over a block are matrices of squared size and must take less memory than the rows. A seed reproduces
  // draws only with the same number.
  static Index rows_per_block(Index features);
  static Index rows_per_block(const Layout& layout);

 private:
  std::byte* next_row();  // the place of the next row
  void add_facts(const RowFacts& facts, std::span<const Group> groups);
  void open_block();
  void close_block();

  Store store_;
  std::shared_ptr<Arena> arena_;  // of all blocks; empty once finished
  std::byte* values_ = nullptr;   // of the block that is being filled, as the pointers below
  double *targets_ = nullptr, *weights_ = nullptr, *offsets_ = nullptr;
  std::vector<Group*> groups_;  // by factor
  Index filled_ = 0;            // rows of that block so far
};

}  // namespace flymc
