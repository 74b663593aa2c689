// Copies of a few rows, for whoever visits them again and again, wherever the table lives.
#pragma once

#include <span>
#include <vector>

#include "flymc/core/linear.hpp"

namespace flymc {

class Store;
struct FactColumns;

// A chain looks at its bright rows many times between two sweeps. Copies lie side by side, are doubles whatever the
// store holds, and can be sent to where the store is not. They give the same sums, bit for bit, as the store's own
// rows.
class RowCopies {
 public:
  // Takes these rows' features instead of those it had, and gives their facts.
  void copy(const Store& store, std::span<const RowId> rows, FactColumns& facts);
  // Takes rows that were copied elsewhere: one after the other, `features` numbers each.
  void assign(Index features, std::span<const double> values);

  std::size_t size() const { return features_ > 0 ? values_.size() / static_cast<std::size_t>(features_) : 0; }
  Index features() const { return features_; }
  const double* row(std::size_t i) const { return values_.data() + i * static_cast<std::size_t>(features_); }

  // out[i K + k] = x_i' theta_k, without the rows' offsets.
  void project(const Matrix& theta, std::span<double> out) const;
  // out(:, k) += sum_i weight[i K + k] x_i, in order.
  void add_weighted(std::span<const double> weight, Matrix& out) const;

  void clear() { values_.clear(); }
  // Appends row i of another.
  void append(const RowCopies& other, std::size_t i);
  // Moves the last row into place i and forgets it.
  void remove(std::size_t i);

 private:
  Index features_ = 0;
  std::vector<double> values_;
};

}  // namespace flymc
