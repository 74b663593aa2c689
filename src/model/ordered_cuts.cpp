// Distances between cut points, and their derivatives.
#include "flymc/model/ordered_cuts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "flymc/core/error.hpp"

namespace flymc {

OrderedCuts::OrderedCuts(Prior prior, OrderedTarget target) : prior_(std::move(prior)), target_(std::move(target)) {
  const auto& weights = target_.category_weights;
  if (weights.size() < 3) throw InputError(fmt::format("ordered categories are three or more, not {}", weights.size()));
  for (std::size_t k = 0; k < weights.size(); ++k)
    if (!(weights[k] > 0.0) || !std::isfinite(weights[k]))
      throw InputError(
          fmt::format("the rows of category {} of {} weigh {} in all, and their cut points cannot be known; merge the "
                      "category with its neighbour",
                      k + 1, weights.size(), weights[k]));
}

void OrderedCuts::check(Index parameters) const {
  prior_.check(parameters);
  constexpr double least = 0.99;  // a row, apart from rounding
  for (std::size_t k = 1; k + 1 < target_.category_weights.size(); ++k)
    if (target_.category_weights[k] < least)
      throw InputError(fmt::format(
          "the rows of category {} of {} weigh {:.3g} in all, less than one row: its cut points come so close "
          "that chains do not tell how close; merge the category with its neighbour, or give larger weights",
          k + 1, target_.category_weights.size(), target_.category_weights[k]));
  if (parameters < cuts()) throw InputError(fmt::format("{} parameters for {} cut points", parameters, cuts()));
}

Vector OrderedCuts::parameters(const Vector& theta) const {
  Vector out = theta;
  out.head(cuts()) *= -1.0;
  return out;
}

// With g the distance of two cut points, W log(1 - exp(-g)) has the slope W / (exp(g) - 1) in g.
double OrderedCuts::between(const Vector& parameters, Vector* gradient) const {
  double sum = 0.0;
  for (Index k = 1; k < cuts(); ++k) {
    const double distance = parameters[k] - parameters[k - 1];
    if (!(distance > 0.0)) return -HUGE_VAL;
    const double weight = target_.category_weights[static_cast<std::size_t>(k)];
    sum += weight * std::log(-std::expm1(-distance));
    if (gradient == nullptr) continue;
    const double slope = weight / std::expm1(distance);
    (*gradient)[k] -= slope;
    (*gradient)[k - 1] += slope;
  }
  return sum;
}

double OrderedCuts::log_density(const Vector& theta, Vector* gradient) const {
  const Vector at = parameters(theta);
  Vector slope = Vector::Zero(gradient ? theta.size() : 0);
  const double value = prior_.log_density(at, gradient ? &slope : nullptr);
  if (gradient) *gradient += parameters(slope);
  return value + between(at, gradient);
}

double OrderedCuts::surrogate(const Vector& theta, Vector& gradient) const {
  const Vector at = parameters(theta);
  Vector slope = Vector::Zero(theta.size());
  const double value = prior_.surrogate(at, slope);
  gradient += parameters(slope);
  return value + between(at, &gradient);
}

// Minus the second derivative of W log(1 - exp(-g)) is W exp(g) / (exp(g) - 1)^2.
SparseSymmetric OrderedCuts::curvature(Of what, const Vector& theta) const {
  const Vector at = parameters(theta);
  SparseSymmetric out = prior_.curvature(what, at);
  for (Index k = 1; k < cuts() && what != Of::corner; ++k) {
    const double distance = at[k] - at[k - 1];
    const double bend =
        target_.category_weights[static_cast<std::size_t>(k)] / (std::expm1(distance) * -std::expm1(-distance));
    out.diagonal[k] += bend;
    out.diagonal[k - 1] += bend;
    out.couple(k - 1, k, -bend);
  }
  return out;
}

Vector OrderedCuts::centre(Index parameters) const {
  Vector out = prior_.centre(parameters);
  // The log odds of being below each cut point, from sums from both ends, in which no terms cancel.
  double sum = 0.0;
  for (Index k = 0; k < cuts(); ++k) out[k] = std::log(sum += target_.category_weights[static_cast<std::size_t>(k)]);
  sum = 0.0;
  for (Index k = cuts(); k > 0; --k)
    out[k - 1] -= std::log(sum += target_.category_weights[static_cast<std::size_t>(k)]);
  return theta(out);
}

Vector OrderedCuts::away(const Vector& at, const Vector& step) const {
  constexpr double most = 2.0;
  const Vector here = parameters(at), by = parameters(step);
  Vector out = here + by;
  for (Index k = 1; k < cuts(); ++k) {
    const double distance = here[k] - here[k - 1];
    out[k] = out[k - 1] + distance * std::exp(std::clamp((by[k] - by[k - 1]) / distance, -most, most));
  }
  return theta(out);
}

Vector OrderedCuts::simulate(Index parameters, const Random& random, Purpose purpose) const {
  Vector out = prior_.simulate(parameters, random, purpose);
  std::sort(out.begin(), out.begin() + cuts());
  return theta(out);
}

}  // namespace flymc
