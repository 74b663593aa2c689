// Random-walk Metropolis: theta' = theta + step L^-T z, with z standard normal.
#pragma once

#include "flymc/kernel/metropolis.hpp"

namespace flymc {

class RandomWalk final : public StepMove {
 public:
  // Best acceptance in many dimensions (Gelman, Gilks and Roberts 1997).
  static constexpr double target_acceptance = 0.234;

  using StepMove::StepMove;
  Info step(State& state, const Random& random) const override;
};

}  // namespace flymc
