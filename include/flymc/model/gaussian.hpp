// Linear regression: y - eta is normal with standard deviation sigma, given.
#pragma once

#include <cmath>
#include <numbers>
#include <string>

#include "flymc/core/error.hpp"
#include "flymc/model/family.hpp"

namespace flymc {

// The log-likelihood is a quadratic, so it is its own bound: no row is ever bright.
struct Gaussian {
  explicit Gaussian(double scale) : sigma(scale) {
    if (!(sigma > 0.0) || !std::isnormal(sigma * sigma) || !std::isnormal(1.0 / (sigma * sigma)))
      throw InputError(
          "gaussian: the scale, sigma, must be a positive number; rescale the target if it is tiny or huge");
  }

  std::string name() const { return "gaussian"; }
  Index predictors() const { return 1; }
  double unit() const { return sigma; }
  std::string target_problem(double y) const { return std::isfinite(y) ? "" : "a finite number"; }

  double log_likelihood(double y, Predictor eta) const {
    const double r = (y - eta[0]) / sigma;
    return -0.5 * r * r - 0.5 * std::log(2.0 * std::numbers::pi) - std::log(sigma);
  }
  void slope(double y, Predictor eta, std::span<double> out) const { out[0] = (y - eta[0]) / (sigma * sigma); }
  void curvature(double, Predictor, std::span<double> out) const { out[0] = 1.0 / (sigma * sigma); }
  double remainder(double, Predictor, Predictor delta) const {
    return -0.5 * (1.0 / (sigma * sigma)) * delta[0] * delta[0];
  }
  void global_curvature(double y, Predictor eta, std::span<double> out) const { curvature(y, eta, out); }

  void mean(Predictor eta, std::span<double> out) const { out[0] = eta[0]; }
  // Box and Muller's method.
  double simulate(Predictor eta, const Random& random, std::uint64_t index) const {
    const double u = random.uniform(Purpose::simulate, 2 * index);
    const double v = random.uniform(Purpose::simulate, 2 * index + 1);
    return eta[0] + sigma * std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v);
  }

  double sigma;
};

static_assert(Family<Gaussian>);

}  // namespace flymc
