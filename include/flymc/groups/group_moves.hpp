// One iteration of theta in a model with groups: its moves, each of which leaves the joint density given z invariant.
#pragma once

#include <memory>

#include "flymc/groups/group_place.hpp"
#include "flymc/kernel/kernel.hpp"

namespace flymc {

// The parts of the density that do not depend on the chain.
class GroupDensity {
 public:
  explicit GroupDensity(const GroupBound& bound);
  const GroupBound& bound() const { return *bound_; }
  const GroupModel& model() const { return bound_->rows().model(); }
  const GroupLayout& layout() const { return bound_->rows().layout(); }

  // The quadratic that replaces the prior of the coefficients in the Gaussian part, around the anchor.
  const Vector& prior_slope() const { return prior_slope_; }
  const Matrix& prior_precision() const { return prior_precision_; }
  // The log prior of the coefficients, and of the scales as far as it depends on the coefficients; its gradient is added.
  double log_prior(const Vector& coefficients, const Vector& theta, Vector* gradient) const;
  // The effects number `of`, first the factors' and then the pooled ones': their prior, how many each group has, the number
  // of groups, and the sums of squares and products over the groups.
  const EffectsPrior& prior(std::size_t of) const;
  Index width(std::size_t of) const;
  double groups(std::size_t of) const;
  Matrix squares(const Vector& theta, std::size_t of) const;
  std::size_t count() const { return layout().factors() + model().pooled.size(); }
  // Adds the precision of the pooled effects, given their scales.
  void add_pooled_precision(const Vector& theta, Matrix& out) const;

  // Whether the scales of a factor also move together with its effects: where rows say so little of the effects that
  // scales given them hardly move.
  bool moves_with_effects(std::size_t f) const { return moves_with_effects_[f]; }

  // The linear term of the collapsed sum in the effects of one group, given all others: its slope at the anchor.
  void slope_of_group(std::size_t f, Index group, const Effects& change, double* out) const;
  // The whole log density at a place: the collapsed sum, the priors, and the evaluated rows.
  double log_density(GroupPlace& place) const;

 private:
  const GroupBound* bound_;
  Vector prior_slope_;
  Matrix prior_precision_;
  std::vector<bool> moves_with_effects_;
};

// The moves. Each uses random numbers of its own.
//
// Every group of a factor, given all else. Given z its collapsed part is normal: a group without evaluated rows gets a
// draw from that, and any other one an elliptical slice (Murray, Adams and MacKay 2010).
void move_effects(const GroupDensity& density, GroupPlace& place, std::size_t f, const Random& random);
// Constants between effects and coefficients, and between effects of two factors: no row is read.
void move_constants(const GroupDensity& density, GroupPlace& place, const Random& random);
// The scales of every factor given the effects: no row is read.
void move_scales(const GroupDensity& density, GroupPlace& place, const Random& random);
// The scales of a factor together with its effects, both times one number.
void move_scales_with_effects(const GroupDensity& density, GroupPlace& place, std::size_t f, const Random& random);
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
