// What a log density has besides the rows: a function of the parameters alone.
#pragma once

#include "flymc/core/linear.hpp"
#include "flymc/core/random.hpp"
#include "flymc/core/sparse_symmetric.hpp"

namespace flymc {

// The prior is the first. Rows and their bound know nothing of terms; the densities add them.
class Term {
 public:
  virtual ~Term() = default;
  // If `gradient` is given, adds to it.
  virtual double log_density(const Vector& theta, Vector* gradient = nullptr) const = 0;
  // A smooth function that stands for it where it may have corners: its value, with its gradient added.
  virtual double surrogate(const Vector& theta, Vector& gradient) const = 0;
  // Of what a curvature is asked for, that is, minus second derivatives:
  enum class Of {
    surrogate,  // positive definite, and as good as the surrogate's: that of the quadratic by which the term enters a
                // frame, and the search for the anchor
    bend,       // the surrogate's own, which may be negative
    corner,     // by how much the first exceeds that of the normal with the same variance: at the corner of a Laplace,
                // where it says that the prior is ten times as narrow as it is. Zero for others
  };
  virtual SparseSymmetric curvature(Of what, const Vector& theta) const = 0;
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
