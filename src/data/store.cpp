// Row-major blocks in memory.
#include "flymc/data/store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "flymc/core/error.hpp"
#include "flymc/core/panel.hpp"

namespace flymc {

// Calls visit with a typed pointer to the block's row-major features.
template <class Visit>
void Block::with_values(Visit&& visit) const {
  if (precision_ == Precision::float64)
    visit(static_cast<const double*>(values_));
  else
    visit(static_cast<const float*>(values_));
}

Block Block::part(Index first, Index count) const {
  Block out = *this;
  out.first_row_ += first;
  out.rows_ = count;
  for (const double** column : {&out.targets_, &out.weights_, &out.offsets_})
    if (*column) *column += first;
  with_values([&](const auto* x) { out.values_ = x + first * features_; });
  return out;
}

void Block::predict(const Matrix& theta, RowMatrix& eta) const {
  eta.resize(rows_, theta.cols());
  with_values([&](const auto* x) {
    for (Index i = 0; i < rows_; ++i)
      for (Index k = 0; k < theta.cols(); ++k) eta(i, k) = dot(x + i * features_, theta.col(k).data(), features_);
  });
  if (offsets_) eta.colwise() += Eigen::Map<const Vector>(offsets_, rows_);
}

void Block::add_weighted_rows(const RowMatrix& weight, Matrix& out) const {
  with_values([&](const auto* x) {
    for (Index i = 0; i < rows_; ++i)
      for (Index k = 0; k < weight.cols(); ++k)
        add_scaled(weight(i, k), x + i * features_, out.col(k).data(), features_);
  });
}

void Block::add_gram(const Vector& weight, Eigen::Ref<Matrix> out) const {
  GramSum sum{weight.data(), 1, out};
  add_grams({&sum, 1}, nullptr);
}

// In slices of rows that stay in the cache, copied in double (sums of floats would lose what the bound needs) into
// panels of eight columns that all sums share. Columns are counted from the last, and the first panel is filled up with
// zeros before its own: as the narrow one of two panels it then takes its own columns alone. A sum is kept as tiles of
// 8 x 8, tile (i, j <= i) at i (i + 1) / 2 + j, until the block ends.
//
// While the processor multiplies, memory has nothing to do: each tile asks for a few lines of the rows that come next.
void Block::add_grams(std::span<GramSum> sums, const Block* next) const {
  if (sums.empty()) return;
  constexpr Index slice = 128;
  constexpr Index tile_size = panel_width * panel_width;
  const VectorWidth width = widest_vectors();
  const Index panels = (features_ + panel_width - 1) / panel_width;
  const Index padding = panels * panel_width - features_;
  const Index tiles = panels * (panels + 1) / 2;
  const Index panel_size = (slice + 1) * panel_width;  // not a power of two, which would be the same place in a cache
  std::vector<double> packed(static_cast<std::size_t>(panels * panel_size));
  std::vector<double> tile(sums.size() * static_cast<std::size_t>(tiles * tile_size));
  std::vector<WeightedRow> kept(slice);
  const auto panel = [&](Index p) { return packed.data() + p * panel_size; };

  constexpr Index line = 64;
  const auto row_bytes = features_ * static_cast<Index>(bytes_per_number(precision_));
  const Index slice_tiles = tiles * static_cast<Index>(sums.size());
  const Index fetched_at_once = (slice * row_bytes + slice_tiles - 1) / slice_tiles;
  Index fetched = 0;
  const Index fetch_end = next ? next->rows_ * row_bytes : 0;
  const auto fetch = [&] {
    for (const Index end = std::min(fetched + fetched_at_once, fetch_end); fetched < end; fetched += line)
      __builtin_prefetch(static_cast<const char*>(next->values_) + fetched, 0, 2);
  };

  for (Index first = 0; first < rows_; first += slice) {
    const Index count = std::min(slice, rows_ - first);
    with_values([&](const auto* x) {
      for (Index l = 0; l < count; ++l) {
        const auto* row = x + (first + l) * features_;
        double* copy = packed.data() + l * panel_width;
        for (Index c = padding; c < panel_width; ++c) copy[c] = static_cast<double>(row[c - padding]);
        for (Index j = panel_width - padding; j < features_; j += panel_width) {
          copy += panel_size;
          for (Index c = 0; c < panel_width; ++c) copy[c] = static_cast<double>(row[j + c]);
        }
      }
    });
    double* to = tile.data();
    for (const GramSum& sum : sums) {
      std::size_t kept_rows = 0;
      for (Index l = 0; l < count; ++l) {
        kept[kept_rows] = {l, sum.weight[(first + l) * sum.stride]};
        kept_rows += kept[kept_rows].weight != 0.0 ? 1 : 0;
      }
      for (Index i = 0; i < panels; ++i)
        for (Index j = 0; j <= i; ++j, to += tile_size) {
          fetch();
          const Index skip = j == 0 ? padding : 0;
          if (kept_rows > 0)
            add_panel_gram(width, panel(i), panel(j) + skip, panel_width - skip, {kept.data(), kept_rows},
                           to + skip * panel_width);
        }
    }
  }

  const double* from = tile.data();
  for (GramSum& sum : sums)
    for (Index i = 0; i < panels; ++i)
      for (Index j = 0; j <= i; ++j, from += tile_size)
        for (Index c = j == 0 ? padding : 0; c < panel_width; ++c) {
          const Index above = i == j ? c : 0;  // rows of the tile that lie above the diagonal
          double* out = &sum.out(i * panel_width + above - padding, j * panel_width + c - padding);
          for (Index r = above; r < panel_width; ++r) *out++ += from[c * panel_width + r];
        }
}

void Block::add_weighted_squares(const Vector& weight, Vector& out) const {
  with_values([&](const auto* x) {
    for (Index i = 0; i < rows_; ++i, x += features_)
      for (Index j = 0; j < features_; ++j) out[j] += weight[i] * static_cast<double>(x[j]) * static_cast<double>(x[j]);
  });
}

void Block::add_rows_beyond(const Vector& weight, const Vector& limit, std::vector<RowId>& out) const {
  with_values([&](const auto* x) {
    for (Index i = 0; i < rows_; ++i, x += features_) {
      int beyond = 0;  // to the end of the row without a branch: few rows are
      for (Index j = 0; j < features_; ++j)
        beyond |= weight[i] * static_cast<double>(x[j]) * static_cast<double>(x[j]) > limit[j] ? 1 : 0;
      if (beyond != 0) out.push_back(first_row_ + i);
    }
  });
}

inline Store::Place Store::place(RowId row) const {
  const Block& block = blocks_[static_cast<std::size_t>(row >> block_shift_)].view;
  const auto in_block = static_cast<std::size_t>(row & (block_rows_ - 1));
  const std::size_t row_bytes = columns_.size() * bytes_per_number(precision_);
  return {block, in_block, static_cast<const std::byte*>(block.values_) + in_block * row_bytes};
}

// Calls visit with a typed pointer to one row's features.
template <class Visit>
void Store::with_row(RowId row, Visit&& visit) const {
  const void* features = place(row).features;
  if (precision_ == Precision::float64)
    visit(static_cast<const double*>(features));
  else
    visit(static_cast<const float*>(features));
}

RowFacts Store::facts(RowId row) const {
  const auto [block, i, features] = place(row);
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
  const auto [block, in_block, features] = place(row);
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

Store Store::from_matrix(const RowMatrix& features, const Vector& targets, std::vector<std::string> columns,
                         Precision precision, const Vector& weights, const Vector& offsets) {
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
  StoreBuilder builder(std::move(columns), precision, {weights.size() > 0, offsets.size() > 0});
  for (Index i = 0; i < features.rows(); ++i)
    builder.append({features.row(i).data(), static_cast<std::size_t>(features.cols())},
                   {targets[i], weights.size() > 0 ? weights[i] : 1.0, offsets.size() > 0 ? offsets[i] : 0.0});
  return builder.finish();
}

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

void check_row(const std::vector<std::string>& columns, Precision precision, RowId row,
               std::span<const double> features, const RowFacts& facts) {
  if (features.size() != columns.size())
    throw InputError(fmt::format("row {} has {} features, expected {}", row, features.size(), columns.size()));
  const double largest =
      precision == Precision::float32 ? static_cast<double>(std::numeric_limits<float>::max()) : HUGE_VAL;
  for (std::size_t j = 0; j < features.size(); ++j) {
    const double value = features[j];
    if (!std::isfinite(value))
      throw InputError(fmt::format("row {}, column '{}': {} is not a finite number; drop or fill such rows first", row,
                                   columns[j], value));
    if (std::abs(value) > largest)
      throw InputError(fmt::format("row {}, column '{}': {} does not fit float32; rescale the column or use float64",
                                   row, columns[j], value));
  }
  if (!std::isfinite(facts.target))
    throw InputError(fmt::format("row {}: the target {} is not a finite number", row, facts.target));
  if (!(facts.weight >= 0.0) || !std::isfinite(facts.weight))
    throw InputError(fmt::format("row {}: the weight {} is not a finite number of 0 or more", row, facts.weight));
  if (!std::isfinite(facts.offset))
    throw InputError(fmt::format("row {}: the offset {} is not a finite number", row, facts.offset));
}

StoreBuilder::StoreBuilder(std::vector<std::string> columns, Precision precision, FactKinds kinds)
    : store_(std::move(columns), precision), arena_(std::make_shared<Arena>()) {
  store_.fact_kinds_ = kinds;
}

Index StoreBuilder::rows_per_block(Index features) {
  const auto rows = static_cast<std::uint64_t>(std::max<Index>(1, (Index{1} << 18) / features));
  return std::clamp<Index>(static_cast<Index>(std::bit_floor(rows)), 256, 16384);
}

// A whole block's room: features, then targets, weights and offsets. What a last, short block does not use is never
// touched.
void StoreBuilder::open_block() {
  const auto rows = static_cast<std::size_t>(store_.block_rows_);
  const std::size_t row_bytes = store_.columns_.size() * bytes_per_number(store_.precision_);
  const auto [weight, offset] = store_.fact_kinds_;
  const std::size_t facts = 1 + (weight ? 1 : 0) + (offset ? 1 : 0);
  auto* memory = static_cast<std::byte*>(arena_->allocate(rows * (row_bytes + facts * sizeof(double))));
  values_ = memory;
  targets_ = reinterpret_cast<double*>(memory + rows * row_bytes);
  weights_ = weight ? targets_ + rows : nullptr;
  offsets_ = offset ? targets_ + (facts - 1) * rows : nullptr;
}

void StoreBuilder::close_block() {
  store_.add_block({.values = values_, .targets = targets_, .weights = weights_, .offsets = offsets_, .rows = filled_},
                   arena_);
  filled_ = 0;
}

void StoreBuilder::append(std::span<const double> features, const RowFacts& facts) {
  if (!arena_) throw InputError("the store is finished; rows cannot be added");
  check_row(store_.columns_, store_.precision_, store_.rows_ + filled_, features, facts);
  if (filled_ == 0) open_block();
  const Index offset = filled_ * store_.features();
  if (store_.precision_ == Precision::float32)
    std::transform(features.begin(), features.end(), static_cast<float*>(values_) + offset,
                   [](double value) { return static_cast<float>(value); });
  else
    std::copy(features.begin(), features.end(), static_cast<double*>(values_) + offset);
  targets_[filled_] = facts.target;
  if (weights_) weights_[filled_] = facts.weight;
  if (offsets_) offsets_[filled_] = facts.offset;
  if (++filled_ == store_.block_rows_) close_block();
}

Store StoreBuilder::finish() {
  if (!arena_) throw InputError("the store is finished already");
  if (filled_ > 0) close_block();
  if (store_.rows_ == 0) throw InputError("the table has no rows");
  arena_.reset();
  return std::move(store_);
}

}  // namespace flymc
