// Shared by random-walk Metropolis and MALA: the accept step, and the warm-up of a step size.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "flymc/kernel/kernel.hpp"

namespace flymc {

// A move with one step size, in the units of a metric. Throws InputError unless the step is positive and finite and
// the metric fits.
class StepMove : public Kernel {
 public:
  StepMove(const Density& density, std::shared_ptr<const Precision> metric, double step);
  double step_size() const { return step_; }

 protected:
  const Density* density_;
  std::shared_ptr<const Precision> metric_;
  double step_;
};

// Evaluates a proposal into state.proposed and moves there with probability min(1, exp(log ratio of densities +
// correction)). `correction` is called after the evaluation. Rejects if the density or the correction is not finite.
template <class Correction>
void metropolis(const Density& density, State& state, const Vector& proposal, bool with_gradient, const Random& random,
                const Correction& correction, Info& info) {
  info.queries += density.evaluate(proposal, state.z, with_gradient, state.proposed);
  ++info.evaluations;
  const double log_ratio = std::isfinite(state.proposed.log_density)
                               ? state.proposed.log_density - state.at.log_density + correction()
                               : std::numeric_limits<double>::quiet_NaN();
  if (std::isnan(log_ratio)) {
    ++info.not_finite;
    info.acceptance = 0.0;
    return;
  }
  info.acceptance = std::min(1.0, std::exp(log_ratio));
  if (!random.bernoulli(Purpose::accept, 0, info.acceptance)) return;
  state.theta = proposal;
  std::swap(state.at, state.proposed);
}

// Robbins-Monro on the logarithm of the step: it increases if acceptance is above `Move::target_acceptance`, and
// decreases if it is below. The frozen step is the late mean.
template <class Move>
class StepTuner final : public Tuner {
 public:
  StepTuner(const Density& density, std::shared_ptr<const Precision> metric, double first_step)
      : density_(&density), metric_(std::move(metric)), log_step_(std::log(first_step)) {}

  Info step(State& state, const Random& random) override {
    const Info info = Move(*density_, metric_, std::exp(log_step_)).step(state, random);
    log_step_ += 3.0 * std::pow(settled_.count() + 1.0, -0.6) * (info.acceptance - Move::target_acceptance);
    settled_.add(log_step_);
    return info;
  }

  std::unique_ptr<const Kernel> freeze() const override {
    return std::make_unique<Move>(*density_, metric_, std::exp(settled_.empty() ? log_step_ : settled_.value()));
  }

  // Every step adds to the late mean, so its count is the number of steps.
  std::vector<double> memory() const override { return {log_step_, settled_.count(), settled_.value()}; }
  void recall(std::span<const double> memory) override {
    check_memory(memory, 3);
    log_step_ = memory[0];
    settled_.recall(memory[1], memory[2]);
  }

 private:
  const Density* density_;
  std::shared_ptr<const Precision> metric_;
  double log_step_;
  LateMean settled_;
};

}  // namespace flymc
