// The log likelihood of all rows at one theta: a pass.
#pragma once

#include <cstdint>

#include "flymc/comm/execution.hpp"
#include "flymc/data/store.hpp"
#include "flymc/model/model.hpp"

namespace flymc {

// The sum of the rows' log likelihoods, and its gradient in theta if requested.
struct LikelihoodSum {
  double value = 0.0;
  Matrix gradient;  // one column per predictor

  LikelihoodSum& operator+=(const LikelihoodSum& other) {
    value += other.value;
    gradient += other.gradient;
    return *this;
  }
  template <class F>
  void each_part(const F& f) {
    f(std::span<double>(&value, 1));
    f(std::span<double>(gradient.data(), static_cast<std::size_t>(gradient.size())));
  }
};

// One query per row. Every rank must call it with the same theta; throws if they differ.
LikelihoodSum sum_of_likelihoods(const Store& store, const BatchedFamily& family, const Vector& theta,
                                 bool with_gradient, const Execution& execution);

// A hash of a theta and its density. Every rank computes the same chain, and ranks compare hashes.
std::uint64_t fingerprint(const Vector& theta, double log_density);
// Throws because ranks differ (another mathematics library, or another checkpoint) and draws would be wrong.
[[noreturn]] void ranks_differ();

}  // namespace flymc
