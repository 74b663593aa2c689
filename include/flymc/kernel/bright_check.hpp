// A test that every run can afford: are as many rows bright as should be?
#pragma once

#include "flymc/kernel/kernel.hpp"
#include "flymc/kernel/proposals.hpp"

namespace flymc {

// Given theta, the number of bright rows has the mean sum_n (1 - exp(-gap_n)). A chain whose z lags behind theta
// samples the bound instead of the posterior, and mixes perfectly well there: nothing but this mean tells. It is
// estimated from a few rows drawn with known probabilities p_n, half of them evenly and half in proportion to a sweep's
// lambda_n (all evenly where there are no proposals): the mean of (1 - exp(-gap_n)) / p_n has the right expectation
// whatever p_n is.
class BrightCheck {
 public:
  explicit BrightCheck(const JointDensity& density, std::shared_ptr<const Proposals> proposals = nullptr)
      : density_(&density), proposals_(std::move(proposals)) {}

  // An unbiased estimate of how many rows should be bright at the state's theta. Every rank calls it. Adds its queries.
  double expected(const State& state, const Random& random, RowId& queries) const;

 private:
  const JointDensity* density_;
  std::shared_ptr<const Proposals> proposals_;  // none: all rows alike
};

}  // namespace flymc
