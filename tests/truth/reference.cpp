// Log posteriors by textbook formulas, summed over distinct rows.
#include "reference.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace flymc::truth {
namespace {

// log(1 + exp(x)).
double log_one_plus_exp(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

double log_prior(const PriorSpec& prior, double theta) {
  const double u = theta / prior.scale;
  switch (prior.kind) {
    case PriorKind::normal:
      return -0.5 * u * u;
    case PriorKind::laplace:
      return -std::abs(u);
    case PriorKind::student_t:
      break;
  }
  return -0.5 * (prior.nu + 1.0) * std::log1p(u * u / prior.nu);
}

// K classes with independent N(0, s^2) coefficients of one column. Their K - 1 differences d from class 0 are jointly
// normal with covariance s^2 (I + 11'), whose inverse is (I - 11' / K) / s^2.
double log_prior_of_differences(const TruthModel& model, std::span<const double> theta) {
  const std::size_t features = model.features();
  double out = 0.0;
  for (std::size_t j = 0; j < features; ++j) {
    double sum = 0.0, squares = 0.0;
    for (std::size_t i = j; i < theta.size(); i += features) {
      sum += theta[i];
      squares += theta[i] * theta[i];
    }
    out -= 0.5 * (squares - sum * sum / model.classes) / (model.prior.scale * model.prior.scale);
  }
  return out;
}

double predictor(const std::vector<double>& x, const double* theta) {
  double eta = 0.0;
  for (std::size_t j = 0; j < x.size(); ++j) eta += x[j] * theta[j];
  return eta;
}

double log_likelihood(const TruthModel& model, const RowCount& row, std::span<const double> theta) {
  switch (model.family) {
    case FamilyKind::logistic: {
      const double eta = predictor(row.x, theta.data());
      return row.y == 1.0 ? -log_one_plus_exp(-eta) : -log_one_plus_exp(eta);
    }
    case FamilyKind::ordinal: {  // sigmoid(upper) - sigmoid(lower); the cut points come first in theta
      const auto category = static_cast<std::size_t>(row.y);
      const double eta = predictor(row.x, theta.data() + model.cuts());
      if (category == 0) return -log_one_plus_exp(eta - theta[0]);
      if (category == model.cuts()) return -log_one_plus_exp(theta[category - 1] - eta);
      const double upper = theta[category] - eta, lower = theta[category - 1] - eta;
      if (!(upper > lower)) return -HUGE_VAL;
      // In a form without cancellation: sinh(d / 2) / (2 cosh(upper / 2) cosh(lower / 2)).
      return std::log(std::sinh(0.5 * (upper - lower))) - 0.5 * upper - log_one_plus_exp(-upper) - 0.5 * lower -
             log_one_plus_exp(-lower) + std::numbers::ln2;
    }
    case FamilyKind::gaussian: {
      const double sigma = theta.back(), r = (row.y - predictor(row.x, theta.data())) / sigma;
      return -0.5 * r * r - std::log(sigma);
    }
    // log f(u) - log sigma for a log time that was seen, log S(u) for a censored one.
    case FamilyKind::weibull: {
      const double u = (row.y - predictor(row.x, theta.data())) / theta.back();
      return row.seen ? u - std::exp(u) - std::log(theta.back()) : -std::exp(u);
    }
    case FamilyKind::lognormal: {
      const double u = (row.y - predictor(row.x, theta.data())) / theta.back();
      return row.seen ? -0.5 * u * u - std::log(theta.back()) : std::log(0.5 * std::erfc(u / std::numbers::sqrt2));
    }
    case FamilyKind::loglogistic: {
      const double u = (row.y - predictor(row.x, theta.data())) / theta.back();
      return row.seen ? u - 2.0 * log_one_plus_exp(u) - std::log(theta.back()) : -log_one_plus_exp(u);
    }
    case FamilyKind::student_t: {
      const double sigma = model.draws_scale ? theta.back() : model.sigma;
      const double r = (row.y - predictor(row.x, theta.data())) / sigma;
      return -0.5 * (model.nu + 1.0) * std::log1p(r * r / model.nu) - std::log(sigma);
    }
    case FamilyKind::poisson: {
      const double eta = predictor(row.x, theta.data());
      return row.y * eta - std::exp(eta);
    }
    case FamilyKind::truncated_poisson: {  // log(exp(mu) - 1), by its series for small mu
      const double eta = predictor(row.x, theta.data()), mu = std::exp(eta);
      return row.y * eta - (mu < 1e-6 ? eta + 0.5 * mu : mu + std::log(-std::expm1(-mu)));
    }
    case FamilyKind::negative_binomial: {
      const double eta = predictor(row.x, theta.data()), kappa = theta.back(), mu = std::exp(eta);
      double sum = row.y * (eta - std::log(mu + kappa)) - kappa * std::log1p(mu / kappa);
      for (double j = 0.0; j < row.y; ++j) sum += std::log(kappa + j);  // Gamma(y + kappa) / Gamma(kappa)
      return sum;
    }
    case FamilyKind::gamma: {
      const double eta = predictor(row.x, theta.data()), kappa = theta.back();
      return kappa * (std::log(kappa * row.y) - eta - row.y * std::exp(-eta)) - std::lgamma(kappa);
    }
    case FamilyKind::softmax:
      break;
  }
  // Class 0 has the predictor 0.
  double own = 0.0, top = 0.0;
  double eta[8] = {};
  for (int k = 1; k < model.classes; ++k) {
    eta[k] = predictor(row.x, theta.data() + static_cast<std::size_t>(k - 1) * row.x.size());
    top = std::max(top, eta[k]);
    if (row.y == k) own = eta[k];
  }
  double sum = 0.0;
  for (int k = 0; k < model.classes; ++k) sum += std::exp(eta[k] - top);
  return own - top - std::log(sum);
}

}  // namespace

double log_posterior(const TruthModel& model, std::span<const double> theta) {
  if ((model.draws_scale || model.draws_shape) && !(theta.back() > 0.0)) return -HUGE_VAL;
  double out = 0.0;
  if (model.family == FamilyKind::softmax)
    out = log_prior_of_differences(model, theta);
  else
    for (std::size_t i = 0; i < theta.size(); ++i) out += log_prior(model.prior_of(i), theta[i]);
  for (const RowCount& row : model.rows) out += static_cast<double>(row.count) * log_likelihood(model, row, theta);
  return out;
}

Quadrature reference(const TruthModel& model) {
  std::vector<Axis> axes = model.axes;
  if (model.prior.kind == PriorKind::laplace)  // its density has a corner
    for (Axis& axis : axes) axis.breaks.push_back(0.0);
  if (!model.asinh)
    return integrate([&model](std::span<const double> theta) { return log_posterior(model, theta); }, axes);
  // The density of a = asinh(theta) is that of theta times d theta / d a = cosh(a).
  std::vector<double> theta(axes.size());
  const auto log_density = [&](std::span<const double> a) {
    double log_jacobian = 0.0;
    for (std::size_t j = 0; j < a.size(); ++j) {
      theta[j] = std::sinh(a[j]);
      log_jacobian += std::log(std::cosh(a[j]));
    }
    return log_posterior(model, theta) + log_jacobian;
  };
  return integrate(log_density, axes);
}

}  // namespace flymc::truth
