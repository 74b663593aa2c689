// The log likelihood of all rows at one theta: a pass.
#pragma once

#include <cstdint>

#include "flymc/comm/execution.hpp"
#include "flymc/data/store.hpp"
#include "flymc/model/model.hpp"

namespace flymc {

// The sum of the rows' log likelihoods, and its gradient in theta where asked for.
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

// One query per row. Every rank calls it with the same theta; throws where that is not so.
LikelihoodSum sum_of_likelihoods(const Store& store, const BatchedFamily& family, const Vector& theta,
                                 bool with_gradient, const Execution& execution);

// A number that stands for a theta and its density. Ranks compute the same chain, each for itself, and compare.
std::uint64_t fingerprint(const Vector& theta, double log_density);
// Where ranks differ (another library of mathematics, or another checkpoint), their draws would be of no posterior.
[[noreturn]] void ranks_differ();

}  // namespace flymc
