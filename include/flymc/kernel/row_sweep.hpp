// Resampling of all z at a cost that does not depend on the number of rows: proposals with a q for each row.
#pragma once

#include "flymc/kernel/kernel.hpp"
#include "flymc/kernel/proposals.hpp"

namespace flymc {

// The implicit sweep with q_n instead of q: every bright row proposes to go dark, accepted with probability
// min(1, q_n / expm1(gap)); a dark row proposes to become bright with probability q_n, accepted with
// min(1, expm1(gap) / q_n). Rows with q_n above their probability of being bright get nearly a Gibbs draw, and q_n is
// made to be: a few times the gap that the row has on average, and more where theta is farther from the anchor and gaps
// are larger. (A sweep is conditional on theta, so q_n may depend on it.) Costs a query per proposed dark row, about s
// times the number of bright rows.
class RowSweep final : public Kernel {
 public:
  RowSweep(const JointDensity& density, std::shared_ptr<const Proposals> proposals);
  Info step(State& state, const Random& random) const override;
  // The same with proposals that were drawn before: distinct rows, in order.
  Info step(State& state, const Random& random, std::vector<RowId> proposed) const;

 private:
  // How many times its usual rate a row is proposed at; a function of theta alone.
  double growth(const State& state) const;

  const JointDensity* density_;
  std::shared_ptr<const Proposals> proposals_;
};

}  // namespace flymc
