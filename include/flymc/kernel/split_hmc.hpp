// Split Hamiltonian Monte Carlo: exact rotations for the Gaussian part, kicks for what is left of it.
#pragma once

#include <memory>

#include "flymc/kernel/kernel.hpp"

namespace flymc {

// In the frame's coordinates, with p standard normal: half a kick, then `steps` rotations of (b - centre, p) by
// angle / steps with kicks between them, and half a kick; accepted with the exact density. Kicks are gradients of the
// density without its Gaussian part: the bright rows, what grows with rho, a prior that is not normal. Where few rows
// are bright there is hardly anything to kick, and a quarter turn is an independent draw. The angle is drawn uniformly
// from 0.8 to 1.2 times `angle`, so that no coordinate can be periodic.
class SplitHmc final : public Kernel {
 public:
  // A joint density that has a frame of its own, which makes it quicker, must have this one.
  SplitHmc(const JointDensity& density, std::shared_ptr<const SplitFrame> frame, double angle, int steps);
  SplitHmc(const FullDensity& density, std::shared_ptr<const SplitFrame> frame, double angle, int steps);
  Info step(State& state, const Random& random) const override;

 private:
  // Gradient in b, without the Gaussian part: from an evaluation, and anywhere.
  Vector kick(const Vector& b, const Evaluation& at) const;
  Vector kick_at(const Vector& b, const BrightRows& z, Info& info) const;

  const Density* density_;
  const JointDensity* joint_;  // null for the full density
  std::shared_ptr<const SplitFrame> frame_;
  double angle_;
  int steps_;
};

// Warm-up tries numbers of steps in turn and keeps the one that goes farthest per cost: acceptance times squared
// distance in b, over what an iteration costs.
class SplitHmcTuner final : public Tuner {
 public:
  SplitHmcTuner(const JointDensity& density, std::shared_ptr<const SplitFrame> frame);
  SplitHmcTuner(const FullDensity& density, std::shared_ptr<const SplitFrame> frame);
  Info step(State& state, const Random& random) override;
  std::unique_ptr<const Kernel> freeze() const override;
  std::vector<double> memory() const override;
  void recall(std::span<const double> memory) override;

 private:
  SplitHmc kernel(std::size_t arm) const;
  std::size_t best() const;
  double cost(std::size_t arm) const;

  const JointDensity* joint_;
  const FullDensity* full_;
  std::shared_ptr<const SplitFrame> frame_;
  std::vector<LateMean> gain_;  // per number of steps
  LateMean bright_;
  long count_ = 0;
};

}  // namespace flymc
