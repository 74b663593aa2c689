// Copies of rows, with their constants.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "flymc/bound/rule.hpp"
#include "flymc/comm/communicator.hpp"
#include "flymc/data/facts.hpp"
#include "flymc/data/groups.hpp"
#include "flymc/data/row_copies.hpp"

namespace flymc {

// Copies of a chain's bright rows, of rows that it considers, and of lit rows.
struct BoundRows {
  // Copies rows of a store. Bound::complete adds the members from eta_anchor on.
  void fetch(const Store& store, std::span<const RowId> rows);
  // The same for rows of any rank. Every rank must call it with the same rows, and gets all of them.
  void fetch(const Store& store, std::span<const RowId> rows, const Communicator& communicator);

  std::vector<RowId> row;
  FactColumns facts;
  RowCopies x;
  std::vector<double> eta_anchor;  // K per row
  Coefficients coefficients;
  std::vector<double> spread;  // scratch space of Bound::prepare
  // Only in models with groups (groups/group_bound.hpp), the same number for each row: its groups, the features that
  // their slopes multiply, and the largest |change| of its linear predictor for which its bound holds.
  std::vector<Group> group;
  std::vector<double> slopes, reach;

  std::size_t size() const { return row.size(); }
  // eta[i K + k] = x_i' theta_k + offset_i.
  void predict(const Matrix& theta, std::span<double> eta) const;
  void clear();
  // Appends row i of another.
  void append(const BoundRows& other, std::size_t i);
  // Moves the last row into place i and forgets it.
  void remove(std::size_t i);
};

// Adds sum_n (slope_n (x) x_n), the gradient in theta of a sum over rows with K slopes per row.
void add_slopes(const RowCopies& rows, std::span<const double> slope, const Arrangement& arrangement, Vector& gradient);

// Writes the number of rows, their facts and features into a letter to other ranks.
void put_rows(std::vector<std::byte>& letter, const BoundRows& rows);
// Reads rows from a letter and appends them to `rows`, which must have the same kinds of facts.
void take_rows(std::span<const std::byte>& letter, const Layout& layout, BoundRows& rows);

}  // namespace flymc
