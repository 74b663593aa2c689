// Independent priors on the coefficients: normal, Laplace, Student-t or flat, one for all or one for each.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "flymc/core/linear.hpp"
#include "flymc/core/random.hpp"
#include "flymc/model/term.hpp"

namespace flymc {

class Prior final : public Term {
 public:
  // One location and one scale for all coefficients, or (the vector forms) one of each per coefficient, in the order of
  // theta. Scale is the standard deviation of the normal, b of the Laplace exp(-|x|/b), and the t's own scale.
  static Prior normal(double location, double scale);
  static Prior normal(const std::vector<double>& location, const std::vector<double>& scale);
  static Prior laplace(double location, double scale);
  static Prior laplace(const std::vector<double>& location, const std::vector<double>& scale);
  static Prior student_t(double nu, double location, double scale);
  static Prior student_t(double nu, const std::vector<double>& location, const std::vector<double>& scale);
  static Prior flat();
  // A prior of any kind for each coefficient; every one in the list is for one coefficient.
  static Prior each(const std::vector<Prior>& priors);

  // The prior of coefficient j only.
  Prior one(Index j) const;
  // The prior of coefficients that are scale[j] times as large: each location and scale is multiplied.
  Prior scaled(const Vector& scale) const;

  // "normal(0, 2.5)", "laplace(0, 1)", "student_t(4, 0, 2.5)" (degrees of freedom first) or "flat".
  static Prior parse(const std::string& text);
  std::string describe() const;
  bool proper() const;
  // Whether the log density is a quadratic; surrogate() is then the prior itself.
  bool quadratic() const override;
  // Throws InputError unless the prior has one scale, or as many as there are coefficients.
  void check(Index coefficients) const;

  // Normalised if the prior is proper. Adds to `gradient`, if it is given.
  double log_density(const Vector& theta, Vector* gradient = nullptr) const override;

  // A smooth function for the search of the anchor: the prior itself except for the Laplace, whose |x| becomes sqrt(x^2
  // + (b/10)^2) so that Newton's method can pass the corner.
  double surrogate(const Vector& theta, Vector& gradient) const override;
  // For the Laplace and the t, `surrogate` is the curvature of the quadratic that touches at theta and lies below (that
  // of their Gaussian scale mixture), which is never negative; `bend` is negative in the tails of a t. The matrix is
  // diagonal.
  SparseSymmetric curvature(Of what, const Vector& theta) const override;

  // The locations; 0 for flat priors.
  Vector centre(Index coefficients) const override;

  // The distance of coefficient j from the centre of its normal prior, in standard deviations; 0 for other priors,
  // whose tails are longer.
  double strain(Index j, double theta) const;

  // The Student-t prior of coefficient j; empty if it has another.
  struct StudentT {
    double nu, location, scale;
  };
  std::optional<StudentT> student_t_of(Index j) const;
  // The same priors, with those of some coefficients replaced.
  Prior with(std::span<const std::pair<Index, Prior>> others, Index coefficients) const;

  // The scale of coefficient j if its prior has longer tails than a normal one; else 0.
  double tail_scale(Index j) const;

  // The standard deviation of coefficient j; infinity if there is none.
  double deviation(Index j) const;

  Vector simulate(Index coefficients, const Random& random, Purpose purpose) const override;

 private:
  enum class Kind { normal, laplace, student_t, flat };
  struct Marginal {
    Kind kind = Kind::flat;
    double nu = 0.0, location = 0.0, scale = 1.0;
    double log_scale = 0.0, log_constant = 0.0;  // the latter: of the Student-t density
    // With u the distance from the location in scales, the surrogate's slope is -weight u, and weight is the curvature
    // of its quadratic.
    double weight(double u) const;
  };
  Prior(Kind kind, double nu, const std::vector<double>& location, const std::vector<double>& scale);
  const Marginal& marginal(Index j) const {
    return marginals_[marginals_.size() == 1 ? 0 : static_cast<std::size_t>(j)];
  }
  bool all(Kind kind) const;

  std::vector<Marginal> marginals_;  // one for all coefficients, or one for each
};

}  // namespace flymc
