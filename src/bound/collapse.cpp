// Sums of quadratics over blocks, tile by tile.
#include "flymc/bound/collapse.hpp"

namespace flymc {
namespace {

// out += sum_n c_n (x) x_n x_n' for K x K numbers c_n per row: one D x D tile per pair of predictors.
void add_tiles(const Block& block, std::span<const double> c, Index k, Matrix& out) {
  const Index d = out.rows() / k;
  Vector weight(block.rows());
  for (Index p = 0; p < k; ++p)
    for (Index q = 0; q <= p; ++q) {
      for (Index i = 0; i < block.rows(); ++i) weight[i] = c[static_cast<std::size_t>((i * k + p) * k + q)];
      block.add_gram(weight, out.block(p * d, q * d, d, d));
    }
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

}  // namespace

Collapsed& Collapsed::operator+=(const Collapsed& other) {
  value += other.value;
  slope += other.slope;
  for (std::size_t i = 0; i < curvature.size(); ++i) curvature[i] += other.curvature[i];
  return *this;
}

Collapsed collapse(const Store& store, Index predictors, std::size_t curvatures, const Execution& execution,
                   const std::function<void(const Block&, BlockTerms&)>& terms) {
  const Index dimension = store.features() * predictors;
  const Collapsed zero{0.0, Vector::Zero(dimension),
                       std::vector<Matrix>(curvatures, Matrix::Zero(dimension, dimension))};
  Collapsed sum = execution.threads.reduce(0, store.blocks(), zero, [&](Collapsed& part, std::size_t b) {
    const Block& block = store.block(b);
    BlockTerms own;
    own.slope.resize(block.rows(), predictors);
    own.curvature.resize(curvatures);
    terms(block, own);
    part.value += own.value;
    Matrix slope = Matrix::Zero(store.features(), predictors);
    block.add_weighted_rows(own.slope, slope);
    part.slope += Eigen::Map<const Vector>(slope.data(), dimension);
    for (std::size_t i = 0; i < curvatures; ++i)
      if (!own.curvature[i].empty()) add_tiles(block, own.curvature[i], predictors, part.curvature[i]);
  });
  execution.communicator.sum({&sum.value, 1});
  execution.communicator.sum({sum.slope.data(), static_cast<std::size_t>(dimension)});
  for (Matrix& m : sum.curvature) {
    execution.communicator.sum({m.data(), static_cast<std::size_t>(m.size())});
    complete_tiles(m, predictors);
  }
  return sum;
}

}  // namespace flymc
