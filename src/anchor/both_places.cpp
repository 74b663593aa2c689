// Newton's method for all entries of theta, and for all entries except one.
#include "flymc/anchor/both_places.hpp"

#include <cmath>
#include <numbers>
#include <numeric>

#include "flymc/anchor/long_tails.hpp"
#include "flymc/core/error.hpp"
#include "newton.hpp"

namespace flymc {
namespace {

// Sets an entry of theta so that its parameter has a given value, for given other entries.
class Held {
 public:
  Held(const Model& model, Index entry, double value) : model_(model), entry_(entry), value_(value) {}

  Vector at(Vector theta) const {
    Vector parameters = model_.parameters(theta);
    parameters[entry_] = value_;
    theta[entry_] = model_.theta(parameters)[entry_];
    return theta;
  }
  // The derivative of the entry in the last entry, which is where a drawn scale is. It does not depend on other
  // entries.
  double per_last(const Vector& theta) const {
    if (!model_.scales_coefficients()) return 0.0;
    constexpr double step = 1e-5;
    Vector up = theta, down = theta;
    up[theta.size() - 1] += step;
    down[theta.size() - 1] -= step;
    return (at(up)[entry_] - at(down)[entry_]) / (2.0 * step);
  }

 private:
  const Model& model_;
  Index entry_;
  double value_;
};

struct Spike {
  Vector theta;
  double value;
  Precision others;
};

// Damped Newton steps of all entries except a held one.
std::optional<Spike> climb_held(WeightedPosterior& posterior, const Held& held, Index entry, const Vector& start) {
  constexpr int most_steps = 50;
  constexpr double near_enough = 0.05;  // standard deviations
  std::vector<Index> others(static_cast<std::size_t>(start.size()));
  std::iota(others.begin(), others.end(), 0);
  others.erase(others.begin() + entry);
  Vector theta = held.at(start);
  Expansion here = posterior.expand(theta);
  for (int steps = 0; steps < most_steps; ++steps) {
    if (!std::isfinite(here.value) || !here.precision.allFinite()) return std::nullopt;
    const Index last = theta.size() - 1;
    const double along = held.per_last(theta);
    Matrix precision = here.precision;
    precision.col(last) += along * precision.col(entry);
    precision.row(last) += along * precision.row(entry);
    Vector gradient = here.gradient;
    gradient[last] += along * gradient[entry];
    const auto metric = Precision::of(precision(others, others));
    if (!metric) return std::nullopt;
    const Vector white = metric->whiten_gradient(gradient(others));
    if (white.norm() < near_enough) return Spike{theta, here.value, *metric};
    const Vector step = metric->unwhiten(white);
    double fraction = 1.0;
    for (;; fraction /= 2.0) {
      if (fraction < 1e-6) return std::nullopt;
      Vector there = theta;
      there(others) += fraction * step;
      there = held.at(there);
      Expansion next = posterior.expand(there);
      if (!(std::isfinite(next.value) && next.value > here.value)) continue;
      theta = std::move(there);
      here = std::move(next);
      break;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<BothPlaces> refit_both_places(const Store& store, const Model& model, const Execution& execution,
                                            Index entry, const Vector& start) {
  const auto [nu, location, scale] = *model.prior().student_t_of(entry);
  const std::pair<Index, Prior> flat[] = {{entry, Prior::flat()}};
  const Model rows = model.with_prior(model.prior().with(flat, start.size()));
  WeightedPosterior posterior(store, rows, execution);
  std::optional<Mode> rest;
  try {
    rest = climb(posterior, {.start = start});
  } catch (const InputError&) {
    return std::nullopt;
  }
  const auto spike = climb_held(posterior, Held(rows, entry, location), entry, start);
  if (!spike) return std::nullopt;

  // The prior's density at the rest is averaged over the parameter's standard deviation there. In the spike the prior's
  // whole mass counts, with the entry's density equal to the parameter's times the parameter's change per entry.
  const auto change = [&](const Vector& theta, const Vector& by) { return rows.parameter_change(theta, by)[entry]; };
  const Vector unit = Vector::Unit(start.size(), entry);
  const Vector& at_rest = rest->anchor.theta;
  const Precision& metric = rest->anchor.metric;
  const double sd = std::abs(change(at_rest, unit)) * std::sqrt(metric.solve(unit)[entry]);
  const double away = std::hypot(rows.parameters(at_rest)[entry] - location, sd);
  const double log_rest = rest->value + StudentTOfEntry{entry, nu, location, scale}.log_density(location + away) +
                          0.5 * std::log(2.0 * std::numbers::pi) - 0.5 * metric.log_determinant();
  const double log_spike =
      spike->value - std::log(std::abs(change(spike->theta, unit))) - 0.5 * spike->others.log_determinant();
  if (!std::isfinite(log_rest) || !std::isfinite(log_spike)) return std::nullopt;
  return BothPlaces{spike->theta, at_rest, log_spike - log_rest, sd, spike->others, posterior.queries()};
}

double laplace_mass(const Store& store, const Model& model, const Execution& execution, const Anchor& anchor) {
  return WeightedPosterior(store, model, execution).slope(anchor.theta).value - 0.5 * anchor.metric.log_determinant();
}

}  // namespace flymc
