// The full-data posterior of a robust regression along lines, where new predictors need no product with all rows.
#pragma once

#include "flymc/bright/density.hpp"
#include "flymc/model/student_t.hpp"

namespace flymc::paper {

// A slice update evaluates about ten densities on one line theta + t direction. There all predictors are eta + t (X
// direction): one product with the rows per line instead of one per density. Without this, regular MCMC on 1.8 million
// rows would take several times as long. The chain is the same up to rounding, and every density still counts as N
// queries. A point that is not on the current line begins a new line at the last point, where a slice update ends.
//
// An object keeps its current line, so each chain needs its own.
class LineDensity final : public Density {
 public:
  LineDensity(const Store& store, StudentT family, Prior prior);
  Index dimension() const override { return store_.features(); }
  // Returns the log density without the likelihood's constant. Gradients are not supported.
  RowId evaluate(const Vector& theta, const BrightRows& z, bool with_gradient, Evaluation& out) const override;

 private:
  void predict(const Vector& theta, std::vector<double>& out) const;
  double log_likelihood(double t) const;

  const Store& store_;
  StudentT family_;
  Prior prior_;
  std::vector<double> y_;
  // The line: a point and a direction with their predictors, and the last evaluated position on it.
  mutable Vector origin_, direction_;
  mutable std::vector<double> eta_, slope_;
  mutable double last_ = 0.0;
  mutable int lines_ = 0;
};

}  // namespace flymc::paper
