// Explicit resampling of z: Gibbs draws for a chosen subset of rows.
#pragma once

#include "flymc/kernel/kernel.hpp"

namespace flymc {

// Draws z_n anew, bright with probability 1 - exp(-gap_n), for `count` rows per step: chosen at random with or without
// replacement, or the next `count` rows in order, cyclically (a deterministic scan: not reversible, but each step
// leaves the density invariant). A row is redrawn about every N / count steps. A dark row costs one query, a bright row
// none, because its gap is known.
class ExplicitSweep final : public Kernel {
 public:
  enum class Choice { with_replacement, without_replacement, consecutive };

  ExplicitSweep(const JointDensity& density, RowId count, Choice choice);
  Info step(State& state, const Random& random) const override;

 private:
  // Returns the rows in the order of the store.
  std::vector<RowId> choose_rows(const State& state, const Random& random) const;

  const JointDensity* density_;
  RowId count_;
  Choice choice_;
};

}  // namespace flymc
