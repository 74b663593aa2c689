// A lower bound for each row of a model with groups, and their collapsed sum.
#pragma once

#include <cmath>
#include <memory>
#include <span>
#include <vector>

#include "flymc/bound/expected_gaps.hpp"
#include "flymc/groups/group_anchor.hpp"
#include "flymc/groups/group_sums.hpp"
#include "flymc/groups/pair_sums.hpp"

namespace flymc {

class Spread;

// With delta the change of a row's linear predictor from the anchor,
//
//   log B = l + l' delta - c delta^2 / 2,   which is below the log likelihood for |delta| <= reach.
//
// The reach of a row is enough for all theta in the zone: the border's part of the metric is no longer than
// border_radius(), and that of each group, unless its factor is carried, no longer than its factor's radius(). Beyond its
// reach, z has the distribution at the nearest change within it, and the row itself is evaluated. So with g(delta) = log L - log B and d the nearest
// change within the reach, a row adds to the collapsed sum of log B
//
//   g(delta) - g(d)                       which is 0 within its reach, and
//   log(exp(g(d)) - 1)                    if it is bright.
//
// A lit row has reach 0 and the likelihood's own curvature, or 0 if that is negative, and so no z.
class GroupBound {
 public:
  // The statistics pass: three queries for each row. Lights all rows of a table of at most
  // `few` rows, and of at most 10 `few` rows if more than 1 in 200 is expected to be bright.
  GroupBound(const GroupedRows& rows, GroupAnchor anchor, const Execution& execution, RowId few = 0);
  ~GroupBound();

  const GroupedRows& rows() const { return *rows_; }
  const GroupAnchor& anchor() const { return anchor_; }
  // theta as a change from the anchor.
  Effects change_of(const Vector& theta) const;
  const GroupSums& sums() const { return sums_; }
  // sum of c w v' over the rows of pairs of groups, for f != h.
  const PairSums& pairs(std::size_t f, std::size_t h) const { return *pairs_[f * rows_->factors() + h]; }
  const ExpectedGaps& expected_gaps() const { return gaps_; }
  double expected_bright() const { return expected_bright_; }
  // The rows without a z.
  const BoundRows& lit() const { return lit_; }
  bool is_lit(RowId row) const;
  RowId queries() const { return queries_; }

  // Both are infinite if every row has the curvature that suffices everywhere, as those of a gaussian have: then bounds
  // have no end.
  double border_radius() const { return limited_ ? border_radius_ : HUGE_VAL; }
  double radius(std::size_t f) const { return limited_ ? radii_[f] : HUGE_VAL; }
  // The border of a change as the metric sees it: `amounts` of each factor's exchanges are counted with it.
  struct Border {
    Vector change;
    std::vector<Vector> amounts = {};
  };
  Border border_of(const Effects& change) const;
  // The same amounts with another change of the border.
  Border border_with(const Vector& change, std::vector<Vector> amounts) const;
  // Its squared length, and that of a group whose effects rows see as `seen`, beside that border.
  double border_length(const Border& border) const;
  double group_length(std::size_t f, Index group, const double* seen, const Border& border) const;

  // Copies rows with their constants. No query.
  void fetch(std::span<const RowId> rows, BoundRows& out) const;
  // Adds the constants of rows that already have facts, x, groups and slopes.
  void complete(BoundRows& rows) const;

  // g and its slope at a change of one row, which may be beyond its reach. One query.
  struct Gap {
    double value, slope;
  };
  Gap gap(const BoundRows& rows, std::size_t i, double delta) const;
  // The row's part of the log density: `dark` g(delta) - g(d), and `bright` the same with log(exp(g(d)) - 1). One
  // query, or two beyond the reach. Throws BoundViolation if the bound is above the likelihood.
  Gap dark(const BoundRows& rows, std::size_t i, double delta) const;
  Gap bright(const BoundRows& rows, std::size_t i, double delta) const;
  // g(d), with d the change limited to the reach. The odds of being bright are exp(g(d)) - 1.
  double gap_within(const BoundRows& rows, std::size_t i, double delta) const;

 private:
  void statistics(const Execution& execution, RowId few);
  // Lights rows without a bound, and groups that would hardly move because their bound is far below their likelihood.
  void light(RowId few);
  double checked(const BoundRows& rows, std::size_t i, double delta, double gap) const;

  const GroupedRows* rows_;
  GroupAnchor anchor_;
  std::shared_ptr<const BatchedFamily> family_;
  std::unique_ptr<Spread> spread_;
  GroupSums sums_;
  std::vector<std::shared_ptr<const PairSums>> pairs_;
  ExpectedGaps gaps_;
  BoundRows lit_;
  std::vector<RowId> lit_rows_;  // ascending
  double expected_bright_ = 0.0, border_radius_ = 0.0;
  std::vector<double> radii_;
  bool limited_ = true;
  RowId queries_ = 0;
};

}  // namespace flymc
