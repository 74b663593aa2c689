// Code that tests of several layers share: a family that counts its queries, and a family as a user would write it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <numbers>
#include <span>
#include <string>
#include <utility>

#include "flymc/core/numerics.hpp"
#include "flymc/model/family.hpp"
#include "flymc/model/sharp.hpp"
#include "problems/message_of.hpp"

namespace flymc::problems {

inline constexpr double sigmas = 4.5;  // two-sided false alarm 7e-6 for each comparison of frequencies

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

template <class F>
concept HasSharp = requires(const F& f, std::span<double> out) {
  f.sharp(0.0, Predictor{}, std::span<const double>{}, Zone{}, out, out);
};

template <class F>
concept HasEased = requires(const F& f) {
  f.eased(2.0);
};

// Counts the likelihoods that a family evaluates, from any thread: log_likelihood and remainder are one query each;
// slopes and curvatures are part of one.
template <Family F>
struct Counted {
  explicit Counted(F counted) : family(std::move(counted)) {}
  std::string name() const { return family.name(); }
  Index predictors() const { return family.predictors(); }
  Index target_classes() const {
    if constexpr (requires { family.target_classes(); }) return family.target_classes();
    return 0;
  }
  bool takes_fixed_xi() const {
    if constexpr (requires { family.takes_fixed_xi(); }) return family.takes_fixed_xi();
    return false;
  }
  bool only_differences() const {
    if constexpr (requires { family.only_differences(); }) return family.only_differences();
    return false;
  }
  Counted eased(double factor) const requires HasEased<F> {
    Counted other(family.eased(factor));
    other.queries = queries;
    return other;
  }
  std::string target_problem(double y) const { return family.target_problem(y); }
  double log_likelihood(double y, Predictor eta) const {
    queries->fetch_add(1, std::memory_order_relaxed);
    return family.log_likelihood(y, eta);
  }
  void slope(double y, Predictor eta, std::span<double> out) const { family.slope(y, eta, out); }
  void curvature(double y, Predictor eta, std::span<double> out) const { family.curvature(y, eta, out); }
  double remainder(double y, Predictor eta, Predictor delta) const {
    queries->fetch_add(1, std::memory_order_relaxed);
    return family.remainder(y, eta, delta);
  }
  void global_curvature(double y, Predictor eta, std::span<double> out) const { family.global_curvature(y, eta, out); }
  // A value that is fixed for a row is not a query.
  void sharp(double y, Predictor eta, std::span<const double> spread, const Zone& zone, std::span<double> c,
             std::span<double> k) const requires HasSharp<F> {
    family.sharp(y, eta, spread, zone, c, k);
  }
  void mean(Predictor eta, std::span<double> out) const { family.mean(eta, out); }
  double simulate(Predictor eta, const Random& random, std::uint64_t index) const {
    return family.simulate(eta, random, index);
  }

  F family;
  std::shared_ptr<std::atomic<RowId>> queries = std::make_shared<std::atomic<RowId>>(0);  // shared by all copies
};

// A family as a user would write it: the residual r = y - eta has the density sech(r) / pi, a smooth Laplace.
// log cosh is concave in r^2, which gives the anchored bound its curvature tanh(r) / r.
struct Sech {
  std::string name() const { return "sech"; }
  Index predictors() const { return 1; }
  std::string target_problem(double y) const { return std::isfinite(y) ? "" : "a finite number"; }

  // log cosh(r) = |r| + log1p(exp(-2 |r|)) - log 2.
  double log_likelihood(double y, Predictor eta) const {
    const double r = std::abs(y - eta[0]);
    return std::numbers::ln2 - std::log(std::numbers::pi) - r - log1p_exp(-2.0 * r);
  }
  void slope(double y, Predictor eta, std::span<double> out) const { out[0] = std::tanh(y - eta[0]); }
  void curvature(double y, Predictor eta, std::span<double> out) const {
    const double r = y - eta[0];
    out[0] = 4.0 * sigmoid(2.0 * r) * sigmoid(-2.0 * r);
  }
  // With q = sigmoid(2 r) and p = 1 - q: -remainder = log(q exp(-2 p delta) + p exp(2 q delta)).
  double remainder(double y, Predictor eta, Predictor delta) const {
    const double r = y - eta[0], d = delta[0];
    const double q = sigmoid(2.0 * r), p = sigmoid(-2.0 * r);
    if (std::abs(d) <= 30.0) return -std::log1p(q * expm1_minus(-2.0 * p * d) + p * expm1_minus(2.0 * q * d));
    const double a = log_sigmoid(2.0 * r) - 2.0 * p * d, b = log_sigmoid(-2.0 * r) + 2.0 * q * d;
    return -(std::max(a, b) + std::log1p(std::exp(-std::abs(a - b))));
  }
  // tanh(r) / r = 4 tanh(x / 2) / (2 x) at x = 2 r.
  void global_curvature(double y, Predictor eta, std::span<double> out) const {
    out[0] = 4.0 * jaakkola_jordan_curvature(2.0 * (y - eta[0]));
  }
  void mean(Predictor eta, std::span<double> out) const { out[0] = eta[0]; }
  // The distribution function is (2 / pi) atan(exp(r)).
  double simulate(Predictor eta, const Random& random, std::uint64_t index) const {
    return eta[0] + std::log(std::tan(0.5 * std::numbers::pi * random.uniform(Purpose::simulate, index)));
  }
};

static_assert(Family<Sech>);
static_assert(Family<Counted<Sech>>);

}  // namespace flymc::problems
