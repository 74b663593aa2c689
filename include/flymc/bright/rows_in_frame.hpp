// A few rows in the coordinates of a frame.
//
// theta = origin + V b changes the predictors of a row by x'V b, and slopes of its predictors contribute V'x to the
// gradient in b. If rows have few entries and are fewer than coefficients, their V'x are computed once per trajectory,
// and a kick then needs no product with V.
#pragma once

#include <span>

#include "flymc/bright/split_frame.hpp"
#include "flymc/data/row_copies.hpp"

namespace flymc {

class RowsInFrame {
 public:
  RowsInFrame(const SplitFrame& frame, const RowCopies& rows, const Arrangement& arrangement);

  // delta[i K + k] = the change of predictor k of row i at b.
  void changes(const Vector& b, std::span<double> delta) const;
  // Adds to force the sum of slope[i K + k] times the gradient in b of that change.
  void pull(std::span<const double> slope, Vector& force) const;

 private:
  PackedMatrix across_, down_;  // one column per predictor of a row, and the transpose
};

}  // namespace flymc
