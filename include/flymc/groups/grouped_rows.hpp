// The rows of a table together with their groups: what sums over groups and moves of groups read.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "flymc/bound/bound_rows.hpp"
#include "flymc/data/group_index.hpp"
#include "flymc/groups/exchanges.hpp"
#include "flymc/groups/group_model.hpp"

namespace flymc {

// A change of theta, or theta itself, without the scales: coefficients, and the effects of each factor.
struct Effects {
  Vector border;
  std::vector<RowMatrix> groups;  // a line for each group
};
Effects effects_of(const GroupLayout& layout, const Vector& theta);

class GroupedRows {
 public:
  // Keeps references to the store and the model.
  GroupedRows(const Store& store, const GroupModel& model, const Execution& execution);

  const Store& store() const { return *store_; }
  const GroupModel& model() const { return *model_; }
  const GroupLayout& layout() const { return layout_; }
  std::size_t factors() const { return layout_.factors(); }
  GroupRows rows_of(std::size_t f, Index group) const { return index_[f]->rows(static_cast<Group>(group)); }
  bool ordered(std::size_t f) const { return index_[f]->ordered(); }
  // The factor with most groups.
  std::size_t leading() const { return leading_; }

  const Exchanges& exchanges(std::size_t f) const { return exchanges_[f]; }
  const std::vector<Nesting>& nestings() const { return nestings_; }
  // Rows only know the sum of the effects of a group and of those that it lies within. So a factor whose groups have
  // others within them is carried by the innermost factor, and rows see it in that factor's effects alone.
  bool is_carried(std::size_t f) const { return carrier_[f].has_value(); }
  // How a carried factor lies around its carrier.
  const Nesting& carrier(std::size_t f) const { return nestings_[*carrier_[f]]; }
  // The factors that this one carries.
  const std::vector<std::size_t>& carried_by(std::size_t f) const { return carried_[f]; }
  // The effects of a group as rows see them: with those of the groups that it lies within, if they are carried.
  void seen(const Effects& at, std::size_t f, Index group, double* out) const;

  // The numbers of a row that slopes multiply, each once.
  const std::vector<Multiplied>& slopes() const { return slopes_; }
  // Where the number that effect j of factor f multiplies is among a row's slopes; -1 for an intercept.
  Index slope_of(std::size_t f, Index j) const { return slope_of_[f][static_cast<std::size_t>(j)]; }
  double multiplied(std::size_t f, Index j, const double* slopes) const {
    const Index at = slope_of(f, j);
    return at < 0 ? 1.0 : slopes[at];
  }

  // Copies rows, with their groups and slopes.
  void fetch(std::span<const RowId> rows, BoundRows& out) const;
  // The change of each row's linear predictor, x'border + sum of w'u; without offsets.
  void project(const BoundRows& rows, const Effects& at, std::span<double> out) const;
  // The part of row i's change that comes from effects.
  double effect(const BoundRows& rows, std::size_t i, const Effects& at) const;
  double effect(const BoundRows& rows, std::size_t i, std::size_t f, const RowMatrix& groups) const;

  // x'border of the rows of a part of a block, with their offsets, and then their slopes: a column for each.
  Matrix weights_of(const Vector& border) const;

 private:
  const Store* store_;
  const GroupModel* model_;
  GroupLayout layout_;
  std::vector<std::shared_ptr<const GroupIndex>> index_;  // shared by effects of the same factor
  std::size_t leading_ = 0;
  std::vector<Exchanges> exchanges_;
  std::vector<Nesting> nestings_;
  std::vector<std::optional<std::size_t>> carrier_;  // among the nestings
  std::vector<std::vector<std::size_t>> carried_;
  std::vector<Multiplied> slopes_;
  std::vector<std::vector<Index>> slope_of_;
};

}  // namespace flymc
