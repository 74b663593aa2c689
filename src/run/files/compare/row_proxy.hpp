// An approximation of the leave-one-out term of every row.
#pragma once

#include <span>
#include <vector>

#include "../reading/table_rows.hpp"
#include "flymc/core/panel.hpp"
#include "flymc/draws/files/draws_file.hpp"

namespace flymc {

// log p(y_n | all other rows) = -log E exp(-l_n(theta)) over the posterior, whose first two cumulants are
//   E l_n - Var l_n / 2,   about   l - (tr(C H) + s'H s) / 2,
// where l, s and -C are a row's log likelihood, slope and curvature at the posterior mean, and H is the posterior
// covariance of its K linear predictors. The error is of third order in H, and H is of order 1 / N. This is the case
// deletion of the Laplace approximation to first order, which stays finite for any row. A row of the table that is two
// rows of the store has the linear predictors of both.
class RowProxy {
 public:
  RowProxy(const RunParts& parts, const TableRows& table, const DrawsFile& draws);

  // The proxies of these rows of the table. Each is bit-identical in any batch.
  std::vector<double> of(std::span<const RowId> rows) const;
  // How many rows to request at once so that intermediate results stay small.
  RowId rows_at_once() const;

 private:
  // tr(C H) + s'H s of one row of the store, and of two rows that are one row of the table. `products`, `slope` and
  // `curvature` hold one entry after the other; `between` adds the term that depends on the distance of the cut points.
  double loss(const double* products, const double* slope, const double* curvature) const;
  double loss_of_two(const double* products, const double* slope, const double* curvature, double slope_between,
                     double curvature_between) const;

  const RunParts& parts_;
  const TableRows& table_;
  const Store& store_;
  Model model_;
  Vector mean_;  // approximate mean of the parameters
  Index directions_ = 0;
  Index padded_ = 0;             // numbers per row: K predictors, K for each direction, and zeros up to a whole panel
  std::vector<double> columns_;  // in panels (core/panel.hpp): for each predictor the posterior mean and the directions
};

}  // namespace flymc
