// The contract of a family: what the likelihood of one row must offer.
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

// A family is a small struct of functions of one row's target y and predictors eta. Write K for predictors(), and
// l(eta) for the row's log-likelihood. All of it must hold for every finite eta; the law checker (bound/laws.hpp) tests
// a family of your own.
//
//   name()                            a word for reports
//   predictors()                      K
//   target_problem(y)                 empty if y is a target of this family, else what it should be
//   log_likelihood(y, eta)            l(eta)
//   slope(y, eta, out)                the K numbers of l'(eta)
//   curvature(y, eta, out)            the K x K numbers of -l''(eta)
//   remainder(y, eta, delta)          l(eta + delta) - l(eta) - l'(eta)'delta, with an error of some ulps of the
//                                     quadratic form of global_curvature, or of the curvature: near delta = 0 the plain
//                                     difference will not do
//   mean(eta, out)                    the inverse link, K numbers: the mean of a target at eta that is a number, or 0
//                                     or 1; where each predictor is of a class, the probabilities of the classes
//   simulate(eta, random, index)      a target drawn at eta, from addresses (Purpose::simulate, 2 index and
//                                     2 index + 1)
//
// What keeps a quadratic below the likelihood is the family's own affair. It offers one of these, or more:
//   global_curvature(y, eta, out)     K x K, symmetric: a C with -remainder(y, eta, delta) <= delta'C delta / 2 for
//                                     every delta. It is the family's anchored bound, and holds however far theta is
// For a bound that knows where the chain is (docs/mathematics.md, "The sharp bound"):
//   sharp(y, eta, spread, zone, c, k)   K x K numbers each: c + k rho such that -remainder(y, eta, delta) <=
//                                     delta'(c + k rho) delta / 2 for every delta that a theta at distance rho <=
//                                     zone.radius can give the row; spread is the covariance of delta, K x K, for theta
//                                     normal with the metric's precision. model/sharp.hpp has parts to make it of. An
//                                     infinite c says that the zone is too wide for the row, which is then evaluated
//                                     always
//   largest_third_derivative()        of one predictor: at least |l'''(eta)|, for every y and eta. The absolute value:
//                                     where l''' is negative, -remainder exceeds w delta^2 / 2 for positive delta, and
//                                     where it is positive, for negative delta
// A family without the last two has its global curvature as sharp bound; one without the first has no anchored bound.
//
// A family whose likelihood knows differences between predictors alone, so that adding a number to all of them changes
// nothing, says so by a member only_differences() that returns true: its prior must be proper. One whose targets are
// the classes 0 ... C - 1 says so by a member target_classes() that returns C: a subsample of the rows then takes care
// that no class is missing. One whose eta has a unit, as that of a location has, says by a member unit() over which
// change of eta its likelihood takes another shape; others have 1. It decides which rows are loose (bound/lit_rows.hpp).
//
// A family whose l' is a difference of numbers that may be large, as that of counts, gives l'(eta + delta) - l'(eta) by a
// member remainder_slope(y, eta, delta, out).
//
// A family whose targets have a variance that their mean determines, as counts have, gives it by a member
// variance(eta): data that vary more are noticed (run/residuals.hpp). If the target is a mean over as many trials as the
// row's weight says, that is the variance of one of them, and a member weight_is_trials() returns true.
//
// With a member wider() it may name a family for such data.
//
// A family of two predictors whose second is one number for all rows, the logarithm of a shape, says so by a member
// shares_last_predictor() that returns true: the last feature of its rows is 1, and that predictor is the last entry of
// theta (core/arrangement.hpp). It also has
//   shape_part(y, s)                  what the log-likelihood has that depends on y and s alone, with two derivatives
//                                     (model/shape_part.hpp); log_likelihood() is without it
//   shape_parts(targets, s)           the sum of those of many targets by their weights, up to a constant
//   of_mean()                         a family of one predictor with the same mean
//   size_of_curvature(y, eta, out)    the size of the terms that a remainder is made of, K x K: what rounding goes by
//                                     where the curvature itself may cancel
//
// A family whose rows are log sigmoid(eta) or log sigmoid(-eta) says so by a member takes_fixed_xi() that returns true:
// Jaakkola and Jordan's bound with one xi for all rows is below them, and is the family's untuned bound. That of others
// is their anchored one at 0.
//
// A family whose likelihood is not log-concave may have a posterior of several modes, and a search that begins in one
// place finds one of them. One of one predictor that has a scale may offer
//   eased(factor)                     the family at `factor` times its scale, a family itself: the larger, the further
//                                     out its likelihood is concave, and factor^2 l tends to a quadratic
// and the search for the anchor begins from a least squares fit as well, eases less and less, and keeps the highest
// mode that it finds.
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

// c and k of the sharp bound of one row, by whatever the family offers.
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
