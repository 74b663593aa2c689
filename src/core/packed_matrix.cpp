// Eight vectors of sums in registers, one column at a time.
#include "flymc/core/packed_matrix.hpp"

#include <algorithm>
#include <new>

#include "flymc/core/panel.hpp"

namespace flymc {
namespace {

#define FLYMC_INLINE [[gnu::always_inline]] inline

constexpr Index vectors = 8;  // enough to hide how long an addition takes, and they fit every processor's registers
constexpr Index padding = 8;  // doubles: rows are padded to a multiple of it

// out[i] = sum_j values[j stride + i] x[j] for `count` vectors of rows.
template <int width, int count>
FLYMC_INLINE void product_of(const double* values, Index stride, Index columns, const double* x, double* out) {
  typedef double Type __attribute__((vector_size(8 * width)));
  typedef double InMemory __attribute__((vector_size(8 * width), aligned(8), may_alias));
  Type sum[count];
  for (int v = 0; v < count; ++v) sum[v] = Type{};
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

template <int width>
FLYMC_INLINE void product(const double* values, Index stride, Index columns, const double* x, double* out) {
  constexpr Index tile = vectors * width;
  Index first = 0;
  for (; first + tile <= stride; first += tile)
    product_of<width, vectors>(values + first, stride, columns, x, out + first);
  product_of_rest<width, vectors - 1>((stride - first) / width, values + first, stride, columns, x, out + first);
}

using Product = void (*)(const double*, Index, Index, const double*, double*);
void with_two(const double* v, Index s, Index c, const double* x, double* o) { product<2>(v, s, c, x, o); }
#if defined(__x86_64__)
[[gnu::target("avx2")]] void with_four(const double* v, Index s, Index c, const double* x, double* o) {
  product<4>(v, s, c, x, o);
}
[[gnu::target("avx512f")]] void with_eight(const double* v, Index s, Index c, const double* x, double* o) {
  product<8>(v, s, c, x, o);
}
#endif

Product fastest() {
#if defined(__x86_64__)
  if (widest_vectors() == VectorWidth::eight) return with_eight;
  if (widest_vectors() == VectorWidth::four) return with_four;
#endif
  return with_two;
}

}  // namespace

PackedMatrix::PackedMatrix(const Matrix& matrix)
    : rows_(matrix.rows()), columns_(matrix.cols()), stride_((rows_ + padding - 1) / padding * padding) {
  constexpr std::align_val_t cache_line{64};
  const auto size = static_cast<std::size_t>(stride_ * columns_);
  std::shared_ptr<double[]> values(new (cache_line) double[std::max<std::size_t>(size, 1)](),
                                   [](double* p) { operator delete[](p, cache_line); });
  for (Index j = 0; j < columns_; ++j) std::copy_n(matrix.col(j).data(), rows_, values.get() + j * stride_);
  values_ = std::move(values);
}

Vector PackedMatrix::operator*(const Vector& x) const {
  static const Product product = fastest();
  Vector out(stride_);
  product(values_.get(), stride_, columns_, x.data(), out.data());
  if (stride_ != rows_) out.conservativeResize(rows_);
  return out;
}

}  // namespace flymc
