// Split Hamiltonian Monte Carlo: exact rotations for the Gaussian part, kicks for the rest of the density.
#pragma once

#include <memory>

#include "flymc/anchor/long_tails.hpp"
#include "flymc/kernel/kernel.hpp"

namespace flymc {

// In the frame's coordinates, with p standard normal: half a kick, then `steps` rotations of (b - centre, p) by angle /
// steps with kicks between them, and half a kick; accepted with the exact density. Kicks are gradients of the density
// without its Gaussian part: the bright rows, the growth with rho, a prior that is not normal. If few rows are bright,
// kicks are small and a quarter turn is nearly an independent draw. The angle is drawn uniformly from 0.8 to 1.2 times
// `angle`, so that no coordinate can be periodic.
//
// A coefficient with a narrow long-tailed prior (anchor/long_tails.hpp) is held while it is near its prior's location,
// because the frame fits the rows and is far too wide for the spike there. The directions of held coefficients are
// projected out of momentum and forces, so the flow is that of the others given them. A trajectory is rejected if the
// set of held coefficients differs between its ends, because the reverse trajectory would hold other coefficients.
class SplitHmc final : public Kernel {
 public:
  // A joint density with a frame of its own must have this frame; it makes evaluations cheaper.
  SplitHmc(const JointDensity& density, std::shared_ptr<const SplitFrame> frame, double angle, int steps,
           std::shared_ptr<const LongTails> tails = nullptr);
  SplitHmc(const FullDensity& density, std::shared_ptr<const SplitFrame> frame, double angle, int steps,
           std::shared_ptr<const LongTails> tails = nullptr);
  Info step(State& state, const Random& random) const override;

 private:
  class Holding;
  // p += time times the force of an evaluation: the gradient in b without the Gaussian part.
  void kick(double time, const Vector& b, const Evaluation& at, const Holding& holding, Vector& p) const;
  // p += time times a gradient, shortened if that is too long.
  void push(double time, Vector gradient, const Holding& holding, Vector& p) const;
  void kick_on_the_way(double time, const Vector& b, const BrightRows& z, const RowsInFrame* bright,
                       const Holding& holding, Vector& p, Info& info) const;

  // The entries that are held at theta.
  std::vector<Index> held_at(const Vector& theta) const;

  const Density* density_;
  const JointDensity* joint_;  // null for the full density
  std::shared_ptr<const SplitFrame> frame_;
  double angle_;
  int steps_;
  std::shared_ptr<const LongTails> tails_;  // null: no coefficient is held
};

// Warm-up searches the number of steps with the largest effective size per cost, estimated from the acceptance.
class SplitHmcTuner final : public Tuner {
 public:
  SplitHmcTuner(const JointDensity& density, std::shared_ptr<const SplitFrame> frame,
                std::shared_ptr<const LongTails> tails = nullptr);
  SplitHmcTuner(const FullDensity& density, std::shared_ptr<const SplitFrame> frame,
                std::shared_ptr<const LongTails> tails = nullptr);
  Info step(State& state, const Random& random) override;
  std::unique_ptr<const Kernel> freeze() const override;
  bool settled() const override;
  std::vector<double> memory() const override;
  void recall(std::span<const double> memory) override;

 private:
  bool skewed() const;
  double angle() const;
  SplitHmc kernel(std::size_t arm) const;
  std::size_t fewest() const;
  double cost(std::size_t arm) const;
  double effective(double acceptance) const;
  std::size_t best() const;

  const JointDensity* joint_;
  const FullDensity* full_;
  std::shared_ptr<const SplitFrame> frame_;
  std::shared_ptr<const LongTails> tails_;
  std::vector<LateMean> accepted_;  // for each number of steps
  LateMean bright_;
  long count_ = 0;
  double moved_ = 0.0;  // effective draws so far
};

}  // namespace flymc
