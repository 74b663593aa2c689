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
  // Each coefficient its own, of any kind; every one of them is for one coefficient.
  static Prior each(const std::vector<Prior>& priors);

  // That of coefficient j alone.
  Prior one(Index j) const;
  // Of coefficients that are scale[j] times as large: each location and scale is multiplied.
  Prior scaled(const Vector& scale) const;

  // "normal(0, 2.5)", "laplace(0, 1)", "student_t(4, 0, 2.5)" (degrees of freedom first) or "flat".
  static Prior parse(const std::string& text);
  std::string describe() const;
  bool proper() const;
  // Whether the log density is a quadratic: then surrogate() is the prior itself.
  bool quadratic() const override;
  // Throws InputError unless the prior has one scale, or as many as there are coefficients.
  void check(Index coefficients) const;

  // Normalised where the prior is proper. If `gradient` is given, adds to it.
  double log_density(const Vector& theta, Vector* gradient = nullptr) const override;

  // A smooth stand-in for the search of the anchor: the prior itself but for the Laplace, whose |x| becomes
  // sqrt(x^2 + (b/10)^2) so that Newton's method does not stumble over the corner.
  double surrogate(const Vector& theta, Vector& gradient) const override;
  // That of the Laplace and the t is the one of the quadratic which touches there and lies below (their Gaussian scale
  // mixture's), never negative; their bend is negative in the tails of a t. Nothing is coupled.
  SparseSymmetric curvature(Of what, const Vector& theta) const override;

  // The locations; 0 of flat ones.
  Vector centre(Index coefficients) const override;

  // How many of its standard deviations a normal prior's centre is away from coefficient j; 0 for others, whose tails
  // give way.
  double strain(Index j, double theta) const;

  // The Student-t prior of coefficient j, if it has one.
  struct StudentT {
    double nu, location, scale;
  };
  std::optional<StudentT> student_t_of(Index j) const;
  // The same priors, with other ones for these coefficients.
  Prior with(std::span<const std::pair<Index, Prior>> others, Index coefficients) const;

  // The scale of coefficient j, where its prior has longer tails than a normal one; else 0.
  double tail_scale(Index j) const;

  // The standard deviation of coefficient j; infinity where there is none.
  double deviation(Index j) const;

  Vector simulate(Index coefficients, const Random& random, Purpose purpose) const override;

 private:
  enum class Kind { normal, laplace, student_t, flat };
  struct Marginal {
    Kind kind = Kind::flat;
    double nu = 0.0, location = 0.0, scale = 1.0;
    double log_scale = 0.0, log_constant = 0.0;  // the second: of the Student-t density
    // With u the distance in scales, the surrogate's slope is -weight u, and weight the curvature of its quadratic.
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
