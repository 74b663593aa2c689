// Moments and quantiles of a density of one to three variables by quadrature, without sampling.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace flymc::truth {

// The log density up to a constant, at a point with one number per axis.
using LogDensity = std::function<double(std::span<const double>)>;

// The initial range of a variable. It need only overlap the mass: it grows and shrinks as needed. But a peak much
// narrower than (upper - lower) / panels / 16 may be missed.
struct Axis {
  double lower = 0.0, upper = 0.0;
  int panels = 0;                   // 0: the default for this number of axes
  std::vector<double> breaks = {};  // where the density has a corner
};

// The distribution of one variable: a polynomial on each panel, in Legendre coefficients.
class Marginal {
 public:
  // `density` holds the values at the Gauss-Legendre nodes of each panel, one panel after the other, up to a constant.
  Marginal(std::vector<double> edges, std::span<const double> density);

  double mean() const { return mean_; }
  double sd() const { return sd_; }
  double quantile(double prob) const;

  // For the choice of panels: the unresolved part of panel p, and its contribution to the second moment about the mean,
  // both as shares of the total.
  std::size_t panels() const { return edges_.size() - 1; }
  double unresolved(std::size_t p) const;
  double share(std::size_t p) const { return share_[p]; }
  // An upper estimate of the share of the second moment beyond either end, for tails that decrease faster than the
  // fourth power.
  double beyond_lower() const { return beyond_lower_; }
  double beyond_upper() const { return beyond_upper_; }

 private:
  double weight(double x) const;  // 1 + the square of the distance from the mean in standard deviations

  std::vector<double> edges_;
  std::vector<double> coefficients_;  // for each panel
  std::vector<double> cumulative_;    // probability up to each edge
  std::vector<double> share_;
  double mean_ = 0.0, sd_ = 0.0, total_ = 0.0, beyond_lower_ = 0.0, beyond_upper_ = 0.0;
};

struct Quadrature {
  std::vector<Marginal> marginals;
  double error = 0.0;  // the largest change of a mean, sd, 5 % or 95 % quantile on halving every panel, in sds
  double cut = 0.0;    // the largest share beyond an end, see above
  std::size_t points = 0;
};

// Halves panels until halving all of them again changes means, standard deviations and both quantiles of every variable
// by at most 1e-6 standard deviations, and at most 2e-9 lies beyond any end (beyond_lower, beyond_upper). Throws
// std::runtime_error if that takes too many points.
Quadrature integrate(const LogDensity& log_density, const std::vector<Axis>& axes);

}  // namespace flymc::truth
