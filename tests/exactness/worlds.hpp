// Tiny models for Geweke's test: a prior, a fixed design, a loose bound, and each row's terms in the paper's formulas.
#pragma once

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "flymc/diagnose/quantile_functions.hpp"
#include "problems/problems.hpp"

namespace flymc::exactness {

// The terms of a row by the formulas of the paper instead of the library's, which use gaps.
struct RowTerms {
  double log_likelihood;
  double log_bound;
};

// One row at one theta: its target, and its predictors there and at the anchor; for a bound that grows, also the
// distance rho of theta from the anchor, the row's reach, and the K x K covariance of its change.
struct RowView {
  double y;
  Predictor eta;
  Predictor anchor;
  double rho;
  double reach;
  std::span<const double> spread;
};

// A model with a fixed design and a bound with a fixed anchor away from typical data: bounds are loose, and many rows
// are bright.
struct World {
  std::string name;
  Model model;
  Vector location, scale;  // of the prior, for each coefficient
  double unit_median;      // of |theta| at location 0 and scale 1
  RowMatrix x;
  Vector anchor;
  std::shared_ptr<const BoundRule> rule;
  std::optional<Precision> metric;  // of the bound
  std::function<RowTerms(const RowView&)> terms;
  Lighting lighting = {};
  double unit = 1.0;                                                      // the unit of a row's spread
  double without_bound_beyond = std::numeric_limits<double>::infinity();  // rows with a larger reach x radius are lit

