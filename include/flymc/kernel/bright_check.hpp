// A self-check that is cheap enough for every run: whether the number of bright rows is as expected.
#pragma once

#include "flymc/kernel/kernel.hpp"
#include "flymc/kernel/proposals.hpp"

namespace flymc {

// Given theta, the number of bright rows has the mean sum_n (1 - exp(-gap_n)). A chain whose z lags behind theta
// samples the bound instead of the posterior and mixes perfectly well there; only this mean reveals it. It is estimated
// from a few rows drawn with known probabilities p_n, half of them uniformly and half in proportion to a sweep's
// lambda_n (all uniformly if there are no proposals): the mean of (1 - exp(-gap_n)) / p_n is unbiased for any p_n.
class BrightCheck {
 public:
  explicit BrightCheck(const JointDensity& density, std::shared_ptr<const Proposals> proposals = nullptr)
      : density_(&density), proposals_(std::move(proposals)) {}

  // An unbiased estimate of the number of rows that should be bright at the state's theta. Every rank must call it.
  // Adds its queries.
  double expected(const State& state, const Random& random, RowId& queries) const;

 private:
  const JointDensity* density_;
  std::shared_ptr<const Proposals> proposals_;  // null: rows are drawn uniformly
};

}  // namespace flymc
