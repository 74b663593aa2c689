// The contract of a family: the functions that the likelihood of one row must have.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>

#include "flymc/core/linear.hpp"
#include "flymc/core/random.hpp"
#include "flymc/model/sharp.hpp"

namespace flymc {

// The linear predictors eta of one row: one number, or one per class.
using Predictor = std::span<const double>;

// A family is a small struct of functions of one row's target y and predictors eta. Let K be predictors(), and l(eta)
// the row's log-likelihood. All of this must hold for every finite eta; the law checker (bound/laws.hpp) tests a family
// of your own.
//
//   name()                            a word for reports
//   predictors()                      K
//   target_problem(y)                 empty if y is a target of this family, else what it should be
//   log_likelihood(y, eta)            l(eta)
//   slope(y, eta, out)                the K numbers of l'(eta)
//   curvature(y, eta, out)            the K x K numbers of -l''(eta)
//   remainder(y, eta, delta)          l(eta + delta) - l(eta) - l'(eta)'delta, with an error of some ulps of the
//                                     quadratic form of global_curvature, or of the curvature: the plain difference
//                                     is too inaccurate near delta = 0
//   mean(eta, out)                    the inverse link, K numbers: the mean of a target that is a number, or 0 or 1;
//                                     if each predictor belongs to a class, the probabilities of the classes
//   simulate(eta, random, index)      a target drawn at eta, from addresses (Purpose::simulate, 2 index and
//                                     2 index + 1)
//
// A family keeps quadratics below its likelihood by one or more of these:
//   global_curvature(y, eta, out)     K x K, symmetric: a C with -remainder(y, eta, delta) <= delta'C delta / 2 for
//                                     every delta. It is the family's anchored bound, and holds for every theta
// For a bound that depends on the chain's region (docs/mathematics.md, "The sharp bound"):
//   sharp(y, eta, spread, zone, c, k)   K x K numbers each: c + k rho such that -remainder(y, eta, delta) <=
//                                     delta'(c + k rho) delta / 2 for every delta of the row that a theta at distance
//                                     rho <= zone.radius can have. spread is the K x K covariance of delta, for theta
//                                     normal with the metric's precision. model/sharp.hpp has parts for it. An
//                                     infinite c means that the zone is too wide for the row, which is then evaluated
//                                     always
//   largest_third_derivative()        for one predictor: at least |l'''(eta)|, for every y and eta. The absolute
//                                     value, because -remainder exceeds w delta^2 / 2 for positive delta if l''' is
//                                     negative, and for negative delta if l''' is positive
// A family without the last two uses its global curvature as sharp bound; one without the first has no anchored bound.
//
// Optional members describe a family further. only_differences() returns true if the likelihood depends only on
// differences between predictors; the prior must then be proper. target_classes() returns C if targets are the classes
// 0 ... C - 1; a subsample of the rows then contains every class. unit() returns the change of eta over which the
// likelihood changes its shape, such as the scale of a location family; the default is 1. It decides which rows are
// loose (bound/lit_rows.hpp).
//
// remainder_slope(y, eta, delta, out) gives l'(eta + delta) - l'(eta), if l' is a difference of numbers that may be
// large, as for counts.
//
// variance(eta) gives the variance of a target, if the mean determines it, as for counts; data that vary more get a
// warning (run/residuals.hpp). If the target is a mean over as many trials as the row's weight, it is the variance of
// one trial, and weight_is_trials() returns true.
//
// wider() names a family for data that vary more.
//
// shares_last_predictor() returns true for a family of two predictors whose second is one number for all rows, the
// logarithm of a shape: the last feature of its rows is 1, and that predictor is the last entry of theta
// (core/arrangement.hpp). Such a family also has
//   shape_part(y, s)                  the part of the log-likelihood that depends on y and s only, with two
//                                     derivatives (model/shape_part.hpp); log_likelihood() leaves it out
//   shape_parts(targets, s)           the weighted sum of the parts of many targets, up to a constant
//   of_mean()                         a family of one predictor with the same mean
//   size_of_curvature(y, eta, out)    the size of the terms of a remainder, K x K: the scale of rounding errors where
//                                     the curvature itself may cancel
//
// takes_fixed_xi() returns true if rows are log sigmoid(eta) or log sigmoid(-eta): Jaakkola and Jordan's bound with one
// xi for all rows is then below them, and is the family's untuned bound. Other families use their anchored bound at 0.
//
// A family whose likelihood is not log-concave may have a posterior of several modes, and a search from one starting
// point finds one of them. If it has one predictor and a scale, it may have
//   eased(factor)                     the family at `factor` times its scale, a family itself. With a larger factor the
//                                     likelihood is concave further out, and factor^2 l tends to a quadratic
// The search for the anchor then starts from a least squares fit as well, reduces the factor step by step, and keeps
// the highest mode that it finds.
template <class F>
concept HasGlobalCurvature = requires(const F& f, double y, Predictor eta, std::span<double> out) {
  f.global_curvature(y, eta, out);
};
template <class F>
concept HasSharpBound = requires(const F& f, double y, Predictor eta, std::span<const double> spread, const Zone& zone,
                                 std::span<double> out) {
  f.sharp(y, eta, spread, zone, out, out);
};
template <class F>
concept HasLargestThirdDerivative = requires(const F& f) {
  { f.largest_third_derivative() } -> std::same_as<double>;
};

template <class F>
concept Family = (HasGlobalCurvature<F> || HasSharpBound<F> ||
                  HasLargestThirdDerivative<F>)&&requires(const F& f, double y, Predictor eta, Predictor delta,
                                                          std::span<double> out, const Random& random,
                                                          std::uint64_t index) {
  { f.name() } -> std::convertible_to<std::string>;
  { f.predictors() } -> std::same_as<Index>;
  { f.target_problem(y) } -> std::convertible_to<std::string>;
  { f.log_likelihood(y, eta) } -> std::same_as<double>;
  { f.slope(y, eta, out) } -> std::same_as<void>;
  { f.curvature(y, eta, out) } -> std::same_as<void>;
  { f.remainder(y, eta, delta) } -> std::same_as<double>;
  { f.mean(eta, out) } -> std::same_as<void>;
  { f.simulate(eta, random, index) } -> std::same_as<double>;
};

// c and k of the sharp bound of one row, from whichever of these members the family has.
template <Family F>
void sharp_of(const F& family, double y, Predictor eta, std::span<const double> spread, const Zone& zone,
              std::span<double> c, std::span<double> k) {
  if constexpr (HasSharpBound<F>) {
    family.sharp(y, eta, spread, zone, c, k);
    return;
  }
  std::ranges::fill(c, HUGE_VAL);
  std::ranges::fill(k, 0.0);
  if constexpr (HasGlobalCurvature<F>) family.global_curvature(y, eta, c);
  if constexpr (HasLargestThirdDerivative<F>) {
    // -remainder <= w delta^2 / 2 + T |delta|^3 / 6, and |delta| <= reach rho.
    double w = 0.0;
    family.curvature(y, eta, {&w, 1});
    const double slope = reach_of(spread[0]) * family.largest_third_derivative() / 3.0;
    if (w + slope * zone.typical < c[0]) {
      c[0] = w;
      k[0] = slope;
    }
  }
}

}  // namespace flymc
