// Shared reference problems: small tables with known coefficients, for each family.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "flymc/bound/bound.hpp"
#include "flymc/model/binomial.hpp"
#include "flymc/model/cloglog.hpp"
#include "flymc/model/gaussian.hpp"
#include "flymc/model/logistic.hpp"
#include "flymc/model/model.hpp"
#include "flymc/model/poisson.hpp"
#include "flymc/model/probit.hpp"
#include "flymc/model/residual.hpp"
#include "flymc/model/softmax.hpp"
#include "flymc/model/student_t.hpp"
#include "flymc/model/survival.hpp"

namespace flymc::problems {

// Threads and ranks for tests: two threads, one rank.
struct Machine {
  explicit Machine(int count = 2) : threads(count) {}
  Threads threads;
  Execution execution() const { return {threads}; }
};

// An intercept and `columns - 1` standard normal features.
inline RowMatrix features(Index rows, Index columns, std::uint64_t seed) {
  RowMatrix x(rows, columns);
  const PhiloxRandom random(seed, 1000, 0);
  random.normals(Purpose::simulate, 0, {x.data(), static_cast<std::size_t>(x.size())});
  x.col(0).setOnes();
  return x;
}

// Targets drawn from the model at theta.
inline Vector targets(const Model& model, const RowMatrix& x, const Vector& theta, std::uint64_t seed) {
  const PhiloxRandom random(seed, 1001, 0);
  const RowMatrix eta = x * model.arrangement().columns(theta);
  Vector y(x.rows());
  for (Index i = 0; i < x.rows(); ++i)
    y[i] = model.family().simulate({eta.row(i).data(), static_cast<std::size_t>(eta.cols())}, random,
                                   static_cast<std::uint64_t>(i));
  return y;
}

// The same for a model that draws its residual scale, with coefficients and sigma as parameters: rows end with their
// target.
inline Store rows_with_targets(const Model& model, const RowMatrix& x, const Vector& parameters, std::uint64_t seed) {
  const Index d = x.cols();
  const double at_zero = 0.0;
  RowMatrix extended(x.rows(), d + 1);
  extended.leftCols(d) = x;
  for (Index i = 0; i < x.rows(); ++i)
    extended(i, d) = x.row(i).dot(parameters.head(d)) +
                     parameters[d] * model.family().simulate({&at_zero, 1}, PhiloxRandom(seed, 1001, 0),
                                                             static_cast<std::uint64_t>(i));
  return Store::from_matrix(extended, extended.col(d));
}

struct Problem {
  Model model;
  Store store;
  Vector theta;  // the parameters from which the targets were drawn
};

// theta from a normal of standard deviation 0.7, then features and targets.
inline Problem make(const Model& model, Index rows, Index columns, std::uint64_t seed) {
  Vector theta(columns * model.predictors());
  PhiloxRandom(seed, 1002, 0).normals(Purpose::simulate, 0, {theta.data(), static_cast<std::size_t>(theta.size())});
  theta *= 0.7;
  const RowMatrix x = features(rows, columns, seed);
  return {model, Store::from_matrix(x, targets(model, x, theta, seed)), theta};
}

// The three families, each with a proper prior.
inline std::vector<Model> models() {
  return {Model(Logistic{}, Prior::normal(0.0, 2.0)), Model(Softmax{3}, Prior::normal(0.0, 1.5)),
          Model(StudentT{4.0, 0.8}, Prior::laplace(0.0, 1.0))};
}

// A logistic bound whose curvature grows with the distance from the anchor, with a finite radius. |l'''| <= 1 / (6 sqrt
// 3), so -remainder <= w delta^2 / 2 + |delta|^3 / (36 sqrt 3), and |delta| <= reach rho turns one of the three deltas
// into growth. It exercises every part of the general form.
class CubicRule final : public BoundRule {
 public:
  explicit CubicRule(double radius) : radius_(radius) {}
  std::string name() const override { return "cubic"; }
  double radius() const override { return radius_; }
  bool uses_spread() const override { return true; }
  bool grows() const override { return true; }
  void coefficients(const BatchedFamily& family, const FactSpans& rows, std::span<const double> eta_anchor,
                    std::span<const double> spread, Coefficients& out) const override {
    out = {};
    out.curvature.resize(rows.size());
    out.growth.resize(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      out.curvature[i] = rows[i].weight * sigmoid(eta_anchor[i]) * sigmoid(-eta_anchor[i]);
      out.growth[i] = rows[i].weight * std::sqrt(spread[i]) / (18.0 * std::sqrt(3.0));
    }
    static_cast<void>(family);
  }

 private:
  double radius_;
};

// The lit rows' log likelihoods minus their quadratics at the anchor, from remainders; and the slopes of these.
inline Gaps lit_gaps(const Bound& bound, const BoundPoint& point) {
  const BoundRows& rows = bound.lit().fixed;
  const auto k = static_cast<std::size_t>(bound.family().predictors());
  Gaps out;
  out.gap.resize(rows.size());
  out.slope.resize(rows.size() * k);
  out.delta.resize(rows.size() * k);
  rows.x.project(point.change, out.delta);
  bound.family().remainder(rows.facts.spans(), rows.eta_anchor, out.delta, out.gap, out.slope);
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t p = 0; p < k; ++p)
      for (std::size_t q = 0; q < k; ++q) {
        const double bend = rows.coefficients.curvature[(i * k + p) * k + q] * out.delta[i * k + q];
        out.gap[i] += 0.5 * bend * out.delta[i * k + p];
        out.slope[i * k + p] += bend;
      }
  return out;
}

}  // namespace flymc::problems
