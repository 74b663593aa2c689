// Independent priors on the coefficients: normal, Laplace, Student-t or flat, with a location and a scale for each.
#pragma once

#include <string>
#include <vector>

#include "flymc/core/linear.hpp"
#include "flymc/core/random.hpp"

namespace flymc {

class Prior {
 public:
  // One location and one scale for all coefficients, or (the vector forms) one of each per coefficient, in the order of
  // theta. Scale is the standard deviation of the normal, b of the Laplace exp(-|x|/b), and the t's own scale.
  static Prior normal(double location, double scale);
  static Prior normal(std::vector<double> location, std::vector<double> scale);
  static Prior laplace(double location, double scale);
  static Prior laplace(std::vector<double> location, std::vector<double> scale);
  static Prior student_t(double nu, double location, double scale);
  static Prior student_t(double nu, std::vector<double> location, std::vector<double> scale);
  static Prior flat();

  // "normal(0, 2.5)", "laplace(0, 1)", "student_t(4, 0, 2.5)" (degrees of freedom first) or "flat".
  static Prior parse(const std::string& text);
  std::string describe() const;
  bool proper() const { return kind_ != Kind::flat; }
  // Whether the log density is a quadratic: then surrogate() is the prior itself.
  bool quadratic() const { return kind_ == Kind::normal || kind_ == Kind::flat; }
  // Throws InputError unless the prior has one scale, or as many as there are coefficients.
  void check(Index coefficients) const;

  // Normalised where the prior is proper. If `gradient` is given, adds to it.
  double log_density(const Vector& theta, Vector* gradient = nullptr) const;

  // A smooth stand-in for the search of the anchor: its value, with gradient and (positive) curvature added. It is the
  // prior itself but for the Laplace, whose |x| becomes sqrt(x^2 + (b/10)^2) so that Newton's method does not stumble
  // over the corner. The curvature of the Laplace and the t is that of the quadratic which touches there and lies below
  // (their Gaussian scale mixture's), never negative.
  double surrogate(const Vector& theta, Vector& gradient, Vector& curvature) const;

  // A draw from a proper prior, from addresses (purpose, 0 ... 2 coefficients).
  Vector simulate(Index coefficients, const Random& random, Purpose purpose) const;

 private:
  enum class Kind { normal, laplace, student_t, flat };
  Prior(Kind kind, double nu, std::vector<double> location, std::vector<double> scale);
  double location(Index j) const { return location_[location_.size() == 1 ? 0 : static_cast<std::size_t>(j)]; }
  double scale(Index j) const { return scale_[scale_.size() == 1 ? 0 : static_cast<std::size_t>(j)]; }

  Kind kind_;
  double nu_;
  double log_constant_ = 0.0;  // of the Student-t density
  std::vector<double> location_;
  std::vector<double> scale_;
  std::vector<double> log_scale_;
};

}  // namespace flymc
