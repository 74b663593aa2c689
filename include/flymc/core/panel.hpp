// Products of narrow panels, at the full width of the processor's vectors and with the same bits at every width.
#pragma once

#include <span>

#include "flymc/core/linear.hpp"

namespace flymc {

// A panel is a matrix of 8 columns, row-major: the unit in which the kernels below keep sums in registers. Every entry
// of a result has one accumulator, to which products are added one by one in a fixed order, and vectors only lay
// entries side by side. So the bits of an entry depend neither on the width of the vectors nor on the other entries.
// (Fused multiply-adds would change them; the project is compiled without.)
inline constexpr Index panel_width = 8;

// How many doubles a vector holds.
enum class VectorWidth { two = 2, four = 4, eight = 8 };
// The widest vectors that this processor has and this build supports.
VectorWidth widest_vectors();

// out[c out_stride + i] = sum over l < count of panel[8 l + i] x[c x_stride + l], for i < 8 and c < columns.
void panel_product(VectorWidth width, const double* panel, Index count, const double* x, Index x_stride, Index columns,
                   double* out, Index out_stride);

// A row of two panels, and its weight in their product.
struct WeightedRow {
  Index row = 0;
  double weight = 0.0;
};

// out[8 c + i] += sum over rows of weight left[8 row + i] right[8 row + c], for i < 8 and c < columns <= 8.
void add_panel_gram(VectorWidth width, const double* left, const double* right, Index columns,
                    std::span<const WeightedRow> rows, double* out);

}  // namespace flymc
