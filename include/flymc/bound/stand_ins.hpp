// Stand-ins: a few weighted rows in the place of many that are alike.
#pragma once

#include "flymc/bound/bound_rows.hpp"
#include "flymc/core/precision.hpp"
#include "flymc/model/model.hpp"

namespace flymc {

// The mean of rows that are alike, once for all of them. Forces on the way of a trajectory may come from these: they
// decide where it leads, and the exact density at its end whether it is accepted.
struct StandIns {
  BoundRows rows;  // `row` has the first of those that each stands for; curvature is the likelihood's own
  std::vector<double> weight;
  std::size_t size() const { return weight.size(); }
};

// Rows are alike that have nearly the same target and linear predictor at the anchor, and whose changes from it hardly
// differ over the posterior, the less the smaller `likeness` is. Gives nothing where that leaves more than one row in
// eight, or where rows are few anyway.
StandIns stand_ins(const BoundRows& rows, const BatchedFamily& family, const Precision& metric, double likeness);

}  // namespace flymc
