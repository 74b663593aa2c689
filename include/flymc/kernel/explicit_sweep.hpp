// Explicit resampling of z: Gibbs draws for a chosen subset of rows.
#pragma once

#include "flymc/kernel/kernel.hpp"

namespace flymc {

// Draws z_n afresh, bright with probability 1 - exp(-gap_n), for `count` rows per step: picked at random with or
// without replacement, or the next `count` rows in order, round and round (a deterministic scan: not reversible, but
// each step leaves the density invariant). A row waits about N / count steps for its turn. Dark rows cost a query each,
// bright ones none: their gaps are known.
class ExplicitSweep final : public Kernel {
 public:
  enum class Choice { with_replacement, without_replacement, consecutive };

  ExplicitSweep(const JointDensity& density, RowId count, Choice choice);
  Info step(State& state, const Random& random) const override;

 private:
  // In the order of the rows.
  std::vector<RowId> choose_rows(const State& state, const Random& random) const;

  const JointDensity* density_;
  RowId count_;
  Choice choice_;
};

}  // namespace flymc
