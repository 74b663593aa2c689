// Sums over blocks of weighted rows.
#include "posterior.hpp"

#include <algorithm>
#include <numeric>

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
  const Matrix columns = model_.arrangement().columns(theta);
  return collapse(store_, model_.arrangement(), curvatures, execution_, [&](const Block& block, BlockTerms& terms) {
    const auto n = static_cast<std::size_t>(block.rows());
    const auto width = static_cast<std::size_t>(k);
    RowMatrix eta;
    block.predict(columns, eta);
    std::vector<double> value(n), curvature(curvatures > 0 ? n * width * width : 0);
    const std::span<double> slope(terms.slope.data(), n * width);
    model_.family().likelihood(block.facts(), {eta.data(), n * width}, value, slope, curvature);
    if (curvatures > 0 && k == 1 && *std::min_element(curvature.begin(), curvature.end()) < 0.0) {
      std::vector<double>& mended = terms.curvature[1];  // the excess of a positive curvature
      mended.resize(n);
      model_.family().scale_curvature(block.facts(), {eta.data(), n}, mended);
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
  out.value += model_.term().surrogate(theta, out.gradient);
  for (Matrix& m : sums.curvature) m = Matrix(m.selfadjointView<Eigen::Lower>());
  out.precision = std::move(sums.curvature[0]);
  model_.term().curvature(Term::Of::surrogate, theta).add_to(out.precision);
  out.metric = Precision::of(out.precision);
  if (!out.metric) {
    out.mended = true;
    out.precision += sums.curvature[1];
    if (model_.arrangement().last_is_shared()) {
      // Far from the mode the curvature may be negative in the shape and the other coefficients jointly, and in the
      // shape alone. Each then has a step of its own, at most 2 for log(shape).
      const Index last = theta.size() - 1;
      const double own = std::max(std::abs(out.precision(last, last)), 0.5 * std::abs(out.gradient[last]));
      out.precision.row(last).setZero();
      out.precision.col(last).setZero();
      out.precision(last, last) = own;
    }
    out.metric = Precision::of(out.precision);
  }
  return out;
}

Slope WeightedPosterior::slope(const Vector& theta) {
  Collapsed sums = sum(theta, 0);
  Slope out{sums.value, std::move(sums.slope)};
  out.value += model_.term().surrogate(theta, out.gradient);
  return out;
}

double WeightedPosterior::total_weight() const {
  if (!store_.fact_kinds().weight)
    return weights_.empty() ? static_cast<double>(store_.rows())
                            : std::accumulate(weights_.begin(), weights_.end(), 0.0);
  return collapse(store_, Arrangement(1), 0, execution_,
                  [&](const Block& block, BlockTerms& terms) {
                    std::vector<double> weight;
                    for (std::size_t i = 0; i < block.facts().size(); ++i) weight.push_back(block.facts()[i].weight);
                    weigh(block, weights_, weight, 1);
                    for (const double w : weight) terms.value += w;
                    terms.slope.setZero();
                  })
      .value;
}

std::optional<EasedStep> WeightedPosterior::ease(const Vector& theta, double factor, const Vector* beside) {
  queries_ += (beside ? 2 : 1) * store_.rows();
  const auto eased = model_.family().eased(factor);
  Collapsed sums = collapse(store_, Arrangement(1), 1, execution_, [&](const Block& block, BlockTerms& terms) {
    const auto n = static_cast<std::size_t>(block.rows());
    RowMatrix eta;
    std::vector<double> value(n), slope(n), curvature(n), weight(n, 1.0);
    if (beside) {
      block.predict(*beside, eta);
      model_.family().likelihood(block.facts(), {eta.data(), n}, value, slope, curvature);
      for (std::size_t i = 0; i < n; ++i) weight[i] = curvature[i] < 0.0 ? 1.0 : 0.0;
    }
    block.predict(theta, eta);
    eased->likelihood(block.facts(), {eta.data(), n}, value, slope, curvature);
    eased->scale_curvature(block.facts(), {eta.data(), n}, curvature);
    weigh(block, weights_, weight, 1);
    for (std::size_t i = 0; i < n; ++i) {
      weight[i] *= factor * factor;
      if (curvature[i] > 0.0) terms.value += weight[i] * slope[i] * (slope[i] / curvature[i]);
      terms.slope(static_cast<Index>(i), 0) = weight[i] * slope[i];
      curvature[i] *= weight[i];
    }
    terms.curvature[0] = std::move(curvature);
  });
  model_.term().surrogate(theta, sums.slope);
  Matrix precision = sums.curvature[0].selfadjointView<Eigen::Lower>();
  model_.term().curvature(Term::Of::surrogate, theta).add_to(precision);
  const auto metric = Precision::of(precision);
  if (!metric || !sums.slope.allFinite()) return std::nullopt;
  return EasedStep{theta + metric->solve(sums.slope), sums.value / total_weight()};
}

double WeightedPosterior::variance_of_difference(const Vector& a, const Vector& b) {
  queries_ += 2 * store_.rows();
  const Index k = model_.predictors();
  const Matrix first = model_.arrangement().columns(a), second = model_.arrangement().columns(b);
  const auto square = [&](const Block& block, BlockTerms& terms) {
    const auto n = static_cast<std::size_t>(block.rows());
    RowMatrix eta;
    std::vector<double> one(n), other(n);
    block.predict(first, eta);
    model_.family().likelihood(block.facts(), {eta.data(), n * static_cast<std::size_t>(k)}, one, {}, {});
    block.predict(second, eta);
    model_.family().likelihood(block.facts(), {eta.data(), n * static_cast<std::size_t>(k)}, other, {}, {});
    for (std::size_t i = 0; i < n; ++i) one[i] -= other[i];
    weigh(block, weights_, one, 1);
    for (const double difference : one) terms.value += difference * difference;
    terms.slope.setZero();
  };
  return collapse(store_, model_.arrangement(), 0, execution_, square).value;
}

}  // namespace flymc
