// Computes V'x for each row.
#include "flymc/bright/rows_in_frame.hpp"

namespace flymc {

RowsInFrame::RowsInFrame(const SplitFrame& frame, const RowCopies& rows, const Arrangement& arrangement) {
  const Index predictors = arrangement.predictors();
  const auto n = static_cast<Index>(rows.size());
  const Index features = rows.features();
  Matrix pulled = Matrix::Zero(arrangement.entries(features), n * predictors);
  Vector x(features);
  for (Index i = 0; i < n; ++i) {
    const auto row = static_cast<std::size_t>(i);
    if (!rows.coded()) {
      x.setZero();
      rows.add_row(row, 1.0, x);
    }
    for (Index k = 0; k < predictors; ++k) {
      double* const out = pulled.col(i * predictors + k).data();
      const auto add = [&](Index feature, double value) {
        const Index entry = arrangement.entry(k, feature, features);
        if (entry >= 0 && value != 0.0) frame.add_pulled(entry, value, out);
      };
      if (rows.coded()) {
        const Entries entries = rows.entries(row);
        for (Index e = 0; e < entries.cells; ++e) add(entries.feature[e], entries.value[e]);
      } else {
        for (Index j = 0; j < features; ++j) add(j, x[j]);
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
