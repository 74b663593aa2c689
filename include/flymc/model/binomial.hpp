// Binomial regression: y is the share of successes among a row's trials, each of which succeeds with probability
// sigmoid(eta). The number of trials is the row's weight: k successes in m trials are m times a logistic row of target
// k / m. The binomial coefficient is left out, because it does not depend on eta.
#pragma once

#include <string>

#include "flymc/model/logistic.hpp"

namespace flymc {

// l(eta) = y log sigmoid(eta) + (1 - y) log sigmoid(-eta) differs from that of either class of the logistic by a
// multiple of eta, which changes neither a remainder nor a curvature: these, and with them every bound, are the
// logistic's.
struct Binomial : Logistic {
  std::string name() const { return "binomial"; }
  Index target_classes() const { return 0; }
  std::string target_problem(double y) const { return y >= 0.0 && y <= 1.0 ? "" : "a share of successes, from 0 to 1"; }

  // The variance of one trial; the weight of a row is its number of trials, not how often the row occurred.
  double variance(Predictor eta) const {
    const auto [q, p] = sides(eta[0]);
    return q * p;
  }
  bool weight_is_trials() const { return true; }

  double log_likelihood(double y, Predictor eta) const {
    return (y > 0.0 ? y * log_sigmoid(eta[0]) : 0.0) + (y < 1.0 ? (1.0 - y) * log_sigmoid(-eta[0]) : 0.0);
  }

  void slope(double y, Predictor eta, std::span<double> out) const {
    const auto [q, p] = sides(eta[0]);
    out[0] = y * p - (1.0 - y) * q;
  }
};

static_assert(Family<Binomial>);

}  // namespace flymc
