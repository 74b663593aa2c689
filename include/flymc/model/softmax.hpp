// Softmax regression: y is a class 0 ... K - 1, P(y = k) proportional to exp(eta_k). All K classes have coefficients,
// as in the paper; only their differences matter to the likelihood, so the prior must be proper.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "flymc/core/error.hpp"
#include "flymc/core/numerics.hpp"
#include "flymc/model/family.hpp"
#include "flymc/model/sharp.hpp"

namespace flymc {

struct Softmax {
  explicit Softmax(int class_count) : classes(class_count) {
    if (class_count < 2 || class_count > most_classes)
      throw InputError("softmax: the number of classes must be from 2 to " + std::to_string(most_classes) + ", not " +
                       std::to_string(class_count));
  }

  std::string name() const { return "softmax"; }
  bool only_differences() const { return true; }
  Index predictors() const { return classes; }
  Index target_classes() const { return classes; }
  std::string target_problem(double y) const {
    return y >= 0.0 && y < classes && y == std::floor(y) ? ""
                                                         : "a whole number from 0 to " + std::to_string(classes - 1);
  }

  // -l = log(1 + sum over the other classes of exp(eta_k - eta_y)), to full relative accuracy even if it is tiny.
  double log_likelihood(double y, Predictor eta) const {
    const auto own = static_cast<std::size_t>(y);
    double top = 0.0;
    for (const double e : eta) top = std::max(top, e - eta[own]);
    double others = 0.0;
    for (std::size_t k = 0; k < eta.size(); ++k)
      if (k != own) others += std::exp(eta[k] - eta[own] - top);
    return top > 0.0 ? -(top + std::log(std::exp(-top) + others)) : -std::log1p(others);
  }

  void slope(double y, Predictor eta, std::span<double> out) const {
    probabilities(eta, out);
    const auto own = static_cast<std::size_t>(y);
    double others = 0.0;
    for (std::size_t k = 0; k < out.size(); ++k) {
      if (k != own) others += out[k];
      out[k] = -out[k];
    }
    out[own] = others;  // 1 - p, without the cancellation
  }

  void curvature(double, Predictor eta, std::span<double> out) const {
    double p[most_classes];
    probabilities(eta, {p, eta.size()});
    const std::size_t n = eta.size();
    for (std::size_t j = 0; j < n; ++j) {
      double others = 0.0;  // 1 - p, without the cancellation
      for (std::size_t k = 0; k < n; ++k) {
        out[j * n + k] = -p[j] * p[k];
        if (k != j) others += p[k];
      }
      out[j * n + j] = p[j] * others;
    }
  }

  // With p the probabilities at eta and d_k = delta_k - p'delta: -remainder = log sum_k p_k exp(d_k)
  //   = log1p(sum_k p_k (exp(d_k) - 1 - d_k)), since p'd = 0. Every term is positive.
  double remainder(double, Predictor eta, Predictor delta) const {
    double p[most_classes], d[most_classes];
    const std::size_t n = eta.size();
    probabilities(eta, {p, n});
    double mean = 0.0;
    for (std::size_t k = 0; k < n; ++k) mean += p[k] * (delta[k] - delta[0]);
    double widest = 0.0;
    for (std::size_t k = 0; k < n; ++k) {
      d[k] = (delta[k] - delta[0]) - mean;
      widest = std::max(widest, std::abs(d[k]));
    }
    if (widest <= 600.0) {
      double sum = 0.0;
      for (std::size_t k = 0; k < n; ++k) sum += p[k] * expm1_minus(d[k]);
      return -std::log1p(sum);
    }
    // log p_k + d_k; the sum starts from the largest.
    const double level = log_sum(eta);
    double top = -HUGE_VAL;
    for (std::size_t k = 0; k < n; ++k) top = std::max(top, d[k] += eta[k] - level);
    double sum = 0.0;
    for (std::size_t k = 0; k < n; ++k) sum += std::exp(d[k] - top);
    return -(top + std::log(sum));
  }

