// The preparation and the chains of a model with groups.
#pragma once

#include "flymc/chain/chain_run.hpp"
#include "flymc/groups/group_moves.hpp"
#include "flymc/groups/group_sweep.hpp"

namespace flymc {

// Keeps references to the store and the model.
class GroupSampler {
 public:
  // No row has a z in a table as small as this. To evaluate all rows takes a few times as long as all else of an
  // iteration, and chains mix better where rows say little, as with a few ones in each group.
  static constexpr RowId few_rows = 500;

  // Finds the anchor and makes the bound: all passes over the rows.
  GroupSampler(const Store& store, const GroupModel& model, const Execution& execution, RowId few = few_rows);

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
