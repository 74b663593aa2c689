// Stable forms of the scalar functions that likelihoods, bounds and gaps are made of.
#pragma once

#include <algorithm>
#include <cmath>

namespace flymc {

// The first three use exp(-|x|), which a compiler that inlines them together computes once.

// log(1 + exp(x)).
inline double log1p_exp(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

// sigmoid(x) and sigmoid(-x), with the same bits as two separate calls.
struct Sides {
  double plus, minus;
};
inline Sides sides(double x) {
  const double e = std::exp(-std::abs(x));
  const double larger = 1.0 / (1.0 + e), smaller = e / (1.0 + e);
  return x >= 0.0 ? Sides{larger, smaller} : Sides{smaller, larger};
}

// 1 / (1 + exp(-x)), to full relative accuracy in both tails.
inline double sigmoid(double x) {
  const double e = std::exp(-std::abs(x));
  return (x >= 0.0 ? 1.0 : e) / (1.0 + e);
}

// log sigmoid(x).
inline double log_sigmoid(double x) { return -log1p_exp(-x); }

// exp(x) - 1 - x, never negative, to full relative accuracy near 0.
double expm1_minus(double x);

// x - log(1 + x) for x > -1, never negative, to full relative accuracy near 0.
double minus_log1p(double x);

// log(exp(g) - 1) for g >= 0: what a bright row with gap g adds to the log joint density. -inf at 0.
double log_expm1(double g);

// Derivative of log_expm1: exp(g) / (exp(g) - 1) = 1 / (1 - exp(-g)).
double log_expm1_slope(double g);

// 1 - exp(-g): the probability that a row with gap g is bright.
double bright_probability(double g);

// tanh(x / 2) / (2 x), continued to 1/4 at 0: twice Jaakkola and Jordan's lambda, the curvature of their bound.
double jaakkola_jordan_curvature(double x);

// log Gamma(x) for x > 0. Safe to call from any thread, unlike std::lgamma, which writes the sign to a global.
double log_gamma(double x);

// The logarithm of the Student-t density's normalising constant, with nu degrees of freedom and scale 1.
double student_t_log_constant(double nu);

// The p-quantile of a gamma distribution of this shape and scale 1, for 0 < p < 1.
double gamma_quantile(double shape, double p);

}  // namespace flymc
