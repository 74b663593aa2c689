// Sums over blocks of weighted rows.
#include "posterior.hpp"

#include <algorithm>

namespace flymc {
namespace {

// Multiplies the `each` numbers of every row of the block by the row's weight.
void weigh(const Block& block, std::span<const double> weights, std::span<double> numbers, std::size_t each) {
  if (weights.empty()) return;
  const auto first = static_cast<std::size_t>(block.first_row());
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] *= weights[first + i / each];
}

}  // namespace

Collapsed WeightedPosterior::sum(const Vector& theta, std::size_t curvatures) {
  queries_ += store_.rows();
  const Index k = model_.predictors();
  const Matrix columns = by_predictor(theta, k);
  return collapse(store_, k, curvatures, execution_, [&](const Block& block, BlockTerms& terms) {
    const auto n = static_cast<std::size_t>(block.rows());
    const auto width = static_cast<std::size_t>(k);
    RowMatrix eta;
    block.predict(columns, eta);
    std::vector<double> value(n), curvature(curvatures > 0 ? n * width * width : 0);
    const std::span<double> slope(terms.slope.data(), n * width);
    model_.family().likelihood(block.targets(), {eta.data(), n * width}, value, slope, curvature);
    if (curvatures > 0 && k == 1 && *std::min_element(curvature.begin(), curvature.end()) < 0.0) {
      std::vector<double>& mended = terms.curvature[1];  // what the bound's curvature has more
      mended.resize(n);
      model_.family().global_curvature(block.targets(), {eta.data(), n}, mended);
      for (std::size_t i = 0; i < n; ++i) mended[i] = curvature[i] < 0.0 ? mended[i] - curvature[i] : 0.0;
      weigh(block, weights_, mended, 1);
    }
    weigh(block, weights_, value, 1);
    weigh(block, weights_, slope, width);
    weigh(block, weights_, curvature, width * width);
    for (const double v : value) terms.value += v;
    if (curvatures > 0) terms.curvature[0] = std::move(curvature);
  });
}

Expansion WeightedPosterior::expand(const Vector& theta) {
  Collapsed sums = sum(theta, 2);
  Expansion out{sums.value, std::move(sums.slope), {}, {}};
  Vector prior_curvature = Vector::Zero(theta.size());
  out.value += model_.prior().surrogate(theta, out.gradient, prior_curvature);
  for (Matrix& m : sums.curvature) m = Matrix(m.selfadjointView<Eigen::Lower>());
  out.precision = std::move(sums.curvature[0]);
  out.precision.diagonal() += prior_curvature;
  out.metric = Metric::from_precision(out.precision);
  if (!out.metric) {
    out.precision += sums.curvature[1];
    out.metric = Metric::from_precision(out.precision);
  }
  return out;
}

Slope WeightedPosterior::slope(const Vector& theta) {
  Collapsed sums = sum(theta, 0);
  Slope out{sums.value, std::move(sums.slope)};
  Vector unused = Vector::Zero(theta.size());
  out.value += model_.prior().surrogate(theta, out.gradient, unused);
  return out;
}

}  // namespace flymc
