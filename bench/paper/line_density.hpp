// The full-data posterior of a robust regression for moves along lines, where the predictors need no new product.
#pragma once

#include "flymc/bright/density.hpp"
#include "flymc/model/student_t.hpp"

namespace flymc::paper {

// A slice update asks for about ten densities on one line theta + t direction, and there eta + t (X direction) gives
// all predictors: one product with the rows per line instead of one per density. Without this regular MCMC on 1.8
// million rows would take several times as long; the chain is the same up to rounding and every density still counts
// as N queries. A point that is not on the line of the last ones begins a new line at the last point, which is where a
// slice update ends.
//
// Holds the line it is on: one object per chain.
class LineDensity final : public Density {
 public:
  LineDensity(const Store& store, StudentT family, Prior prior);
  Index dimension() const override { return store_.features(); }
  // Up to the likelihood's constant. Gradients are not offered.
  RowId evaluate(const Vector& theta, const BrightRows& z, bool with_gradient, Evaluation& out) const override;

 private:
  void predict(const Vector& theta, std::vector<double>& out) const;
  double log_likelihood(double t) const;

  const Store& store_;
  StudentT family_;
  Prior prior_;
  std::vector<double> y_;
  // The line: a point and a direction with their predictors, and the place on it that was asked for last.
  mutable Vector origin_, direction_;
  mutable std::vector<double> eta_, slope_;
  mutable double last_ = 0.0;
  mutable int lines_ = 0;
};

}  // namespace flymc::paper
