// How far a row's predictors can move while theta stays within one unit of the metric.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "flymc/core/arrangement.hpp"
#include "flymc/core/packed_matrix.hpp"
#include "flymc/core/precision.hpp"
#include "flymc/data/row_copies.hpp"

namespace flymc {

// For the metric P = L L' and K predictors, the change of predictor p is delta_p = (e_p (x) x)'Delta, so with W = L^-1
// (I_K (x) x), one column per predictor, delta = W'(L'Delta): within ||L'Delta|| <= rho, any linear form u'delta is at
// most rho sqrt(u'G u), where G = W'W. For one predictor G is ||L^-1 x||^2. If the last predictor is shared, its column
// of W is the last column of L^-1.
//
// Rows of numbers compute W by products with L^-1. Rows with codes compute G by lookups in P^-1 = L^-T L^-1: they have
// few nonzero entries, and each pair of entries needs one number. L^-1 and P^-1 are computed on first use.
class Spread {
 public:
  Spread(const Precision& metric, const Arrangement& arrangement);

  // out[i K K + p K + q] = G_pq of row i; for codes it includes an allowance for rounding (see spread.cpp). A row's
  // result is bit-identical in any batch.
  void of(const RowCopies& rows, std::span<double> out) const;

 private:
  struct Panels;
  struct Covariance;
  struct Parts {
    std::once_flag panels_made, covariance_made;
    std::shared_ptr<const Panels> panels;
    std::shared_ptr<const Covariance> covariance;
  };
  Precision metric_;
  Arrangement arrangement_;
  std::shared_ptr<Parts> parts_;
};

}  // namespace flymc
