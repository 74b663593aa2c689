// Moments and quantiles of a density of one to three variables by quadrature: no sampler, no random number.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace flymc::truth {

// Up to a constant, at a point of as many numbers as there are axes.
using LogDensity = std::function<double(std::span<const double>)>;

// Where to look first along a variable. The range need only overlap the mass: it grows and shrinks as needed. But a
// peak that is much narrower than (upper - lower) / panels / 16 may be overlooked.
struct Axis {
  double lower = 0.0, upper = 0.0;
  int panels = 0;                   // 0: as many as are usual for the number of axes
  std::vector<double> breaks = {};  // where the density has a corner
};

// The distribution of one variable: on each panel a polynomial, by its coefficients in Legendre's polynomials.
class Marginal {
 public:
  // `density` holds the values at the Gauss-Legendre nodes of each panel, one panel after the other, up to a constant.
  Marginal(std::vector<double> edges, std::span<const double> density);

  double mean() const { return mean_; }
  double sd() const { return sd_; }
  double quantile(double prob) const;

  // For whoever chooses the panels. What is left to resolve on panel p, and what it adds to the second moment about the
  // mean, both as parts of the whole.
  std::size_t panels() const { return edges_.size() - 1; }
  double unresolved(std::size_t p) const;
  double share(std::size_t p) const { return share_[p]; }
  // What may lie beyond either end, as a part of the whole of the second moment: generous for tails that fall faster
  // than the fourth power.
  double beyond_lower() const { return beyond_lower_; }
  double beyond_upper() const { return beyond_upper_; }

 private:
  double weight(double x) const;  // 1 + the square of the distance from the mean in standard deviations

  std::vector<double> edges_;
  std::vector<double> coefficients_;  // of each panel
  std::vector<double> cumulative_;    // probability up to each edge
  std::vector<double> share_;
  double mean_ = 0.0, sd_ = 0.0, total_ = 0.0, beyond_lower_ = 0.0, beyond_upper_ = 0.0;
};

struct Quadrature {
  std::vector<Marginal> marginals;
  double error = 0.0;  // the most that a mean, sd, 5 % or 95 % quantile changed when every panel was halved, in sds
  double cut = 0.0;    // the most that may lie beyond an end, see above
  std::size_t points = 0;
};

// Halves panels until means, standard deviations and both quantiles of every variable change by at most 1e-6 standard
// deviations when all panels are halved once more, and less than 1e-9 lies beyond any end. Throws std::runtime_error if
// that takes too many points.
Quadrature integrate(const LogDensity& log_density, const std::vector<Axis>& axes);

}  // namespace flymc::truth
