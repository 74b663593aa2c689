// Langevin steps with Metropolis' correction (MALA), preconditioned by a metric.
#pragma once

#include "flymc/kernel/metropolis.hpp"

namespace flymc {

// theta' = theta + L^-T (step^2/2 w + step z) with w = L^-1 gradient and z standard normal.
class Mala final : public Kernel {
 public:
  // Best acceptance in many dimensions (Roberts and Rosenthal 1998).
  static constexpr double target_acceptance = 0.574;

  Mala(const Density& density, std::shared_ptr<const Metric> metric, double step)
      : density_(&density), metric_(std::move(metric)), step_(step) {
    check_step(density, *metric_, step);
  }
  Info step(State& state, const Random& random) const override;
  double step_size() const { return step_; }

 private:
  const Density* density_;
  std::shared_ptr<const Metric> metric_;
  double step_;
};

}  // namespace flymc
