// A remainder from the curvature only, for likelihoods without a closed form that avoids cancellation.
#pragma once

#include <algorithm>
#include <cmath>

namespace flymc {

// l(eta + delta) - l(eta) - l'(eta) delta = -integral from 0 to delta of (delta - s) w(eta + s) ds, w = -l''. If w is
// positive no terms cancel. The integral uses Gauss and Legendre's rule with 10 points on pieces of length 1 at most:
// if w is analytic within a distance of 2 or more the error is below 1e-16 of the integral. If delta is longer than
// this constant, the plain difference loses few digits and is cheaper.
constexpr double longest_remainder = 8.0;

template <class Curvature>
double remainder_by_curvature(double eta, double delta, const Curvature& w) {
  constexpr int points = 5;  // on either side of the middle
  constexpr double node[points] = {0.14887433898163122, 0.4333953941292472, 0.6794095682990244, 0.8650633666889845,
                                   0.9739065285171717};
  constexpr double weight[points] = {0.2955242247147529, 0.26926671930999635, 0.21908636251598204, 0.1494513491505806,
                                     0.06667134430868814};
  const double pieces = std::max(1.0, std::ceil(std::abs(delta))), half = 0.5 * delta / pieces;
  double sum = 0.0;
  for (double piece = 0.0; piece < pieces; ++piece) {
    const double middle = (2.0 * piece + 1.0) * half;
    for (int i = 0; i < points; ++i) {
      const double before = middle - node[i] * half, after = middle + node[i] * half;
      sum += weight[i] * ((delta - before) * w(eta + before) + (delta - after) * w(eta + after));
    }
  }
  return -half * sum;
}

}  // namespace flymc
