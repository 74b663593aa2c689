// A part of the log density that is not in the rows: a function of the parameters only.
#pragma once

#include "flymc/core/linear.hpp"
#include "flymc/core/random.hpp"
#include "flymc/core/sparse_symmetric.hpp"

namespace flymc {

// The prior is one of these. Rows and their bounds do not depend on terms; the densities add them.
class Term {
 public:
  virtual ~Term() = default;
  // Adds to `gradient`, if it is given.
  virtual double log_density(const Vector& theta, Vector* gradient = nullptr) const = 0;
  // A smooth function in place of the log density, which may have corners. Returns its value and adds its gradient.
  virtual double surrogate(const Vector& theta, Vector& gradient) const = 0;
  // Which function's curvature (minus the second derivatives) is requested:
  enum class Of {
    surrogate,  // positive definite, and about the surrogate's: that of the quadratic in place of the term in a
                // frame, and in the search for the anchor
    bend,       // the surrogate's own, which may be negative
    corner,     // excess of the first over the curvature of a normal prior of equal variance: at the corner of a
                // Laplace the first is 20 times as large. Zero for other priors
  };
  virtual SparseSymmetric curvature(Of what, const Vector& theta) const = 0;
  // Whether the term is a quadratic.
  virtual bool quadratic() const = 0;
  // A point where a search may begin.
  virtual Vector centre(Index parameters) const = 0;
  // A point about a step away from theta at which the density is not extremely low: chains begin there.
  virtual Vector away(const Vector& theta, const Vector& step) const { return theta + step; }
  // A draw from a proper prior, by addresses (purpose, 0 ... 2 parameters).
  virtual Vector simulate(Index parameters, const Random& random, Purpose purpose) const = 0;
};

}  // namespace flymc
