// What a log density has besides the rows: a function of the parameters alone.
#pragma once

#include "flymc/core/linear.hpp"

namespace flymc {

// The prior is the first. Rows and their bound know nothing of terms; the densities add them.
class Term {
 public:
  virtual ~Term() = default;
  // If `gradient` is given, adds to it.
  virtual double log_density(const Vector& theta, Vector* gradient = nullptr) const = 0;
  // A smooth function that stands for it where it may have corners: its value, with gradient and a (positive)
  // curvature for each parameter added. That is the quadratic by which the term enters a frame, and the search for the
  // anchor.
  virtual double surrogate(const Vector& theta, Vector& gradient, Vector& curvature) const = 0;
  // Whether the term is its quadratic.
  virtual bool quadratic() const = 0;
};

}  // namespace flymc
