// What leaving a row out would say of it, nearly, without leaving it out.
#pragma once

#include <span>
#include <vector>

#include "flymc/core/panel.hpp"
#include "flymc/draws/files/draws_file.hpp"
#include "table_rows.hpp"

namespace flymc {

// log p(y_n | all other rows) = -log E exp(-l_n(theta)) over the posterior, whose first two cumulants are
//   E l_n - Var l_n / 2,   about   l - (tr(C H) + s'H s) / 2,
// where l, s and -C are a row's log likelihood, its slope and its curvature at the posterior mean, and H is the
// posterior covariance of its K linear predictors. The rest is of third order in H, which is of the size of 1 / N. This
// is the case deletion of the Laplace approximation, to its first order, which stays finite for any row. A row of the
// table that is two of the store has the linear predictors of both.
class RowProxy {
 public:
  RowProxy(const RunParts& parts, const TableRows& table, const DrawsFile& draws);

  // Of these rows of the table. A row gets the same bits in any company.
  std::vector<double> of(std::span<const RowId> rows) const;
  // How many rows to ask for at once, so that what is computed on the way stays small.
  RowId rows_at_once() const;

 private:
  // tr(C H) + s'H s of a row of the store, and of two that are one of the table (products one after the other, a slope and
  // a curvature each), with what their cut points have between them.
  double loss(const double* products, const double* slope, const double* curvature) const;
  double loss_of_two(const double* products, const double* slope, const double* curvature, double slope_between,
                     double curvature_between) const;

  const RunParts& parts_;
  const TableRows& table_;
  const Store& store_;
  Model model_;
  Vector mean_;  // of the parameters, about
  Index directions_ = 0;
  Index padded_ = 0;             // numbers per row: K predictors, K of each direction, and zeros up to a whole panel
  std::vector<double> columns_;  // in panels (core/panel.hpp): the posterior mean and the directions, by predictor
};

}  // namespace flymc
