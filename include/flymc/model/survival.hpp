// Times until an event, and positive amounts: log t = x'beta + sigma e. The distribution of e gives a Weibull,
// log-normal or log-logistic regression. Rows end with their log time, so that the linear predictor of a row is its
// standardised residual u (model/residual.hpp), and sigma is drawn.
#pragma once

#include <cmath>
#include <numbers>
#include <string>

#include "flymc/model/binomial.hpp"
#include "flymc/model/family.hpp"
#include "flymc/model/gaussian.hpp"
#include "flymc/model/poisson.hpp"
#include "flymc/model/probit.hpp"

namespace flymc {

// A row of another family with target y, counted `times` times.
template <Family F>
struct RowOf {
  F family;
  double y;
  double times = 1.0;

  double log_likelihood(Predictor u) const { return times * family.log_likelihood(y, u); }
  double remainder(Predictor u, Predictor delta) const { return times * family.remainder(y, u, delta); }
  void slope(Predictor u, std::span<double> out) const {
    family.slope(y, u, out);
    out[0] *= times;
  }
  void curvature(Predictor u, std::span<double> out) const {
    family.curvature(y, u, out);
    out[0] *= times;
  }
  void global_curvature(Predictor u, std::span<double> out) const requires HasGlobalCurvature<F> {
    family.global_curvature(y, u, out);
    out[0] *= times;
  }
  void sharp(Predictor u, std::span<const double> spread, const Zone& zone, std::span<double> c,
             std::span<double> k) const {
    sharp_of(family, y, u, spread, zone, c, k);
    c[0] *= times;
    k[0] *= times;
  }
};

// A target of 1 means that the event was seen at the time of the row: the likelihood is its density, log f(u). A target
// of 0 means that it was not seen by then (a censored time): the likelihood is log S(u), the probability of a longer
// time. Both are rows of families that have bounds already.
template <class Seen, class Longer>
struct Survival {
  std::string name() const { return word; }
  Index predictors() const { return 1; }
  std::string target_problem(double y) const { return y == 0.0 || y == 1.0 ? "" : "0 or 1"; }

  double log_likelihood(double y, Predictor u) const {
    return y > 0.5 ? seen.log_likelihood(u) : longer.log_likelihood(u);
  }
  double remainder(double y, Predictor u, Predictor delta) const {
    return y > 0.5 ? seen.remainder(u, delta) : longer.remainder(u, delta);
  }
  void slope(double y, Predictor u, std::span<double> out) const {
    y > 0.5 ? seen.slope(u, out) : longer.slope(u, out);
  }
  void curvature(double y, Predictor u, std::span<double> out) const {
    y > 0.5 ? seen.curvature(u, out) : longer.curvature(u, out);
  }
  void global_curvature(double y, Predictor u, std::span<double> out) const requires
      requires(const Seen& s, const Longer& l) {
    s.global_curvature(u, out), l.global_curvature(u, out);
  }
  { y > 0.5 ? seen.global_curvature(u, out) : longer.global_curvature(u, out); }
  void sharp(double y, Predictor u, std::span<const double> spread, const Zone& zone, std::span<double> c,
             std::span<double> k) const {
    y > 0.5 ? seen.sharp(u, spread, zone, c, k) : longer.sharp(u, spread, zone, c, k);
  }

  // The median of log time at scale 1, and a draw. At scale sigma they are eta + sigma times their values at eta = 0.
  void mean(Predictor eta, std::span<double> out) const { out[0] = eta[0] + median; }
  double simulate(Predictor eta, const Random& random, std::uint64_t index) const {
    return eta[0] +
           draw(random.uniform(Purpose::simulate, 2 * index), random.uniform(Purpose::simulate, 2 * index + 1));
  }

  const char* word;
  Seen seen;
  Longer longer;
  double median;                   // of e
  double (*draw)(double, double);  // a draw of e from two uniforms
};

// S(u) = exp(-e^u), f(u) = e^u S(u): Poisson rows with counts 0 and 1.
inline auto weibull() {
  using Row = RowOf<Poisson>;
  return Survival<Row, Row>{
      "weibull", {Poisson{}, 1.0}, {Poisson{}, 0.0}, std::log(std::numbers::ln2), [](double p, double) {
        return std::log(-std::log(p));
      }};
}

// f is the normal density, a row that is its own bound; S is a probit row of class 0.
inline auto lognormal() {
  return Survival<RowOf<Gaussian>, RowOf<Probit>>{
      "lognormal", {Gaussian(1.0), 0.0}, {Probit{}, 0.0}, 0.0, [](double p, double q) {
        return std::sqrt(-2.0 * std::log(p)) * std::cos(2.0 * std::numbers::pi * q);
      }};
}

// S(u) = sigmoid(-u), a logistic row of class 0; f(u) = sigmoid(u) sigmoid(-u), one success in two trials.
inline auto loglogistic() {
  return Survival<RowOf<Binomial>, RowOf<Logistic>>{
      "loglogistic", {Binomial{}, 0.5, 2.0}, {Logistic{}, 0.0}, 0.0, [](double p, double) {
        return std::log(p) - std::log1p(-p);
      }};
}

static_assert(Family<decltype(weibull())> && !HasGlobalCurvature<decltype(weibull())>);
static_assert(HasGlobalCurvature<decltype(lognormal())> && HasGlobalCurvature<decltype(loglogistic())>);

}  // namespace flymc
