// Sums of quadratics over blocks, tile by tile.
#include "flymc/bound/collapse.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

namespace flymc {
namespace {

// Lists the D x D tiles of sum_n c_n (x) x_n x_n', one per pair of predictors, for K x K numbers c_n per row.
void list_tiles(const std::vector<double>& c, Index k, Matrix& out, std::vector<GramSum>& sums) {
  const Index d = out.rows() / k;
  for (Index p = 0; p < k; ++p)
    for (Index q = 0; q <= p; ++q) sums.push_back({c.data() + p * k + q, k * k, out.block(p * d, q * d, d, d)});
}

// Tiles off the diagonal are symmetric themselves, but the pass sums only their lower triangles.
void complete_tiles(Matrix& m, Index k) {
  const Index d = m.rows() / k;
  for (Index p = 0; p < k; ++p)
    for (Index q = 0; q < p; ++q) {
      auto tile = m.block(p * d, q * d, d, d);
      tile.triangularView<Eigen::StrictlyUpper>() = tile.transpose();
    }
}

// Rows per part of a block, about 256 KiB: several sums visit a row, and only the first should read it from memory.
Index rows_at_once(Index cells) {
  const auto rows = static_cast<std::uint64_t>(std::max<Index>(1, (Index{1} << 15) / cells));
  return std::max<Index>(256, static_cast<Index>(std::bit_floor(rows)));
}

// Adds the last row of the matrix, which belongs to the shared last predictor: a row contributes c_10 x, and c_11 on
// the diagonal.
void add_shared(const Block& rows, const std::vector<double>& c, Matrix& out) {
  const Index last = out.rows() - 1;
  const Eigen::Map<const RowMatrix> all(c.data(), rows.rows(), 4);
  Matrix sums = Matrix::Zero(out.rows(), 2);
  rows.add_weighted_rows(all.rightCols(2), sums);
  out.row(last).head(last) += sums.col(0).head(last).transpose();
  out(last, last) += sums(last, 1);
}

void add_rows(const Block& rows, const Block& next, const Arrangement& arrangement,
              const std::function<void(const Block&, BlockTerms&)>& terms, Collapsed& out) {
  BlockTerms own;
  const Index predictors = arrangement.predictors();
  own.slope.resize(rows.rows(), predictors);
  own.curvature.resize(out.curvature.size());
  terms(rows, own);
  out.value += own.value;
  out.further += own.further;
  const Index features = arrangement.features(out.slope.size());
  Matrix slope = Matrix::Zero(features, predictors);
  rows.add_weighted_rows(own.slope, slope);
  out.slope += arrangement.entries_of(slope);
  std::vector<GramSum> sums;
  std::vector<Matrix> firsts(arrangement.last_is_shared() ? own.curvature.size() : 0);
  for (std::size_t i = 0; i < own.curvature.size(); ++i) {
    if (own.curvature[i].empty()) continue;
    if (!arrangement.last_is_shared()) {
      list_tiles(own.curvature[i], predictors, out.curvature[i], sums);
      continue;
    }
    firsts[i] = Matrix::Zero(features, features);
    sums.push_back({own.curvature[i].data(), 4, firsts[i]});
  }
  rows.add_grams(sums, &next);
  for (std::size_t i = 0; i < firsts.size(); ++i) {
    if (own.curvature[i].empty()) continue;
    const Index others = features - 1;
    out.curvature[i].topLeftCorner(others, others) += firsts[i].topLeftCorner(others, others);
    add_shared(rows, own.curvature[i], out.curvature[i]);
  }
}

}  // namespace

Collapsed& Collapsed::operator+=(const Collapsed& other) {
  value += other.value;
  further += other.further;
  slope += other.slope;
  for (std::size_t i = 0; i < curvature.size(); ++i) curvature[i] += other.curvature[i];
  return *this;
}

Collapsed collapse(const Store& store, const Arrangement& arrangement, std::size_t curvatures,
                   const Execution& execution, const std::function<void(const Block&, BlockTerms&)>& terms) {
  const Index dimension = arrangement.entries(store.features());
  const Collapsed zero{0.0, 0.0, Vector::Zero(dimension),
                       std::vector<Matrix>(curvatures, Matrix::Zero(dimension, dimension))};
  Collapsed sum = execution.reduce(store.blocks(), zero, [&](Collapsed& part, std::size_t b) {
    const Block& block = store.block(b);
    const Index most = rows_at_once(store.layout().cells());
    const auto from = [&](Index first) { return block.part(first, std::min(most, block.rows() - first)); };
    for (Index first = 0; first < block.rows(); first += most)
      add_rows(from(first), from(std::min(first + most, block.rows())), arrangement, terms, part);
  });
  if (!arrangement.last_is_shared())
    for (Matrix& m : sum.curvature) complete_tiles(m, arrangement.predictors());
  return sum;
}

}  // namespace flymc
