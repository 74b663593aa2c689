// What a log density has besides the rows: a function of the parameters alone.
#pragma once

#include "flymc/core/linear.hpp"
#include "flymc/core/random.hpp"

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
  // The surrogate's own curvature, minus its second derivative in each parameter, which may be negative.
  virtual Vector surrogate_bend(const Vector& theta) const = 0;
  // By how much the surrogate's curvature exceeds that of the normal with the same variance: at the corner of a
  // Laplace, where the curvature says that it is ten times as narrow as it is. Zero for others.
  virtual Vector corner_curvature(const Vector& theta) const = 0;
  // Whether the term is its quadratic.
  virtual bool quadratic() const = 0;
  // Where a search may begin.
  virtual Vector centre(Index parameters) const = 0;
  // A place about a step away from theta where the density is not absurdly low: chains begin there.
  virtual Vector away(const Vector& theta, const Vector& step) const { return theta + step; }
  // A draw from a proper prior, from addresses (purpose, 0 ... 2 parameters).
  virtual Vector simulate(Index parameters, const Random& random, Purpose purpose) const = 0;
};

}  // namespace flymc
