// Resampling of z in a model with groups: rows of groups far from the anchor are proposed more often.
#pragma once

#include <vector>

#include "flymc/groups/group_bound.hpp"
#include "flymc/kernel/kernel.hpp"
#include "flymc/kernel/proposals.hpp"

namespace flymc {

// The row sweep (kernel/row_sweep.hpp) with a growth for each row. A gap is about proportional to the cube of the change
// of its row, so the growth of a group is the cube of its distance from the anchor, in standard deviations; that of the
// border likewise. With a growth for all rows the few groups that are far would decide how many rows are proposed.
class GroupSweep final : public Kernel {
 public:
  // `s` is the ratio of a row's q to its expected gap.
  GroupSweep(const GroupBound& bound, double s);
  Info step(State& state, const Random& random) const override;

 private:
  struct Growth {
    double border = 1.0;
    std::vector<std::vector<double>> groups;  // by factor
  };
  Growth growth_at(const Effects& change) const;
  double growth_of(const Growth& growth, const BoundRows& rows, std::size_t i) const;
  // Adds the further arrivals in groups that grow.
  void add_arrivals(const Growth& growth, const Random& random, std::vector<RowId>& rows) const;

  const GroupBound* bound_;
  std::shared_ptr<const Proposals> proposals_;
  // By factor, for each group: the sum of its rows' rates, and the largest.
  struct Rates {
    std::vector<double> sum, largest;
  };
  std::shared_ptr<const std::vector<Rates>> rates_;
};

}  // namespace flymc
