// Copies of a few rows that are visited again and again, wherever the table is stored.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "flymc/core/linear.hpp"
#include "flymc/core/packed_matrix.hpp"
#include "flymc/core/panel.hpp"
#include "flymc/data/layout.hpp"

namespace flymc {

class Store;

// A chain evaluates its bright rows many times between two sweeps. Copies are contiguous, are doubles for either number
// type, and can be sent to another rank. They give the same sums, bit for bit, as the store's own rows. The operations
// below, like those of Block, are the only access to features above the layer `data`.
class RowCopies {
 public:
  // Replaces all copies by the features of these rows, and `facts` by their facts.
  void copy(const Store& store, std::span<const RowId> rows, FactColumns& facts);
  // Replaces all copies by rows of numbers that come from no table, such as means of rows: `features` numbers each,
  // row-major.
  void assign(Index features, std::span<const double> values);
  // Appends the copies to a letter, or the first `count` rows of a letter to the copies.
  void put(std::vector<std::byte>& letter) const;
  void take(std::span<const std::byte>& letter, const Layout& layout, std::size_t count);

  std::size_t size() const { return width_ > 0 ? values_.size() / static_cast<std::size_t>(width_) : 0; }
  Index features() const { return features_; }
  // Whether the rows have codes. They are then read by `entries`, and `multiply` does not support them.
  bool coded() const { return coded_; }
  Entries entries(std::size_t i) const {
    return Entries{feature_.data(), values_.data(), width_}.row(static_cast<Index>(i));
  }

  // One feature of row i.
  double value(std::size_t i, Index feature) const { return coded_ ? value_of(entries(i), feature) : row(i)[feature]; }
  // out[i K + k] = x_i' theta_k, without the rows' offsets.
  void project(const Matrix& theta, std::span<double> out) const;
  // out(:, k) += sum_i weight[i K + k] x_i, in order.
  void add_weighted(std::span<const double> weight, Matrix& out) const;
  // out += weight x_i.
  void add_row(std::size_t i, double weight, Eigen::Ref<Vector> out) const;
  // sum_i c_i (x) x_i x_i', where c_i is the K x K numbers of row i. Returns K D x K D numbers, the lower triangle
  // only.
  Matrix gram(std::span<const double> c, Index k) const;
  // out = M x_i.
  void multiply(const PackedMatrix& m, std::size_t i, double* out) const;
  // The same for `count` rows and a panel of M, on their first `columns` features; out_i begins at out + i stride.
  void multiply_panel(VectorWidth width, const double* panel, Index columns, std::size_t first, Index count,
                      double* out, Index stride) const;

  void clear() {
    values_.clear();
    feature_.clear();
  }
  // Appends a row, given as cells.
  void append(const Layout& layout, std::span<const double> cells);
  // Appends row i of another list of copies.
  void append(const RowCopies& other, std::size_t i);
  // Removes row i, and puts the last row in its place.
  void remove(std::size_t i);

 private:
  void set_layout(const Layout& layout);
  const double* row(std::size_t i) const { return values_.data() + i * static_cast<std::size_t>(width_); }
  // Calls visit(i, x) for each row; dot and add_scaled accept x.
  template <class Visit>
  void each_row(Visit&& visit) const;
  void add_gram_of_codes(const double* c, Index stride, bool whole, Eigen::Ref<Matrix> out) const;

  Index features_ = 0;
  Index width_ = 0;  // numbers per row: all features, or the entries of its cells
  bool coded_ = false;
  std::vector<double> values_;
  std::vector<std::int32_t> feature_;  // of each value, if there are codes
};

}  // namespace flymc
