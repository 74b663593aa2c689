// Implicit resampling of z (the paper's Algorithm 2, corrected): proposals with one global q.
#pragma once

#include <vector>

#include "flymc/kernel/kernel.hpp"

namespace flymc {

// Every bright row proposes to become dark, accepted with probability min(1, q / expm1(gap)); every dark row proposes
// with probability q to become bright, accepted with min(1, expm1(gap) / q). (The paper's text prints the second test
// inverted.) If q exceeds a row's probability of being bright this is nearly a Gibbs draw. Bright rows cost no query,
// because their gaps are known; dark rows cost q N queries, found by geometric skips.
class ImplicitSweep final : public Kernel {
 public:
  ImplicitSweep(const JointDensity& density, double q);
  Info step(State& state, const Random& random) const override;
  double q() const { return q_; }
  // The rows of this rank that a sweep proposes to make bright, in order. They include rows that are bright already,
  // which the sweep skips.
  std::vector<RowId> proposed(const Random& random) const;

 private:
  const JointDensity* density_;
  double q_;
};

// Proposes about as many dark rows as the rest of an iteration costs: q N = max(bright rows, dimension). The first term
// is the paper's advice, q near the share of bright rows; the second is the cost of the collapsed bound, a quadratic
// form worth `dimension` rows. With the first term alone, z hardly moves if few rows are bright, and slows theta down.
class ImplicitSweepTuner final : public Tuner {
 public:
  explicit ImplicitSweepTuner(const JointDensity& density) : density_(&density) {}
  Info step(State& state, const Random& random) override;
  std::unique_ptr<const Kernel> freeze() const override;
  std::vector<double> memory() const override { return {bright_.count(), bright_.value()}; }
  void recall(std::span<const double> memory) override {
    check_memory(memory, 2);
    bright_.recall(memory[0], memory[1]);
  }

 private:
  double q() const;
  const JointDensity* density_;
  LateMean bright_;
};

}  // namespace flymc
