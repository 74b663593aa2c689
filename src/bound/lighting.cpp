// Which rows of a bound are lit, and how the sums change.
#include <algorithm>
#include <cmath>

#include "flymc/bound/bound.hpp"

namespace flymc {
namespace {

// sum_n c_n (x) x_n x_n' over copies of rows, with its lower triangle only.
Matrix weighted_gram(const RowCopies& rows, const std::vector<double>& c, Index k) {
  const Index d = rows.features(), n = static_cast<Index>(rows.size());
  const Eigen::Map<const RowMatrix> x(rows.row(0), n, d);
  const Eigen::Map<const RowMatrix> weights(c.data(), n, k * k);
  Matrix out = Matrix::Zero(d * k, d * k);
  for (Index p = 0; p < k; ++p)
    for (Index q = 0; q <= p; ++q) {
      const RowMatrix weighted = weights.col(p * k + q).asDiagonal() * x;
      out.block(p * d, q * d, d, d).noalias() = weighted.transpose() * x;
    }
  out.triangularView<Eigen::StrictlyUpper>().setZero();
  return out;
}

// The largest v'M v over v'A v = 1, for A = L L' and M with its lower triangle, by power iteration.
double largest_ratio(const Matrix& m, const Metric& a) {
  Vector v = Vector::Ones(m.rows()).normalized();
  double ratio = 0.0;
  for (int i = 0; i < 50; ++i) {
    const Vector next = a.whiten_gradient(m.selfadjointView<Eigen::Lower>() * a.unwhiten(v));
    ratio = next.norm();
    if (!(ratio > 0.0)) return 0.0;
    v = next / ratio;
  }
  return ratio;
}

// Nanoseconds per effective draw, about, with `lit` rows lit and `bright` rows bright. Beside its rows an iteration has
// some products with D x D matrices. `excess` is how much more curvature than the posterior the bounds of the rows with
// a z have, along the direction where that is most: z says so much about theta there, and the chain is slowed down by
// it. The square fits what was measured (docs/benchmarks.md, "Lit rows").
double cost_of_a_draw(double lit, double bright, double excess, double dimension) {
  constexpr double evaluations = 4.0;
  const double product = 0.06 * dimension * dimension;
  const double iteration = 2000.0 + 40.0 * dimension + 5.0 * product + 3.0 * bright * (250.0 + product) +
                           evaluations * (lit + bright) * (60.0 + 1.5 * dimension);
  const double slower = 1.0 + 4.0 * excess;
  return iteration * slower * slower;
}

}  // namespace

void Bound::take_out(const BoundRows& rows, const BoundRows& as_lit, BoundSums& sums) const {
  const Index k = model_.predictors();
  std::vector<double> more = rows.coefficients.curvature;
  for (std::size_t e = 0; e < more.size(); ++e) more[e] -= as_lit.coefficients.curvature[e];
  sums.curvature -= weighted_gram(rows.x, more, k);
  if (rule_->grows()) sums.growth -= weighted_gram(rows.x, rows.coefficients.growth, k);
}

double Bound::cheapest_limit(const Store& store, const std::vector<LooseRows::Row>& loose,
                             const Communicator& communicator) const {
  const auto dimension = static_cast<double>(anchor_.size());
  const double typical = std::sqrt(dimension);
  constexpr double none = std::numeric_limits<double>::infinity();
  if (!rule_->grows()) return none;  // the likelihood's own curvature was not summed
  Vector slope = Vector::Zero(anchor_.size()), prior = Vector::Zero(anchor_.size());
  model_.prior().surrogate(anchor_, slope, prior);
  Matrix posterior = sums_.hessian.selfadjointView<Eigen::Lower>();
  posterior.diagonal() += prior;
  const auto metric = Metric::from_precision(posterior);
  if (!metric) return none;

  const auto over_ranks = [&](double own) {
    double sum = 0.0;
    for (const double part : gather_all(communicator, std::span<const double>(&own, 1))) sum += part;
    return sum;
  };
  double bright = over_ranks(expected_bright());
  BoundSums sums = sums_;
  std::size_t lit = 0;
  double cheapest = none, least = none;
  for (const double limit : {none, 10.0, 3.0, 1.0, 0.3, 0.1, 0.05, 0.02, 0.01}) {
    std::vector<RowId> rows;
    for (; lit + rows.size() < loose.size() && loose[lit + rows.size()].spread > limit;)
      rows.push_back(loose[lit + rows.size()].row);
    if (limit != none && rows.empty()) continue;
    if (!rows.empty()) {
      BoundRows before;
      before.fetch(store, rows, communicator);
      BoundRows as_lit = before;
      complete(before);
      complete_as_lit(as_lit);
      take_out(before, as_lit, sums);
      lit += rows.size();
      double gone = 0.0;
      for (const RowId row : rows)
        if (expected_gaps_.has(row)) gone += std::min(1.0, ExpectedGaps::value(expected_gaps_.level(row)));
      bright -= over_ranks(gone);
    }
    const double excess = largest_ratio(sums.curvature - sums.hessian + typical * sums.growth, *metric);
    const double cost = cost_of_a_draw(static_cast<double>(lit), std::max(0.0, bright), excess, dimension);
    if (cost < least) {
      least = cost;
      cheapest = limit;
    }
  }
  return cheapest;
}

double Bound::expected_bright() const {
  double sum = 0.0;
  for (const std::uint8_t level : expected_gaps_.levels()) sum += std::min(1.0, ExpectedGaps::value(level));
  return sum;
}

void Bound::light(const Store& store, const std::vector<LooseRows::Row>& loose, const Lighting& lighting,
                  const Communicator& communicator) {
  const double above = lighting.automatic ? cheapest_limit(store, loose, communicator) : lighting.above;
  std::vector<RowId> rows;
  for (const LooseRows::Row& row : loose)
    if (row.spread > above) rows.push_back(row.row);
  if (rows.empty()) return;
  std::sort(rows.begin(), rows.end());
  BoundRows before;
  before.fetch(store, rows, communicator);
  lit_ = LitRows(before, above);
  complete_as_lit(lit_.fixed);
  complete(before);
  take_out(before, lit_.fixed, sums_);
  for (const RowId row : rows)
    if (expected_gaps_.has(row)) expected_gaps_.forget(row);
}

}  // namespace flymc
