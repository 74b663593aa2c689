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
  // A term may couple each parameter with the last one. Each of the three curvatures above then has, beside its
  // diagonal, a last row and column: its entries but for the last. Empty where nothing is coupled.
  enum class Curvature { surrogate, surrogate_bend, corner };
  virtual Vector border(Curvature, const Vector&) const { return {}; }
  // Whether the term is its quadratic.
  virtual bool quadratic() const = 0;
  // Where a search may begin.
  virtual Vector centre(Index parameters) const = 0;
  // A place about a step away from theta where the density is not absurdly low: chains begin there.
  virtual Vector away(const Vector& theta, const Vector& step) const { return theta + step; }
  // A draw from a proper prior, from addresses (purpose, 0 ... 2 parameters).
  virtual Vector simulate(Index parameters, const Random& random, Purpose purpose) const = 0;
};

// Adds a border to a symmetric matrix, whole or its lower triangle.
inline void add_border(Matrix& matrix, const Vector& border, double times = 1.0) {
  const Index d = border.size();
  if (d == 0) return;
  matrix.row(d).head(d) += times * border.transpose();
  matrix.col(d).head(d) += times * border;
}

// The product of a vector and the symmetric matrix of a diagonal and a border.
inline Vector bordered_product(const Vector& diagonal, const Vector& border, const Vector& v) {
  Vector out = diagonal.cwiseProduct(v);
  const Index d = border.size();
  if (d == 0) return out;
  out.head(d) += v[d] * border;
  out[d] += border.dot(v.head(d));
  return out;
}

}  // namespace flymc