  // Bohning's bound: diag(p) - pp' <= (I - 11'/K) / 2 for every p.
  void global_curvature(double, Predictor eta, std::span<double> out) const {
    const std::size_t n = eta.size();
    const double share = 1.0 / static_cast<double>(n);
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t k = 0; k < n; ++k) out[j * n + k] = 0.5 * ((j == k ? 1.0 : 0.0) - share);
  }

  // Let r be the largest range of delta per unit of rho, from the variances of differences of predictors, and Var the
  // variance of delta under the class probabilities p at eta. For range(delta) <= r rho, -2 remainder is at most
  //   Bohning  ||delta - mean||^2 / 2, everywhere;
  //   cubic    Var + r rho ||delta - mean||^2 / (9 sqrt 3), because a third cumulant is at most range^3 / (6 sqrt 3),
  //            and range^2 is at most 2 ||delta - mean||^2;
  //   Bennett  Var (1 + g rho), the chord on [0, radius] of 2 (exp(x) - 1 - x) / x^2 in x = r rho, because
  //            log E exp(X) <= E exp(X) - 1 for X of mean 0, and (exp(x) - 1 - x) / x^2 grows with x.
  // The bound is the one that is smallest on average, for changes of the given variances at the typical rho.
  void sharp(double y, Predictor eta, std::span<const double> spread, const Zone& zone, std::span<double> c,
             std::span<double> k) const {
    const std::size_t n = eta.size();
    double widest = 0.0, centred = 0.0;  // variances: the largest of a difference; the mean of ||delta - mean||^2
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < i; ++j) {
        const double both = spread[i * n + i] + spread[j * n + j];
        // Under a wide prior large numbers cancel, so an upper bound of their rounding is added.
        const double variance = both - 2.0 * spread[i * n + j] + 64.0 * std::numeric_limits<double>::epsilon() * both;
        widest = std::max(widest, variance);
        centred += variance / static_cast<double>(n);
      }
    const double reach = reach_of(widest);
    curvature(y, eta, c);
    double weighted = 0.0;  // the mean of Var
    for (std::size_t e = 0; e < n * n; ++e) weighted += c[e] * spread[e];
    const double x = reach * zone.radius;
    const bool far = x > 100.0;  // Bennett's bound is then useless
    const double chord = x > 0.0 && !far ? (2.0 * expm1_minus(x) / (x * x) - 1.0) / zone.radius : 0.0;
    const double cube = reach / (9.0 * std::sqrt(3.0));
    const double bohning = 0.5 * centred;
    const double cubic = weighted + cube * zone.typical * centred;
    const double bennett = far ? HUGE_VAL : weighted * (1.0 + chord * zone.typical);
    const double share = 1.0 / static_cast<double>(n);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        const std::size_t e = i * n + j;
        const double centre = (i == j ? 1.0 : 0.0) - share;
        if (bohning <= cubic && bohning <= bennett) {
          c[e] = 0.5 * centre;
          k[e] = 0.0;
        } else {
          k[e] = cubic <= bennett ? cube * centre : chord * c[e];
        }
      }
  }

  void mean(Predictor eta, std::span<double> out) const { probabilities(eta, out); }

  double simulate(Predictor eta, const Random& random, std::uint64_t index) const {
    double p[most_classes];
    probabilities(eta, {p, eta.size()});
    double left = random.uniform(Purpose::simulate, 2 * index);
    std::size_t k = 0;
    while (k + 1 < eta.size() && (left -= p[k]) > 0.0) ++k;
    return static_cast<double>(k);
  }

  static constexpr int most_classes = 64;
  int classes;

 private:
  static double log_sum(Predictor eta) {
    const double top = *std::max_element(eta.begin(), eta.end());
    double sum = 0.0;
    for (const double e : eta) sum += std::exp(e - top);
    return top + std::log(sum);
  }

  static void probabilities(Predictor eta, std::span<double> out) {
    const double top = *std::max_element(eta.begin(), eta.end());
    double sum = 0.0;
    for (std::size_t k = 0; k < eta.size(); ++k) sum += out[k] = std::exp(eta[k] - top);
    for (double& p : out) p /= sum;
  }
};

static_assert(Family<Softmax>);

}  // namespace flymc
