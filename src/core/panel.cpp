// Register tiles in vectors of two, four or eight doubles; the processor decides which when the program runs.
#include "flymc/core/panel.hpp"

#include <type_traits>

namespace flymc {
namespace {

#define FLYMC_INLINE [[gnu::always_inline]] inline

template <int width>
struct Vectors {
  typedef double Type __attribute__((vector_size(8 * width)));
  typedef double InMemory __attribute__((vector_size(8 * width), aligned(8), may_alias));  // at any address
  static constexpr int count = static_cast<int>(panel_width) / width;  // vectors to a row of a panel
};

// Sums of 8 x `columns` entries fit the registers of every processor if there are as many columns as doubles to a
// vector: that makes eight vectors, also enough to hide how long an addition takes.
template <int width, int columns>
struct Tile {
  using Vector = typename Vectors<width>::Type;
  using InMemory = typename Vectors<width>::InMemory;
  static constexpr int vectors = Vectors<width>::count;
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
    typename Vectors<width>::Type row[Vectors<width>::count];
    tile.load(panel + l * panel_width, row);
    for (int c = 0; c < columns; ++c) tile.add(c, row, x[c * x_stride + l]);
  }
  for (int c = 0; c < columns; ++c) tile.store(c, out + c * out_stride);
}

template <int width, int columns>
FLYMC_INLINE void gram_tile(const double* left, const double* right, std::span<const WeightedRow> rows, double* out) {
  Tile<width, columns> tile;
  for (const WeightedRow& at : rows) {
    typename Vectors<width>::Type row[Vectors<width>::count];
    tile.load(left + at.row * panel_width, row);
    for (auto& vector : row) vector *= at.weight;
    for (int c = 0; c < columns; ++c) tile.add(c, row, right[at.row * panel_width + c]);
  }
  for (int c = 0; c < columns; ++c) tile.store_added(c, out + c * panel_width);
}

// Calls f with the number of columns as a constant; what is left of them is less than a vector's width.
template <int columns, class F>
FLYMC_INLINE void with_columns(Index left, const F& f) {
  if (left >= columns)
    f(std::integral_constant<int, columns>{});
  else if constexpr (columns > 1)
    with_columns<columns - 1>(left, f);
}

template <int width>
FLYMC_INLINE void product(const double* panel, Index count, const double* x, Index x_stride, Index columns, double* out,
                          Index out_stride) {
  for (Index c = 0; c < columns; c += width)
    with_columns<width>(
        columns - c, [&](auto group) __attribute__((always_inline)) {
          product_tile<width, group()>(panel, count, x + c * x_stride, x_stride, out + c * out_stride, out_stride);
        });
}

template <int width>
FLYMC_INLINE void gram(const double* left, const double* right, Index columns, std::span<const WeightedRow> rows,
                       double* out) {
  for (Index c = 0; c < columns; c += width)
    with_columns<width>(
        columns - c, [&](auto group) __attribute__((always_inline)) {
          gram_tile<width, group()>(left, right + c, rows, out + c * panel_width);
        });
}

// The same source for each width. (GCC's target_clones would compile one width for all processors: eight doubles are
// slow where vectors hold four, and its dispatch does not go with the thread sanitizer.)
#define FLYMC_PANELS(name, width, attribute)                                                                         \
  attribute void name(const double* panel, Index count, const double* x, Index x_stride, Index columns, double* out, \
                      Index out_stride) {                                                                            \
    product<width>(panel, count, x, x_stride, columns, out, out_stride);                                             \
  }                                                                                                                  \
  attribute void name(const double* left, const double* right, Index columns, std::span<const WeightedRow> rows,     \
                      double* out) {                                                                                 \
    gram<width>(left, right, columns, rows, out);                                                                    \
  }
FLYMC_PANELS(with_two, 2, )
#if defined(__x86_64__)
FLYMC_PANELS(with_four, 4, [[gnu::target("avx2")]])
FLYMC_PANELS(with_eight, 8, [[gnu::target("avx512f")]])
#endif

template <class... Arguments>
void dispatch([[maybe_unused]] VectorWidth width, Arguments... arguments) {
#if defined(__x86_64__)
  if (width == VectorWidth::eight) return with_eight(arguments...);
  if (width == VectorWidth::four) return with_four(arguments...);
#endif
  with_two(arguments...);
}

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
  dispatch(width, panel, count, x, x_stride, columns, out, out_stride);
}

void add_panel_gram(VectorWidth width, const double* left, const double* right, Index columns,
                    std::span<const WeightedRow> rows, double* out) {
  dispatch(width, left, right, columns, rows, out);
}

}  // namespace flymc
