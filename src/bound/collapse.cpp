// Sums of quadratics over blocks, tile by tile.
#include "flymc/bound/collapse.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace flymc {
namespace {

// For K x K numbers c_n per row, sum_n c_n (x) x_n x_n' is one D x D tile per pair of predictors.
void list_tiles(const std::vector<double>& c, Index k, Matrix& out, std::vector<GramSum>& sums) {
  const Index d = out.rows() / k;
  for (Index p = 0; p < k; ++p)
    for (Index q = 0; q <= p; ++q) sums.push_back({c.data() + p * k + q, k * k, out.block(p * d, q * d, d, d)});
}

// Tiles off the diagonal are symmetric themselves, but only their lower triangles were summed.
void complete_tiles(Matrix& m, Index k) {
  const Index d = m.rows() / k;
  for (Index p = 0; p < k; ++p)
    for (Index q = 0; q < p; ++q) {
      auto tile = m.block(p * d, q * d, d, d);
      tile.triangularView<Eigen::StrictlyUpper>() = tile.transpose();
    }
}

// A part of a block of about 256 KiB: several sums visit a row, and only the first should fetch it from memory.
Index rows_at_once(Index cells) {
  const auto rows = static_cast<std::uint64_t>(std::max<Index>(1, (Index{1} << 15) / cells));
  return std::max<Index>(256, static_cast<Index>(std::bit_floor(rows)));
}

void add_rows(const Block& rows, const Block& next, Index predictors,
              const std::function<void(const Block&, BlockTerms&)>& terms, Collapsed& out) {
  BlockTerms own;
  own.slope.resize(rows.rows(), predictors);
  own.curvature.resize(out.curvature.size());
  terms(rows, own);
  out.value += own.value;
  out.further += own.further;
  Matrix slope = Matrix::Zero(out.slope.size() / predictors, predictors);
  rows.add_weighted_rows(own.slope, slope);
  out.slope += Eigen::Map<const Vector>(slope.data(), slope.size());
  std::vector<GramSum> sums;
  for (std::size_t i = 0; i < own.curvature.size(); ++i)
    if (!own.curvature[i].empty()) list_tiles(own.curvature[i], predictors, out.curvature[i], sums);
  rows.add_grams(sums, &next);
}

}  // namespace

Collapsed& Collapsed::operator+=(const Collapsed& other) {
  value += other.value;
  further += other.further;
  slope += other.slope;
  for (std::size_t i = 0; i < curvature.size(); ++i) curvature[i] += other.curvature[i];
  return *this;
}

Collapsed collapse(const Store& store, Index predictors, std::size_t curvatures, const Execution& execution,
                   const std::function<void(const Block&, BlockTerms&)>& terms) {
  const Index dimension = store.features() * predictors;
  const Collapsed zero{0.0, 0.0, Vector::Zero(dimension),
                       std::vector<Matrix>(curvatures, Matrix::Zero(dimension, dimension))};
  Collapsed sum = execution.reduce(store.blocks(), zero, [&](Collapsed& part, std::size_t b) {
    const Block& block = store.block(b);
    const Index most = rows_at_once(store.layout().cells());
    const auto from = [&](Index first) { return block.part(first, std::min(most, block.rows() - first)); };
    for (Index first = 0; first < block.rows(); first += most)
      add_rows(from(first), from(std::min(first + most, block.rows())), predictors, terms, part);
  });
  for (Matrix& m : sum.curvature) complete_tiles(m, predictors);
  return sum;
}

}  // namespace flymc
