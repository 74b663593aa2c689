// Where a chain is: the change from the anchor, the rows that are evaluated there, and what they add to the density.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "flymc/bright/state.hpp"
#include "flymc/groups/group_bound.hpp"

namespace flymc {

// A row is evaluated if it is bright, lit, or in a far group: one beyond its radius, whose rows may be beyond their
// reach. All other rows are in the collapsed sum alone. If the border itself is far, every row has to be evaluated; such
// rows are read when they are needed, and not kept.
//
// If the groups and the border are within their radii for some amounts of exchange, the row is within its reach. So
// amounts that were computed at one place remain valid for a later change.
class GroupPlace {
 public:
  GroupPlace(const GroupBound& bound, State& state);

  const GroupBound& bound() const { return bound_; }
  const GroupedRows& rows() const { return bound_.rows(); }
  const GroupLayout& layout() const { return rows().layout(); }
  const Effects& change() const { return change_; }
  Vector& theta() { return state_.theta; }
  RowId queries() const { return queries_; }

  // The log density of the evaluated rows: the joint density without the collapsed sum and the priors.
  double rest();
  // The same at another change. `move_to` makes that change the present one.
  double rest_at(const Effects& there);
  void move_to(Effects there);
  // The log density of the bright and lit rows at another border, with its gradient. Rows of far groups, and those that
  // would become far there, are left out: this serves forces alone.
  double rest_on_the_way(const Vector& border, Vector& gradient);

  // Exchanges these amounts between the effects of a factor and the coefficients. No predictor changes.
  void exchange(std::size_t f, const Vector& amounts);
  // Moves a constant from effect j of one factor to effect l of another.
  void shift_between(std::size_t f, Index j, std::size_t h, Index l, double by);
  // Adds a line of `by` to the effects of each outer group, and takes it from those of the groups in it.
  void shift_outer(const Nesting& nesting, const RowMatrix& by);

  // Whether the group has a bright or a lit row.
  bool is_held(std::size_t f, Index group) const;
  // Whether the group has no evaluated row, and would have none at this change of its effects.
  bool is_dark(std::size_t f, Index group, const double* change) const;
  // Moves the effects of such a group.
  void move_dark(std::size_t f, Index group, const double* change);
  // The density of a group's evaluated rows as a function of its effects.
  class OneGroup;

 private:
  enum Kind : std::size_t { bright, lit, far, kinds };
  const BoundRows& rows_of(std::size_t kind) const;
  // The kind of an evaluated row by its number, and its place among those of the kind.
  std::pair<std::size_t, std::size_t> slot(std::size_t number) const;
  double term(std::size_t kind, std::size_t i, double delta, double* slope = nullptr);
  bool is_evaluated(RowId row) const;
  void find_far();
  void add_far(std::span<const RowId> rows);
  void link_all();
  void link(std::size_t number);
  using Far = std::vector<std::pair<std::size_t, Index>>;
  Far far_at(const Effects& there, const GroupBound::Border& border, bool& border_far) const;
  // The groups that would be far if the effects of this group had this change: itself, or some within it.
  Far far_with(std::size_t f, Index group, const double* change) const;
  // Their rows that are not evaluated yet.
  std::vector<RowId> rows_of_far(const Far& groups) const;
  // The sum over the dark rows that are not evaluated otherwise, block by block.
  double others(const Effects& there);

  const GroupBound& bound_;
  State& state_;
  Effects change_;
  GroupBound::Border border_;  // the present one
  bool border_far_ = false;
  BoundRows far_;
  std::unordered_set<RowId> far_ids_;
  std::vector<double> delta_[kinds];
  std::vector<std::vector<std::int32_t>> head_, next_;  // by factor: the numbers of the evaluated rows of each group
  RowId queries_ = 0;
};

// A group's effects can be tried without a change of the place.
class GroupPlace::OneGroup {
 public:
  OneGroup(GroupPlace& place, std::size_t f, Index group);
  // The log density of the evaluated rows with other changes of the group's effects.
  double rest_at(const double* change);
  // Makes the change that was tried last the present one.
  void move();

 private:
  // Adds the rows of these groups to `others_`.
  void read_rows(const Far& groups);

  GroupPlace& place_;
  std::size_t f_;
  Index group_, width_;
  std::vector<std::size_t> numbers_;
  BoundRows others_;  // dark rows of the group, once they are needed
  std::vector<double> delta_;
  Far read_;  // the groups whose rows they are
  bool far_now_ = false;
  Vector tried_;
};

}  // namespace flymc
