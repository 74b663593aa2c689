// V'x of each row.
#include "flymc/bright/rows_in_frame.hpp"

namespace flymc {

RowsInFrame::RowsInFrame(const SplitFrame& frame, const RowCopies& rows, Index predictors) {
  const auto n = static_cast<Index>(rows.size());
  const Index features = rows.features();
  Matrix pulled = Matrix::Zero(features * predictors, n * predictors);
  Vector x(features);
  for (Index i = 0; i < n; ++i) {
    const auto row = static_cast<std::size_t>(i);
    if (!rows.coded()) {
      x.setZero();
      rows.add_row(row, 1.0, x);
    }
    for (Index k = 0; k < predictors; ++k) {
      double* const out = pulled.col(i * predictors + k).data();
      if (rows.coded()) {
        const Entries entries = rows.entries(row);
        for (Index e = 0; e < entries.cells; ++e)
          if (entries.value[e] != 0.0) frame.add_pulled(k * features + entries.feature[e], entries.value[e], out);
      } else {
        for (Index j = 0; j < features; ++j) frame.add_pulled(k * features + j, x[j], out);
      }
    }
  }
  across_ = PackedMatrix(pulled);
  down_ = PackedMatrix(pulled.transpose());
}

void RowsInFrame::changes(const Vector& b, std::span<double> delta) const {
  if (!delta.empty()) down_.multiply(b.data(), delta.data());
}

void RowsInFrame::pull(std::span<const double> slope, Vector& force) const {
  if (slope.empty()) return;
  Vector out(force.size());
  across_.multiply(slope.data(), out.data());
  force += out;
}

}  // namespace flymc
