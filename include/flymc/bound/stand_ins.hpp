// Stand-ins: a few weighted rows in place of many similar ones.
#pragma once

#include "flymc/bound/bound_rows.hpp"
#include "flymc/core/precision.hpp"
#include "flymc/model/model.hpp"

namespace flymc {

// Each stand-in is the mean of a group of similar rows, with their total weight. Forces along a trajectory may use
// stand-ins: they determine where it leads, and the exact density at its end decides whether it is accepted.
struct StandIns {
  BoundRows rows;  // `row` is the first of the rows that each stands for
  std::vector<double> weight;
  std::size_t size() const { return weight.size(); }
};

// Groups rows that have nearly the same target and linear predictor at the anchor, and whose changes hardly differ over
// the posterior; a smaller `likeness` groups fewer rows. Empty if more than one stand-in per eight rows would be left,
// or if there are few rows.
StandIns stand_ins(const BoundRows& rows, const BatchedFamily& family, const Precision& metric, double likeness);

}  // namespace flymc
