// The preparation and the chains of a model with groups.
#pragma once

#include "flymc/chain/chain_run.hpp"
#include "flymc/groups/group_moves.hpp"
#include "flymc/groups/group_sweep.hpp"

namespace flymc {

// Keeps references to the store and the model.
class GroupSampler {
 public:
  // Finds the anchor and makes the bound: all passes over the rows. `s` is the ratio of a row's probability to be
  // proposed to its expected gap.
  GroupSampler(const Store& store, const GroupModel& model, const Execution& execution, double s = 3.0);

  const GroupBound& bound() const { return *bound_; }
  const GroupLayout& layout() const { return rows_->layout(); }
  // How chains begin, continue and step. Valid as long as the sampler.
  ChainPlan plan() const;

 private:
  State start(ChainId id) const;
  State restore(const Place& place) const;

  std::unique_ptr<const GroupedRows> rows_;
  std::unique_ptr<const GroupBound> bound_;
  std::unique_ptr<const GroupDensity> density_;
  std::shared_ptr<const GroupSweep> sweep_;
};

}  // namespace flymc
