// Sums and products over the rows of a block.
#include <algorithm>

#include "flymc/core/panel.hpp"
#include "flymc/data/store.hpp"

namespace flymc {

// Calls visit with a typed pointer to the block's row-major features. Only for rows without codes.
template <class Visit>
void Block::with_values(Visit&& visit) const {
  if (layout_->number_type() == NumberType::float64)
    visit(reinterpret_cast<const double*>(values_));
  else
    visit(reinterpret_cast<const float*>(values_));
}

namespace {

// Rows that are unpacked at once; their entries stay in the nearest cache.
constexpr Index unpacked_rows = 128;

// The entries of some rows of a block, one row after the other.
class Unpacked {
 public:
  explicit Unpacked(const Layout& layout)
      : layout_(layout),
        feature_(static_cast<std::size_t>(unpacked_rows * layout.cells())),
        value_(static_cast<std::size_t>(unpacked_rows * layout.cells())) {}
  void take(const std::byte* rows, Index count) { layout_.unpack(rows, count, feature_.data(), value_.data()); }
  Entries row(Index i) const { return Entries{feature_.data(), value_.data(), layout_.cells()}.row(i); }

 private:
  const Layout& layout_;
  std::vector<std::int32_t> feature_;
  std::vector<double> value_;
};

}  // namespace

template <class Visit>
void Block::each_row(Visit&& visit) const {
  const std::size_t row_bytes = layout_->row_bytes();
  const Index features = layout_->features();
  if (layout_->coded()) {
    Unpacked some(*layout_);
    for (Index first = 0; first < rows_; first += unpacked_rows) {
      const Index count = std::min(unpacked_rows, rows_ - first);
      some.take(values_ + static_cast<std::size_t>(first) * row_bytes, count);
      for (Index i = 0; i < count; ++i) visit(first + i, some.row(i));
    }
  } else if (layout_->number_type() == NumberType::float64) {
    for (Index i = 0; i < rows_; ++i)
      visit(i, Numbers<double>(values_ + static_cast<std::size_t>(i) * row_bytes, features));
  } else {
    for (Index i = 0; i < rows_; ++i)
      visit(i, Numbers<float>(values_ + static_cast<std::size_t>(i) * row_bytes, features));
  }
}

Block Block::part(Index first, Index count) const {
  Block out = *this;
  out.first_row_ += first;
  out.rows_ = count;
  for (const double** column : {&out.targets_, &out.weights_, &out.offsets_})
    if (*column) *column += first;
  for (const Group*& column : out.groups_) column += first;
  out.values_ += static_cast<std::size_t>(first) * layout_->row_bytes();
  return out;
}

void Block::predict(const Matrix& theta, RowMatrix& eta) const {
  eta.resize(rows_, theta.cols());
  each_row([&](Index i, const auto& x) {
    for (Index k = 0; k < theta.cols(); ++k) eta(i, k) = dot(x, theta.col(k).data());
  });
  if (offsets_) eta.col(0) += Eigen::Map<const Vector>(offsets_, rows_);
}

void Block::add_weighted_rows(const RowMatrix& weight, Matrix& out) const {
  each_row([&](Index i, const auto& x) {
    for (Index k = 0; k < weight.cols(); ++k) add_scaled(weight(i, k), x, out.col(k).data());
  });
}

void Block::add_gram(const Vector& weight, Eigen::Ref<Matrix> out) const {
  GramSum sum{weight.data(), 1, out};
  add_grams({&sum, 1}, nullptr);
}

void Block::add_grams(std::span<GramSum> sums, const Block* next) const {
  if (sums.empty()) return;
  if (layout_->coded())
    add_grams_of_codes(sums);
  else
    add_grams_of_numbers(sums, next);
}

// Adds each product of two entries of a row, which has few. Features ascend within a row, so in the column of an entry
// the later entries lie below it.
void Block::add_grams_of_codes(std::span<GramSum> sums) const {
  Unpacked rows(*layout_);
  for (Index first = 0; first < rows_; first += unpacked_rows) {
    const Index count = std::min(unpacked_rows, rows_ - first);
    rows.take(values_ + static_cast<std::size_t>(first) * layout_->row_bytes(), count);
    for (GramSum& sum : sums)
      for (Index i = 0; i < count; ++i) {
        const double weight = sum.weight[(first + i) * sum.stride];
        if (weight == 0.0) continue;
        const Entries row = rows.row(i);
        for (Index e = 0; e < row.cells; ++e) {
          if (row.value[e] == 0.0) continue;
          const double scaled = weight * row.value[e];
          double* const column = sum.out.data() + row.feature[e] * sum.out.outerStride();
          for (Index below = e; below < row.cells; ++below) column[row.feature[below]] += scaled * row.value[below];
        }
      }
  }
}

// Takes slices of rows that stay in the cache. Copies them in double (sums of floats would lose digits that the bound
// needs) into panels of eight columns that all sums share. Columns are counted from the last, and the first panel is
// padded with zeros in front, so that a product with it can skip the padding. A sum is kept as tiles of 8 x 8, tile (i,
// j <= i) at i (i + 1) / 2 + j, until the block ends.
//
// Memory is idle while the processor multiplies, so each tile prefetches a few lines of the rows that come next.
void Block::add_grams_of_numbers(std::span<GramSum> sums, const Block* next) const {
  constexpr Index slice = 128;
  constexpr Index tile_size = panel_width * panel_width;
  const VectorWidth width = widest_vectors();
  const Index features = layout_->features();
  const Index panels = (features + panel_width - 1) / panel_width;
  const Index padding = panels * panel_width - features;
  const Index tiles = panels * (panels + 1) / 2;
  const Index panel_size = (slice + 1) * panel_width;  // not a power of two: panels would share places in a cache
  std::vector<double> packed(static_cast<std::size_t>(panels * panel_size));
  std::vector<double> tile(sums.size() * static_cast<std::size_t>(tiles * tile_size));
  std::vector<WeightedRow> kept(slice);
  const auto panel = [&](Index p) { return packed.data() + p * panel_size; };

  constexpr Index line = 64;
  const auto row_bytes = static_cast<Index>(layout_->row_bytes());
  const Index slice_tiles = tiles * static_cast<Index>(sums.size());
  const Index fetched_at_once = (slice * row_bytes + slice_tiles - 1) / slice_tiles;
  Index fetched = 0;
  const Index fetch_end = next ? next->rows_ * row_bytes : 0;
  const auto fetch = [&] {
    for (const Index end = std::min(fetched + fetched_at_once, fetch_end); fetched < end; fetched += line)
      __builtin_prefetch(next->values_ + fetched, 0, 2);
  };

  for (Index first = 0; first < rows_; first += slice) {
    const Index count = std::min(slice, rows_ - first);
    with_values([&](const auto* x) {
      for (Index l = 0; l < count; ++l) {
        const auto* row = x + (first + l) * features;
        double* copy = packed.data() + l * panel_width;
        for (Index c = padding; c < panel_width; ++c) copy[c] = static_cast<double>(row[c - padding]);
        for (Index j = panel_width - padding; j < features; j += panel_width) {
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

namespace {

// Calls visit(feature, value) for the features of a row that may be nonzero.
template <class Scalar, class Visit>
void each_entry(const Numbers<Scalar>& row, Visit&& visit) {
  for (Index j = 0; j < row.features; ++j) visit(j, static_cast<double>(row.x[j]));
}
template <class Visit>
void each_entry(const Entries& row, Visit&& visit) {
  for (Index e = 0; e < row.cells; ++e) visit(row.feature[e], row.value[e]);
}

}  // namespace

void Block::add_weighted_squares(const Vector& weight, Vector& out) const {
  each_row([&](Index i, const auto& x) {
    each_entry(x, [&](Index j, double value) { out[j] += weight[i] * value * value; });
  });
}

void Block::add_rows_beyond(const Vector& weight, const Vector& limit, std::vector<RowId>& out) const {
  each_row([&](Index i, const auto& x) {
    int beyond = 0;  // no early exit: a loop without branches is faster, as few rows are beyond
    each_entry(x, [&](Index j, double value) { beyond |= weight[i] * value * value > limit[j] ? 1 : 0; });
    if (beyond != 0) out.push_back(first_row_ + i);
  });
}

}  // namespace flymc
