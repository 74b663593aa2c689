// A small matrix that is multiplied by vectors again and again.
#pragma once

#include <memory>

#include "flymc/core/linear.hpp"

namespace flymc {

// Stored by columns, each padded to whole vectors. Every entry of a product has one accumulator, to which its terms are
// added in the order of the columns. As with panels (panel.hpp), the bits do not depend on the width of the processor's
// vectors.
class PackedMatrix {
 public:
  PackedMatrix() = default;
  explicit PackedMatrix(const Matrix& matrix);
  Index rows() const { return rows_; }
  Index columns() const { return columns_; }
  // out = this x.
  void multiply(const double* x, double* out) const;
  // out += weight times column j.
  void add_column(Index j, double weight, double* out) const {
    add_scaled(weight, values_.get() + j * stride_, out, rows_);
  }
  Vector operator*(const Vector& x) const {
    Vector out(rows_);
    multiply(x.data(), out.data());
    return out;
  }

 private:
  Index rows_ = 0, columns_ = 0, stride_ = 0;
  std::shared_ptr<const double[]> values_;  // on the border of a cache line
};

}  // namespace flymc
