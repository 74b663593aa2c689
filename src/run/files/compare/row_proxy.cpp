// Mean and covariance of the draws, and the products of rows with them.
#include "row_proxy.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "../reading/row_targets.hpp"
#include "flymc/data/row_copies.hpp"

namespace flymc {
namespace {

// With more coefficients than this, the covariance is estimated from this many draws. A row's H then has an error of
// sqrt(2 / 128) = 12 %, which is acceptable because the proxy only reduces the variance of an estimate.
constexpr Index most_directions = 128;

// The mean of the draws as theta of the store, and their covariance = factor factor'.
struct Moments {
  Vector mean;
  Matrix factor;
};

Moments moments_of(const DrawsFile& file, const RunParts& parts) {
  const Index d = file.coefficients();
  Moments out{Vector::Zero(d), {}};
  std::int64_t draws = 0;
  file.scan([&](const DrawsBatch& batch) {
    for (Index i = 0; i < batch.theta.rows(); ++i) out.mean += parts.theta(batch.theta.row(i).transpose());
    draws += batch.theta.rows();
  });
  out.mean /= static_cast<double>(draws);
  const bool all = d <= most_directions;
  const std::int64_t kept = all ? draws : std::min<std::int64_t>(draws, most_directions);
  Matrix covariance = Matrix::Zero(all ? d : 0, all ? d : 0), thinned(all ? 0 : d, all ? 0 : kept);
  std::int64_t seen = 0, next = 0;
  file.scan([&](const DrawsBatch& batch) {
    for (Index i = 0; i < batch.theta.rows(); ++i, ++seen) {
      if (next >= kept || seen != next * draws / kept) continue;
      const Vector change = parts.theta(batch.theta.row(i).transpose()) - out.mean;
      if (all)
        covariance.selfadjointView<Eigen::Lower>().rankUpdate(change);
      else
        thinned.col(next) = change;
      ++next;
    }
  });
  const double freedom = static_cast<double>(std::max<std::int64_t>(kept - 1, 1));
  if (!all) {
    out.factor = thinned / std::sqrt(freedom);
    return out;
  }
  const Eigen::SelfAdjointEigenSolver<Matrix> eigen(covariance / freedom);
  out.factor = eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(0.0).cwiseSqrt().asDiagonal();
  return out;
}

}  // namespace

RowProxy::RowProxy(const RunParts& parts, const TableRows& table, const DrawsFile& draws)
    : parts_(parts), table_(table), store_(parts.rows.store), model_(parts.model) {
  const Index k = model_.predictors(), features = store_.features();
  const Moments moments = moments_of(draws, parts);
  mean_ = model_.parameters(moments.mean);
  directions_ = moments.factor.cols();
  padded_ = ((1 + directions_) * k + panel_width - 1) / panel_width * panel_width;
  columns_.resize(static_cast<std::size_t>(padded_ * features), 0.0);
  for (Index q = 0; q <= directions_; ++q) {
    const Matrix theta = model_.arrangement().columns(q == 0 ? moments.mean : Vector(moments.factor.col(q - 1)));
    for (Index p = 0; p < k; ++p) {
      const Index column = q * k + p;
      double* const panel = columns_.data() + column / panel_width * features * panel_width;
      for (Index j = 0; j < features; ++j) panel[j * panel_width + column % panel_width] = theta(j, p);
    }
  }
}

RowId RowProxy::rows_at_once() const { return std::clamp<RowId>((RowId{1} << 20) / padded_, 64, 4096); }

std::vector<double> RowProxy::of(std::span<const RowId> rows) const {
  const TableRows::Pieces of = table_.pieces(rows);
  const auto k = static_cast<std::size_t>(model_.predictors()), n = of.stored.size(),
             width = static_cast<std::size_t>(padded_);
  const Index features = store_.features();
  RowCopies x;
  FactColumns facts;
  x.copy(store_, of.stored, facts);
  std::vector<double> products(n * width);
  for (Index column = 0; column < padded_; column += panel_width)
    x.multiply_panel(widest_vectors(), columns_.data() + column * features, features, 0, static_cast<Index>(n),
                     products.data() + column, padded_);
  std::vector<double> value(n), eta(n * k), slope(n * k), curvature(n * k * k);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t p = 0; p < k; ++p)
      eta[i * k + p] = products[i * width + p] + (facts.kinds.offset && p == 0 ? facts.offset[i] : 0.0);
  model_.family().likelihood(facts.spans(), eta, value, slope, curvature);
  std::vector<double> out;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const std::size_t i = of.first[r];
    const RowFacts of_row = facts.spans()[i];
    if (of.two(r)) {
      const BetweenCuts between(mean_, static_cast<Index>(table_.facts(of.stored[i]).target));
      out.push_back(value[i] + value[i + 1] + of_row.weight * between.value -
                    0.5 * loss_of_two(products.data() + i * width, slope.data() + i, curvature.data() + i,
                                      of_row.weight * between.slope, of_row.weight * between.curvature));
      continue;
    }
    out.push_back(value[i] -
                  0.5 * loss(products.data() + i * width, slope.data() + i * k, curvature.data() + i * k * k));
    out.back() += likelihood_constant(parts_, of.stored[i], of_row);
    out.back() += of_row.weight * model_.log_likelihood_besides(mean_, of_row.target);
  }
  return out;
}

// H = sum_q w_q w_q', so s'H s = sum_q (s'w_q)^2 and tr(C H) = sum_q w_q'C w_q.
double RowProxy::loss(const double* products, const double* slope, const double* curvature) const {
  const auto k = static_cast<std::size_t>(model_.predictors());
  double sum = 0.0;
  for (std::size_t q = 1; q <= static_cast<std::size_t>(directions_); ++q) {
    const double* w = products + q * k;
    double along = 0.0, bent = 0.0;
    for (std::size_t p = 0; p < k; ++p) {
      along += slope[p] * w[p];
      for (std::size_t r = 0; r < k; ++r) bent += w[p] * curvature[p * k + r] * w[r];
    }
    sum += along * along + bent;
  }
  return sum;
}

// The same for two linear predictors: the first and the second are eta minus a cut point each. The distance of the cut
// points is the first minus the second.
double RowProxy::loss_of_two(const double* products, const double* slope, const double* curvature, double slope_between,
                             double curvature_between) const {
  double sum = 0.0;
  for (Index q = 1; q <= directions_; ++q) {
    const double one = products[q], two = products[padded_ + q], distance = one - two;
    const double along = slope[0] * one + slope[1] * two + slope_between * distance;
    sum +=
        along * along + curvature[0] * one * one + curvature[1] * two * two + curvature_between * distance * distance;
  }
  return sum;
}

}  // namespace flymc
