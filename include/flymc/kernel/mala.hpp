// Langevin steps with Metropolis' correction (MALA), preconditioned by a metric.
#pragma once

#include "flymc/kernel/metropolis.hpp"

namespace flymc {

// theta' = theta + L^-T (step^2/2 w + step z) with w = L^-1 gradient and z standard normal.
class Mala final : public StepMove {
 public:
  // Best acceptance in many dimensions (Roberts and Rosenthal 1998).
  static constexpr double target_acceptance = 0.574;

  using StepMove::StepMove;
  Info step(State& state, const Random& random) const override;
};

}  // namespace flymc
