// Eight vectors of sums in registers, one column at a time.
#include "flymc/core/packed_matrix.hpp"

#include <algorithm>

#include "flymc/core/aligned_numbers.hpp"
#include "vectors.hpp"

namespace flymc {
namespace {

constexpr Index vectors = 8;  // enough to hide the latency of an addition, and they fit every processor's registers
constexpr Index padding = 8;  // doubles: rows are padded to a multiple of it

// out[i] = sum_j values[j stride + i] x[j] for `count` vectors of rows.
template <int width, int count>
FLYMC_INLINE void product_of(const double* values, Index stride, Index columns, const double* x, double* out) {
  using InMemory = typename Vectors<width>::InMemory;
  typename Vectors<width>::Type sum[count] = {};
  for (Index j = 0; j < columns; ++j) {
    const double* column = values + j * stride;
    for (int v = 0; v < count; ++v) sum[v] += *reinterpret_cast<const InMemory*>(column + v * width) * x[j];
  }
  for (int v = 0; v < count; ++v) *reinterpret_cast<InMemory*>(out + v * width) = sum[v];
}

template <int width, int count>
FLYMC_INLINE void product_of_rest(Index left, const double* values, Index stride, Index columns, const double* x,
                                  double* out) {
  if (left == count)
    product_of<width, count>(values, stride, columns, x, out);
  else if constexpr (count > 1)
    product_of_rest<width, count - 1>(left, values, stride, columns, x, out);
}

struct PackedProduct {
  template <int width>
  FLYMC_INLINE static void run(const double* values, Index stride, Index rows, Index columns, const double* x,
                               double* out) {
    constexpr Index tile = vectors * width;
    Index first = 0;
    for (; first + tile <= rows; first += tile)
      product_of<width, vectors>(values + first, stride, columns, x, out + first);
    // Computes whole vectors; the last may extend into the padding.
    double rest[tile];
    product_of_rest<width, vectors>((rows - first + width - 1) / width, values + first, stride, columns, x, rest);
    std::copy_n(rest, rows - first, out + first);
  }
};

}  // namespace

PackedMatrix::PackedMatrix(const Matrix& matrix)
    : rows_(matrix.rows()), columns_(matrix.cols()), stride_((rows_ + padding - 1) / padding * padding) {
  AlignedNumbers values = aligned_numbers(static_cast<std::size_t>(stride_ * columns_));
  for (Index j = 0; j < columns_; ++j) std::copy_n(matrix.col(j).data(), rows_, values.get() + j * stride_);
  values_ = std::move(values);
}

void PackedMatrix::multiply(const double* x, double* out) const {
  dispatch<PackedProduct>(widest_vectors(), values_.get(), stride_, rows_, columns_, x, out);
}

}  // namespace flymc
