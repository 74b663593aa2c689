// Register tiles in vectors of two, four or eight doubles; the processor decides which when the program runs.
#include "flymc/core/panel.hpp"

#include <type_traits>

#include "vectors.hpp"

namespace flymc {
namespace {

template <int width>
constexpr int vectors_per_row = static_cast<int>(panel_width) / width;  // of a panel

// With as many columns as doubles in a vector, the 8 x `columns` sums are eight vectors. They fit the registers of
// every processor, and are enough to hide the latency of an addition.
template <int width, int columns>
struct Tile {
  using Vector = typename Vectors<width>::Type;
  using InMemory = typename Vectors<width>::InMemory;
  static constexpr int vectors = vectors_per_row<width>;
  Vector sum[columns][vectors];

  FLYMC_INLINE Tile() {
    for (int c = 0; c < columns; ++c)
      for (int v = 0; v < vectors; ++v) sum[c][v] = Vector{};
  }
  FLYMC_INLINE static void load(const double* row, Vector (&out)[vectors]) {
    for (int v = 0; v < vectors; ++v) out[v] = *reinterpret_cast<const InMemory*>(row + v * width);
  }
  FLYMC_INLINE void add(int c, const Vector (&row)[vectors], double scale) {
    for (int v = 0; v < vectors; ++v) sum[c][v] += row[v] * scale;
  }
  FLYMC_INLINE void store(int c, double* out) const {
    for (int v = 0; v < vectors; ++v) *reinterpret_cast<InMemory*>(out + v * width) = sum[c][v];
  }
  FLYMC_INLINE void store_added(int c, double* out) const {
    for (int v = 0; v < vectors; ++v) *reinterpret_cast<InMemory*>(out + v * width) += sum[c][v];
  }
};

template <int width, int columns>
FLYMC_INLINE void product_tile(const double* panel, Index count, const double* x, Index x_stride, double* out,
                               Index out_stride) {
  Tile<width, columns> tile;
  for (Index l = 0; l < count; ++l) {
    typename Vectors<width>::Type row[vectors_per_row<width>];
    tile.load(panel + l * panel_width, row);
    for (int c = 0; c < columns; ++c) tile.add(c, row, x[c * x_stride + l]);
  }
  for (int c = 0; c < columns; ++c) tile.store(c, out + c * out_stride);
}

template <int width, int columns>
FLYMC_INLINE void gram_tile(const double* left, const double* right, std::span<const WeightedRow> rows, double* out) {
  Tile<width, columns> tile;
  for (const WeightedRow& at : rows) {
    typename Vectors<width>::Type row[vectors_per_row<width>];
    tile.load(left + at.row * panel_width, row);
    for (auto& vector : row) vector *= at.weight;
    for (int c = 0; c < columns; ++c) tile.add(c, row, right[at.row * panel_width + c]);
  }
  for (int c = 0; c < columns; ++c) tile.store_added(c, out + c * panel_width);
}

// Calls f with the smaller of `left` and `columns` as a compile-time constant.
template <int columns, class F>
FLYMC_INLINE void with_columns(Index left, const F& f) {
  if (left >= columns)
    f(std::integral_constant<int, columns>{});
  else if constexpr (columns > 1)
    with_columns<columns - 1>(left, f);
}

struct PanelProduct {
  template <int width>
  FLYMC_INLINE static void run(const double* panel, Index count, const double* x, Index x_stride, Index columns,
                               double* out, Index out_stride) {
    for (Index c = 0; c < columns; c += width)
      with_columns<width>(
          columns - c, [&](auto group) __attribute__((always_inline)) {
            product_tile<width, group()>(panel, count, x + c * x_stride, x_stride, out + c * out_stride, out_stride);
          });
  }
};

struct Gram {
  template <int width>
  FLYMC_INLINE static void run(const double* left, const double* right, Index columns,
                               std::span<const WeightedRow> rows, double* out) {
    for (Index c = 0; c < columns; c += width)
      with_columns<width>(
          columns - c, [&](auto group) __attribute__((always_inline)) {
            gram_tile<width, group()>(left, right + c, rows, out + c * panel_width);
          });
  }
};

}  // namespace

VectorWidth widest_vectors() {
#if defined(__x86_64__)
  static const VectorWidth widest = __builtin_cpu_supports("avx512f") ? VectorWidth::eight
                                    : __builtin_cpu_supports("avx2")  ? VectorWidth::four
                                                                      : VectorWidth::two;
  return widest;
#else
  return VectorWidth::two;
#endif
}

void panel_product(VectorWidth width, const double* panel, Index count, const double* x, Index x_stride, Index columns,
                   double* out, Index out_stride) {
  dispatch<PanelProduct>(width, panel, count, x, x_stride, columns, out, out_stride);
}

void add_panel_gram(VectorWidth width, const double* left, const double* right, Index columns,
                    std::span<const WeightedRow> rows, double* out) {
  dispatch<Gram>(width, left, right, columns, rows, out);
}

}  // namespace flymc
