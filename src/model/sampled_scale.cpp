// The chain rule between (psi, tau) and (beta, sigma).
#include "flymc/model/sampled_scale.hpp"

#include <fmt/format.h>

#include <cmath>

#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"

namespace flymc {

SampledScale::SampledScale(Prior prior, const ScaledTarget& target) : prior_(std::move(prior)), target_(target) {
  if (!(target.unit > 0.0) || !std::isfinite(target.unit) || !std::isfinite(target.shift))
    throw InputError("the target's shift and unit must be finite numbers, and the unit positive");
}

void SampledScale::check(Index parameters) const {
  prior_.check(parameters);
  if (!(powers(parameters) > 0.0))
    throw InputError(fmt::format(
        "{} of weight {:.6g} in all are too few to draw a residual scale beside {} coefficients: it takes more than "
        "{}; {}leave out columns, or divide the weights by their mean",
        target_.censored ? "events" : "rows", target_.total_weight, parameters - 1, parameters + 1,
        target_.censored ? "" : fmt::format("give the scale ({}), ", mention("sigma"))));
}

void SampledScale::check_limits(const Vector& theta) const {
  constexpr double least = 1e-6;  // of the target's standard deviation: sums of squares hardly resolve less
  if (theta[theta.size() - 1] * least < 1.0) return;
  throw InputError(
      fmt::format("residuals are less than {:g} of the target's standard deviation, too small to draw their scale: "
                  "either the columns "
                  "explain the target exactly (leave out the one that holds it), or a few targets lie so far beyond "
                  "all others that "
                  "they alone make that deviation (find them, or leave them out)",
                  least));
}

double SampledScale::log_likelihood_besides(const Vector& parameters, double target) const {
  return -std::log(parameters[parameters.size() - 1]) * (target_.censored ? target : 1.0);
}

double SampledScale::powers(Index parameters) const {
  return target_.total_weight - static_cast<double>(parameters) - 1.0;
}

Vector SampledScale::parameters(const Vector& theta) const {
  const Index d = theta.size() - 1;
  const double sigma = target_.unit / theta[d];
  Vector out = -sigma * theta;
  if (d > 0) out[0] += target_.shift;
  out[d] = sigma;
  return out;
}

Vector SampledScale::theta(const Vector& parameters) const {
  const Index d = parameters.size() - 1;
  Vector out = parameters;
  if (d > 0) out[0] -= target_.shift;
  out /= -parameters[d];
  out[d] = target_.unit / parameters[d];
  return out;
}

// d beta_j = -unit / tau d psi_j + unit psi_j / tau^2 d tau,  d sigma = -unit / tau^2 d tau.
Vector SampledScale::change(const Vector& theta, const Vector& direction) const {
  const Index d = theta.size() - 1;
  const double tau = theta[d], sigma = target_.unit / tau;
  Vector out = -sigma * direction + (sigma * direction[d] / tau) * theta;
  out[d] = -sigma * direction[d] / tau;
  return out;
}

Vector SampledScale::pulled(const Vector& theta, const Vector& gradient) const {
  const Index d = theta.size() - 1;
  const double tau = theta[d], sigma = target_.unit / tau;
  Vector out = -sigma * gradient;
  out[d] = (sigma / tau) * (gradient.head(d).dot(theta.head(d)) - gradient[d]);
  return out;
}

double SampledScale::log_density(const Vector& theta, Vector* gradient) const {
  const Index d = theta.size() - 1;
  const double tau = theta[d];
  if (!(tau > 0.0)) return -HUGE_VAL;
  Vector slope = Vector::Zero(gradient ? theta.size() : 0);
  const double value =
      prior_.log_density(parameters(theta), gradient ? &slope : nullptr) + powers(theta.size()) * std::log(tau);
  if (gradient) {
    *gradient += pulled(theta, slope);
    (*gradient)[d] += powers(theta.size()) / tau;
  }
  return value;
}

double SampledScale::surrogate(const Vector& theta, Vector& gradient) const {
  const Index d = theta.size() - 1;
  const double tau = theta[d];
  if (!(tau > 0.0)) return -HUGE_VAL;
  Vector slope = Vector::Zero(theta.size());
  const double value = prior_.surrogate(parameters(theta), slope) + powers(theta.size()) * std::log(tau);
  gradient += pulled(theta, slope);
  gradient[d] += powers(theta.size()) / tau;
  return value;
}

SparseSymmetric SampledScale::curvature(Of what, const Vector& theta) const {
  const Index d = theta.size() - 1;
  const double tau = theta[d], sigma = target_.unit / tau, along = sigma / tau;
  const Vector at = parameters(theta), weights = prior_.curvature(what, at).diagonal;
  SparseSymmetric out{sigma * sigma * weights};
  out.diagonal[d] = along * along * (weights[d] + weights.head(d).dot(theta.head(d).cwiseAbs2()));
  Vector together = -sigma * along * weights.head(d).cwiseProduct(theta.head(d));
  if (what != Of::corner) out.diagonal[d] += powers(theta.size()) / (tau * tau);
  if (what == Of::bend) {  // adds the second derivatives of beta_j and sigma, times the prior's slopes
    Vector slope = Vector::Zero(theta.size());
    prior_.surrogate(at, slope);
    out.diagonal[d] += 2.0 * along / tau * (slope.head(d).dot(theta.head(d)) - slope[d]);
    together -= along * slope.head(d);
  }
  for (Index j = 0; j < d; ++j) out.couple(j, d, together[j]);
  return out;
}

Vector SampledScale::centre(Index parameters) const {
  Vector at = prior_.centre(parameters);
  at[parameters - 1] = target_.unit;
  return theta(at);
}

Vector SampledScale::away(const Vector& at, const Vector& step) const {
  const Index d = at.size() - 1;
  const Vector by = change(at, step);
  Vector there = parameters(at);
  there.head(d) += by.head(d);
  there[d] *= std::exp(by[d] / there[d]);
  return theta(there);
}

Vector SampledScale::simulate(Index parameters, const Random& random, Purpose purpose) const {
  Vector at = prior_.simulate(parameters, random, purpose);
  at[parameters - 1] = std::abs(at[parameters - 1]);
  return theta(at);
}

}  // namespace flymc