  Index dimension() const { return anchor.size(); }
};

inline double log_logistic(double m) { return -std::log1p(std::exp(-m)); }

// log sigmoid(m) >= log sigmoid(xi) + (m - xi) / 2 - lambda(xi) (m^2 - xi^2), lambda(xi) = tanh(xi / 2) / (4 xi).
inline double jaakkola_jordan(double m, double xi) {
  return log_logistic(xi) + 0.5 * (m - xi) - std::tanh(0.5 * xi) / (4.0 * xi) * (m * m - xi * xi);
}

inline double in_class(const RowView& row, Predictor eta) { return row.y > 0.5 ? eta[0] : -eta[0]; }

inline RowTerms logistic_anchored(const RowView& row) {
  const double m = in_class(row, row.eta);
  return {log_logistic(m), jaakkola_jordan(m, std::abs(row.anchor[0]))};
}

inline RowTerms logistic_fixed(const RowView& row) {
  const double m = in_class(row, row.eta);
  return {log_logistic(m), jaakkola_jordan(m, 1.5)};
}

// Second-order Taylor at the anchor with curvature p (1 - p) + reach rho / (18 sqrt 3).
constexpr double cubic_radius = 1.5;
inline RowTerms logistic_cubic(const RowView& row) {
  const double m = in_class(row, row.eta), m0 = in_class(row, row.anchor);
  const double p = 1.0 / (1.0 + std::exp(-m0)), delta = m - m0;
  const double curvature = p * (1.0 - p) + row.reach * row.rho / (18.0 * std::numbers::sqrt3);
  return {log_logistic(m), log_logistic(m0) + (1.0 - p) * delta - 0.5 * curvature * delta * delta};
}

// Bohning: log L at the anchor + (e_y - p)'delta - (|delta|^2 - (sum delta)^2 / K) / 4.
inline RowTerms softmax_anchored(const RowView& row) {
  const auto own = static_cast<std::size_t>(row.y);
  double sum = 0.0, sum_anchor = 0.0, mean = 0.0, squares = 0.0, total = 0.0;
  for (std::size_t k = 0; k < row.eta.size(); ++k) {
    const double delta = row.eta[k] - row.anchor[k];
    sum += std::exp(row.eta[k]);
    sum_anchor += std::exp(row.anchor[k]);
    mean += std::exp(row.anchor[k]) * delta;
    squares += delta * delta;
    total += delta;
  }
  const double slope = row.eta[own] - row.anchor[own] - mean / sum_anchor;
  const double curvature = 0.5 * (squares - total * total / static_cast<double>(row.eta.size()));
  return {row.eta[own] - std::log(sum), row.anchor[own] - std::log(sum_anchor) + slope - 0.5 * curvature};
}

// log L = constant - (nu + 1)/2 log(1 + r^2 / (nu sigma^2)); the bound is its tangent in r^2 at the anchor's residual.
constexpr double student_nu = 4.0, student_sigma = 2.0;
inline RowTerms student_t_anchored(const RowView& row) {
  const double scale = student_nu * student_sigma * student_sigma;
  const double constant =
      std::lgamma(0.5 * (student_nu + 1.0)) - std::lgamma(0.5 * student_nu) - 0.5 * std::log(std::numbers::pi * scale);
  const auto log_likelihood = [&](double r) { return constant - 0.5 * (student_nu + 1.0) * std::log1p(r * r / scale); };
  const double r = row.y - row.eta[0], r0 = row.y - row.anchor[0];
  return {log_likelihood(r), log_likelihood(r0) - 0.5 * (student_nu + 1.0) * (r * r - r0 * r0) / (scale + r0 * r0)};
}

inline RowTerms poisson(const RowView& row) {
  return {row.y * row.eta[0] - std::exp(row.eta[0]) - std::lgamma(row.y + 1.0), 0.0};
}

// A quadratic about the anchor with curvature c + k rho. The family computes c and k: the laws test that they are
// right, and this tests that every part of the program uses the same ones.
template <class F>
std::function<RowTerms(const RowView&)> sharp_terms(F family, const Zone& zone, RowTerms (*anchored)(const RowView&)) {
  return [family, zone, anchored](const RowView& row) {
    const std::size_t n = row.eta.size();
    std::vector<double> c(n * n), k(n * n), slope(n);
    family.sharp(row.y, row.anchor, row.spread, zone, c, k);
    family.slope(row.y, row.anchor, slope);
    RowView at_anchor = row;
    at_anchor.eta = row.anchor;
    double log_bound = anchored(at_anchor).log_likelihood;
    for (std::size_t i = 0; i < n; ++i) {
      const double delta = row.eta[i] - row.anchor[i];
      log_bound += slope[i] * delta;
      for (std::size_t j = 0; j < n; ++j)
        log_bound -= 0.5 * (c[i * n + j] + k[i * n + j] * row.rho) * delta * (row.eta[j] - row.anchor[j]);
    }
    return RowTerms{anchored(row).log_likelihood, log_bound};
  };
}

template <class F>
void sharpen(World& world, F family, const Zone& zone, RowTerms (*anchored)(const RowView&)) {
  world.rule = std::make_shared<SharpRule>(zone);
  world.terms = sharp_terms(family, zone, anchored);
}

enum class Target {
  logistic,
  logistic_fixed,
  logistic_cubic,
  softmax,
  student_t,
  logistic_sharp,
  softmax_sharp,
  student_t_sharp,
  logistic_lit,
  softmax_lit,
  student_t_lit,
  student_t_narrow,
  poisson_sharp,
  poisson_lit
};

// The median of |T|: P(|T| > t) = I_x(nu / 2, 1 / 2) at x = nu / (nu + t^2).
inline double student_t_median(double nu) {
  const double x = beta_quantile(0.5, nu / 2.0, 0.5);
  return std::sqrt(nu * (1.0 - x) / x);
}

inline std::vector<double> list(const Vector& v) { return {v.begin(), v.end()}; }

inline World make_world(Target target) {
  const double normal_median = normal_quantile(0.75);
  const Zone zone{1.5, 3.0};  // theta from the prior is outside about as often as inside
  const Vector location{{0.5, -0.3}}, scale{{3.0, 2.5}};
  World world{"Logistic",
              Model(Logistic{}, Prior::normal(list(location), list(scale))),
              location,
              scale,
              normal_median,
              problems::features(8, 2, 1),
              Vector{{-2.0, 1.5}},
              std::make_shared<AnchoredRule>(),
              std::nullopt,
              logistic_anchored};
  switch (target) {
    case Target::logistic:
      return world;
    case Target::logistic_fixed:
      world.name = "LogisticFixed";
      world.rule = std::make_shared<FixedJaakkolaJordanRule>(1.5);
      world.terms = logistic_fixed;
      return world;
    case Target::logistic_cubic:
      world.name = "LogisticCubic";
      world.rule = std::make_shared<problems::CubicRule>(cubic_radius);
      world.metric = Precision::of(Matrix{{0.8, 0.2}, {0.2, 0.5}});
      world.terms = logistic_cubic;
      return world;
    case Target::softmax:
      world.name = "Softmax";
      world.location = Vector{{0.4, -0.2, 0.0, 0.3, -0.5, 0.1}};
      world.scale = Vector{{1.5, 1.0, 1.2, 1.5, 1.0, 1.3}};
      world.model = Model(Softmax{3}, Prior::normal(list(world.location), list(world.scale)));
      world.x = problems::features(6, 2, 2);
      world.anchor = Vector{{1.0, -0.8, -1.2, 0.5, 0.3, 0.9}};
      world.terms = softmax_anchored;
      return world;
    case Target::student_t:
      world.name = "StudentT";
      world.scale = Vector{{1.0, 1.5}};
      world.model = Model(StudentT{student_nu, student_sigma}, Prior::laplace(list(location), list(world.scale)));
      world.unit_median = std::numbers::ln2;
      world.x = problems::features(6, 2, 3);
      world.anchor = Vector{{-1.5, 1.5}};
      world.terms = student_t_anchored;
      return world;
    case Target::logistic_sharp:
      world.name = "LogisticSharp";
      world.metric = Precision::of(Matrix{{0.8, 0.2}, {0.2, 0.5}});
      sharpen(world, Logistic{}, zone, logistic_anchored);
      return world;
    case Target::softmax_sharp: {
      // This prior is not normal.
      constexpr double nu = 9.0;
      world = make_world(Target::softmax);
      world.name = "SoftmaxSharp";
      world.model = Model(Softmax{3}, Prior::student_t(nu, list(world.location), list(world.scale)));
      world.unit_median = student_t_median(nu);
      world.metric = Precision::of(0.6 * Matrix::Identity(6, 6) + Matrix::Constant(6, 6, 0.05));
      sharpen(world, Softmax{3}, zone, softmax_anchored);
      return world;
    }
    case Target::student_t_sharp:
      world = make_world(Target::student_t);
      world.name = "StudentTSharp";
      world.anchor = Vector{{-3.75, 3.75}};  // farther from the data, because the bound is much tighter
      world.metric = Precision::of(Matrix{{0.8, 0.2}, {0.2, 0.5}});
      sharpen(world, StudentT{student_nu, student_sigma}, {1.5, 4.0}, student_t_anchored);
      return world;
    // Some rows are lit. The design and the metric determine which ones, not the targets.
    case Target::logistic_lit:
      world = make_world(Target::logistic_sharp);
      world.name = "LogisticLit";
      sharpen(world, Logistic{}, {1.5, 4.5}, logistic_anchored);
      world.lighting.above = 6.0;
      return world;
    case Target::softmax_lit:
      world = make_world(Target::softmax_sharp);
      world.name = "SoftmaxLit";
      world.lighting.above = 4.1;
      return world;
    case Target::student_t_lit:
      world = make_world(Target::student_t_narrow);
      world.name = "StudentTLit";
      sharpen(world, StudentT{student_nu, student_sigma}, {1.5, 8.0}, student_t_anchored);
      world.unit = student_sigma;
      world.lighting.above = 5.0 / (student_sigma * student_sigma);
      return world;
    case Target::poisson_sharp:
      world.name = "PoissonSharp";
      world.location = Vector{{0.3, -0.2}};
      world.scale = Vector{{0.7, 0.5}};
      world.model = Model(Poisson{}, Prior::normal(list(world.location), list(world.scale)));
      world.anchor = Vector{{-0.6, 0.6}};
      world.metric = Precision::of(Matrix{{3.0, 0.6}, {0.6, 4.0}});
      sharpen(world, Poisson{}, zone, poisson);
      return world;
    // Two rows reach so far that they have no bound, and are lit only for that reason.
    case Target::poisson_lit:
      world = make_world(Target::poisson_sharp);
      world.name = "PoissonLit";
      world.metric = Precision::of(Matrix{{1.5, 0.3}, {0.3, 2.0}});
      world.x(0, 1) = 9.0;
      world.x(1, 1) = -9.0;
      world.without_bound_beyond = 12.0;
      return world;
    // A radius so small that theta is beyond it nine times out of ten.
    case Target::student_t_narrow:
      world = make_world(Target::student_t_sharp);
      world.name = "StudentTNarrow";
      world.anchor = Vector{{-5.0, 5.0}};
      return world;
  }
  return world;
}

// A row at (theta, y): its likelihood there, and the gap that determines its z, which beyond the radius is the gap at
// the nearest point of the zone. Lit rows have no z.
struct RowState {
  double log_likelihood;
  double gap;
  bool lit;
};

inline std::vector<RowState> row_states(const World& world, const Vector& theta, const Vector& y) {
  const Index predictors = world.model.predictors();
  const Arrangement arrangement = world.model.arrangement();
  const Vector offset = theta - world.anchor;
  const double far = world.metric ? std::sqrt(offset.dot(world.metric->matrix() * offset)) : 0.0;
  const double rho = std::min(far, world.rule->radius());
  const Vector nearest = rho < far ? Vector(world.anchor + rho / far * offset) : theta;
  const RowMatrix eta = world.x * arrangement.columns(theta), zone = world.x * arrangement.columns(nearest);
  const RowMatrix anchor = world.x * arrangement.columns(world.anchor);
  const auto k = static_cast<std::size_t>(predictors);
  std::vector<RowState> out;
  for (Index i = 0; i < eta.rows(); ++i) {
    // |x'Delta| <= sqrt(x' P^-1 x) sqrt(Delta' P Delta).
    const Vector x = world.x.row(i);
    Matrix spread;  // (e_p (x) x)' P^-1 (e_q (x) x)
    double widest = 0.0;
    if (world.metric) {
      Matrix blocks = Matrix::Zero(world.dimension(), predictors);
      for (Index p = 0; p < predictors; ++p) blocks.col(p).segment(p * x.size(), x.size()) = x;
      spread = blocks.transpose() * world.metric->matrix().ldlt().solve(blocks);
      // The spread of the predictor, or for a softmax the largest of a difference of two.
      widest = predictors == 1 ? spread(0, 0) / (world.unit * world.unit) : 0.0;
      for (Index p = 0; p < predictors; ++p)
        for (Index q = 0; q < p; ++q) widest = std::max(widest, spread(p, p) + spread(q, q) - 2.0 * spread(p, q));
    }
    const double reach = world.metric ? std::sqrt(spread(0, 0)) : 0.0;
    const auto terms = [&](const RowMatrix& at) {
      return world.terms({y[i],
                          {at.row(i).data(), k},
                          {anchor.row(i).data(), k},
                          rho,
                          reach,
                          {spread.data(), static_cast<std::size_t>(spread.size())}});
    };
    const RowTerms decides = terms(zone);
    const bool lit = widest > world.lighting.above || reach * world.rule->radius() > world.without_bound_beyond;
    out.push_back({terms(eta).log_likelihood, decides.log_likelihood - decides.log_bound, lit});
  }
  return out;
}

inline Vector simulate_targets(const World& world, const Vector& theta, const Random& random) {
  const RowMatrix eta = world.x * world.model.arrangement().columns(theta);
  Vector y(eta.rows());
  for (Index i = 0; i < eta.rows(); ++i)
    y[i] = world.model.family().simulate({eta.row(i).data(), static_cast<std::size_t>(eta.cols())}, random,
                                         static_cast<std::uint64_t>(i));
  return y;
}

}  // namespace flymc::exactness
