// One iteration of theta in a model with groups: its moves, each of which leaves the joint density given z invariant.
#pragma once

#include <memory>

#include "flymc/groups/group_density.hpp"
#include "flymc/kernel/kernel.hpp"

namespace flymc {

// The moves. Each uses random numbers of its own.
//
// Every group of a factor, given all else. Given z its collapsed part is normal. A group with a bright or lit row makes an
// elliptical slice (Murray, Adams and MacKay 2010). Any other group makes a slice with probability 1/8, and else a draw
// from the normal part, which the rows beyond their reach accept or reject.
void move_effects(const GroupDensity& density, GroupPlace& place, std::size_t f, const Random& random);
// Changes that rows cannot tell apart (groups/exchanges.hpp): numbers between effects and coefficients, between the
// effects of groups and of those that they lie within, and constants between effects of two factors. No row is read.
void move_what_rows_cannot_tell(const GroupDensity& density, GroupPlace& place, const Random& random);
// The scales of every factor given the effects: no row is read.
void move_scales(const GroupDensity& density, GroupPlace& place, const Random& random);
// The scales of a factor together with its effects, both times one number.
void move_scales_with_effects(const GroupDensity& density, GroupPlace& place, std::size_t f, const Random& random);
// The residual scale, if the model draws one, given coefficients, effects and their scales in the target's unit.
void move_residual_scale(const GroupDensity& density, GroupPlace& place, const Random& random);
// The coefficients given all effects of groups, by split HMC of `steps` steps. Returns the acceptance probability.
double move_border(const GroupDensity& density, GroupPlace& place, int steps, const Random& random);

// All moves of an iteration.
class GroupMove final : public Kernel {
 public:
  GroupMove(const GroupDensity& density, int steps) : density_(&density), steps_(steps) {}
  Info step(State& state, const Random& random) const override;

 private:
  const GroupDensity* density_;
  int steps_;
};

// Searches the number of steps with which four of five proposals for the coefficients are accepted.
class GroupMoveTuner final : public Tuner {
 public:
  explicit GroupMoveTuner(const GroupDensity& density) : density_(&density) {}
  Info step(State& state, const Random& random) override;
  std::unique_ptr<const Kernel> freeze() const override;
  std::vector<double> memory() const override { return {log_steps_, count_, late_.count(), late_.value()}; }
  void recall(std::span<const double> memory) override;

 private:
  const GroupDensity* density_;
  double log_steps_ = 0.7, count_ = 0.0;
  LateMean late_;
};

}  // namespace flymc
