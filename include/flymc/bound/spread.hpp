// How far a row's predictors can move while theta stays within one unit of the metric.
#pragma once

#include <span>
#include <vector>

#include "flymc/core/metric.hpp"
#include "flymc/core/packed_matrix.hpp"
#include "flymc/data/row_copies.hpp"

namespace flymc {

// For the metric P = L L' and K predictors, the change of predictor p is delta_p = (e_p (x) x)'Delta, so with
// W = L^-1 (I_K (x) x), one column per predictor, delta = W'(L'Delta): within ||L'Delta|| <= rho, any linear form
// u'delta is at most rho sqrt(u'G u), where G = W'W. For one predictor G is ||L^-1 x||^2.
class Spread {
 public:
  Spread(const Metric& metric, Index predictors);

  // out[i K K + p K + q] = G_pq of row i. A row gives the same bits alone as in any company.
  void of(const RowCopies& rows, std::span<double> out) const;

 private:
  // Rows first ... first + 7 of L^-1, in the columns of one predictor, as a panel. Only the columns up to the diagonal.
  struct Strip {
    Index first = 0;
    Index columns = 0;
    std::size_t at = 0;  // in panels_
  };
  void one_by_one(const RowCopies& rows, double* out) const;
  void by_panels(const RowCopies& rows, double* out) const;
  void products(const double* w, double* g) const;

  Index predictors_, features_;
  Index padded_;                            // K D, rounded up to whole strips
  std::vector<std::vector<Strip>> strips_;  // of each predictor
  std::vector<double> panels_;
  std::vector<PackedMatrix> whole_;  // the columns of each predictor, from its diagonal down
};

}  // namespace flymc
