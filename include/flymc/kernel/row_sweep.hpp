// Resampling of all z at a cost that does not depend on the number of rows: each row has its own proposal probability.
#pragma once

#include "flymc/kernel/kernel.hpp"
#include "flymc/kernel/proposals.hpp"

namespace flymc {

// The implicit sweep with q_n instead of q: every bright row proposes to become dark, accepted with probability min(1,
// q_n / expm1(gap)); a dark row proposes to become bright with probability q_n, accepted with min(1, expm1(gap) / q_n).
// A row whose q_n exceeds its probability of being bright gets nearly a Gibbs draw. Therefore q_n is a few times the
// row's expected gap, and larger where theta is farther from the anchor and gaps are larger. (A sweep is conditional on
// theta, so q_n may depend on it.) Costs one query per proposed dark row, about s times the number of bright rows.
class RowSweep final : public Kernel {
 public:
  RowSweep(const JointDensity& density, std::shared_ptr<const Proposals> proposals);
  Info step(State& state, const Random& random) const override;
  // The same with given proposals: distinct rows, in order.
  Info step(State& state, const Random& random, std::vector<RowId> proposed) const;

 private:
  // The factor of the proposals' rates, which depends on theta alone.
  double growth(const State& state) const;

  const JointDensity* density_;
  std::shared_ptr<const Proposals> proposals_;
};

}  // namespace flymc
