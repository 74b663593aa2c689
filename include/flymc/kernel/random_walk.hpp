// Random-walk Metropolis: theta' = theta + step L^-T z, with z standard normal.
#pragma once

#include "flymc/kernel/metropolis.hpp"

namespace flymc {

class RandomWalk final : public Kernel {
 public:
  // Best acceptance in many dimensions (Gelman, Gilks and Roberts 1997).
  static constexpr double target_acceptance = 0.234;

  RandomWalk(const Density& density, std::shared_ptr<const Metric> metric, double step)
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
