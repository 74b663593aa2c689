// Finds the mode by Newton steps, and compares the approximation with draws.
#include "flymc/run/laplace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "flymc/bound/lit_curve.hpp"

namespace flymc {

std::optional<Laplace> laplace_of(const Model& model, const Preparation& preparation) {
  if (!preparation.anchor) return std::nullopt;
  const Anchor& anchor = *preparation.anchor;
  const Bound* bound = preparation.bound ? &*preparation.bound : nullptr;
  const bool has_slope = bound && bound->rule().touches() && bound->anchor() == anchor.theta;
  if (!has_slope && anchor.distance > AnchorOptions{}.tolerance) return std::nullopt;

  const Index d = anchor.theta.size();
  Laplace out{anchor.theta, {}};
  Matrix rows;  // the rows' own curvature
  if (has_slope && bound->sums().hessian.size() > 0) {
    rows = bound->sums().hessian.selfadjointView<Eigen::Lower>();
  } else {
    rows = anchor.metric.matrix();
    model.term().curvature(Term::Of::surrogate, anchor.theta).add_to(rows, -1.0);
  }
  // Finds the mode of the prior and the rows' quadratic at the anchor: one Newton step for a normal prior, a few for
  // others. If the mode is far from the anchor, as under another prior, lit rows are evaluated exactly, because their
  // quadratic is inaccurate there.
  struct At {
    double value;
    Vector slope;
    Matrix rows;  // their curvature here, the lower triangle
  };
  bool with_lit = false;
  const auto at = [&](const Vector& theta) {
    const Vector change = theta - anchor.theta, bent = rows * change;
    At here{bound->sums().slope.dot(change) - 0.5 * change.dot(bent), bound->sums().slope - bent, rows};
    if (!with_lit) return here;
    here.value += add_lit_beyond_quadratic(*bound, theta, here.slope, here.rows);
    out.queries += static_cast<RowId>(bound->lit().size());
    return here;
  };
  // Uses the same surrogate of the prior as the steps. The prior itself may have its mode in a corner, where the steps
  // would appear to go downhill.
  const auto value_at = [&](const Vector& theta) {
    Vector unused = Vector::Zero(d);
    return at(theta).value + model.term().surrogate(theta, unused);
  };
  constexpr double far = 0.05;  // standard deviations of the posterior
  constexpr int most_steps = 100;
  for (int i = 0; has_slope && i < most_steps; ++i) {
    At here = at(out.mean);
    const double value = here.value + model.term().surrogate(out.mean, here.slope);
    model.term().curvature(Term::Of::surrogate, out.mean).add_to(here.rows);
    const auto metric = Precision::of(Matrix(here.rows.selfadjointView<Eigen::Lower>()));
    if (!metric) return std::nullopt;
    const Vector step = metric->whiten_gradient(here.slope);
    Vector way = metric->unwhiten(step);
    with_lit = with_lit || (bound->lit().size() > 0 && bound->sums().hessian.size() > 0 && step.norm() > far);
    const double least = value - 1e-9 * (1.0 + std::abs(value));
    for (int halvings = 0; with_lit && halvings < 30 && value_at(out.mean + way) < least; ++halvings) way *= 0.5;
    out.mean += way;
    if (step.norm() < (with_lit ? 1e-4 : 1e-9)) break;
  }
  Matrix precision = has_slope ? Matrix(at(out.mean).rows.selfadjointView<Eigen::Lower>()) : rows;
  out.rows = precision;
  model.term().curvature(Term::Of::bend, out.mean).add_to(precision);
  const auto metric = Precision::of(precision);
  if (!metric) return std::nullopt;
  out.factor = metric->covariance_factor();
  return out;
}

std::optional<Anchor> mode_of(const Model& model, const Preparation& preparation) {
  const auto laplace = laplace_of(model, preparation);
  if (!laplace) return std::nullopt;
  const Matrix inverse = laplace->factor.triangularView<Eigen::Upper>().solve(
      Matrix::Identity(laplace->factor.rows(), laplace->factor.cols()));
  auto metric = Precision::of(inverse.transpose() * inverse);
  if (!metric) return std::nullopt;
  return Anchor{laplace->mean, *std::move(metric), laplace->queries, 0, 0.0};
}

double distance_from(const Laplace& laplace, const Bound& bound) {
  const Precision& metric = *bound.metric();
  const Matrix spread = metric.lower().transpose() * laplace.factor;
  return std::sqrt(metric.whiten(laplace.mean - bound.anchor()).squaredNorm() + spread.squaredNorm());
}

bool suits(const Model& model, const Preparation& preparation) {
  if (!preparation.bound || !preparation.bound->metric() || preparation.bound->sums().hessian.size() == 0) return false;
  // A change of the prior may have moved the mode into the new prior's spike, or out of the old one's.
  if (!long_tails_of(model, preparation).empty()) return false;
  const auto laplace = laplace_of(model, preparation);
  constexpr double farther = 1.15;  // a mode sqrt(D) / 3 away gives a ratio of 1.05
  return laplace && distance_from(*laplace, *preparation.bound) <=
                        farther * std::sqrt(static_cast<double>(preparation.bound->anchor().size()));
}

std::vector<LaplaceCheck> check_laplace(std::span<const ParameterSummary> parameters, const Vector& mean,
                                        const Vector& sd) {
  std::vector<LaplaceCheck> out;
  for (std::size_t j = 0; j < parameters.size(); ++j) {
    const ParameterSummary& p = parameters[j];
    const auto i = static_cast<Index>(j);
    out.push_back({(p.mean - mean[i]) / sd[i], p.mcse_mean / sd[i], p.sd / sd[i], p.mcse_sd / sd[i]});
  }
  return out;
}

std::string format_table(std::span<const ParameterSummary> parameters, std::span<const LaplaceCheck> checks) {
  std::size_t width = 9;
  std::vector<std::string> names;
  for (const ParameterSummary& p : parameters) {
    names.push_back(readable_name(p.name));
    width = std::max(width, display_width(names.back()));
  }
  std::string out =
      fmt::format("{:{}}  {:>7} {:>7}  {:>8} {:>7}\n", "parameter", width, "shift", "mcse", "sd ratio", "mcse");
  // A posterior without a standard deviation cannot be compared.
  const auto number = [](double x) { return std::isnan(x) ? std::string("-") : fmt::format("{:.3f}", x); };
  for (std::size_t j = 0; j < checks.size(); ++j) {
    const LaplaceCheck& c = checks[j];
    out += names[j] + std::string(width - display_width(names[j]), ' ') +
           fmt::format("  {:>7} {:>7}  {:>8} {:>7}\n", number(c.shift), number(c.shift_mcse), number(c.ratio),
                       number(c.ratio_mcse));
  }
  return out;
}

}  // namespace flymc
