// The covariance of a group's effects: a standard deviation for each, their correlations, and the priors of both.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "flymc/core/linear.hpp"
#include "flymc/core/random.hpp"

namespace flymc {

// The prior of a standard deviation: the positive half of a distribution around 0.
class ScalePrior {
 public:
  static ScalePrior half_student_t(double nu, double scale);
  static ScalePrior half_normal(double scale);
  static ScalePrior exponential(double rate);
  // "half_student_t(3, 2.5)", "half_normal(1)" or "exponential(1)"; also "student_t(3, 0, 2.5)" and "normal(0, 1)", whose
  // positive half is meant.
  static ScalePrior parse(const std::string& text);

  // Up to a constant; -inf unless sd is positive.
  double log_density(double sd) const;
  // Its derivative.
  double slope(double sd) const;
  // The scale, or the mean of an exponential prior.
  double scale() const { return scale_; }
  std::string describe() const;

 private:
  enum class Kind { half_student_t, half_normal, exponential };
  ScalePrior(Kind kind, double nu, double scale);
  Kind kind_;
  double nu_, scale_;
};

// Effects of one group are normal with mean 0 and the covariance diag(sd) R diag(sd). The correlations R have the
// density det(R)^(lkj - 1) (Lewandowski, Kurowicka and Joe 2009): 1 is uniform.
struct EffectsPrior {
  std::vector<ScalePrior> sd = {ScalePrior::half_student_t(3.0, 2.5)};  // one for all effects, or one for each
  bool correlated = true;  // false: effects are independent, and there are no correlations
  double lkj = 1.0;
  const ScalePrior& of(Index effect) const { return sd[sd.size() == 1 ? 0 : static_cast<std::size_t>(effect)]; }
};

// The scales of k effects are their standard deviations, then the k (k - 1) / 2 correlations below the diagonal, row by
// row, unless effects are independent.
inline Index number_of_scales(Index effects, bool correlated) {
  return effects + (correlated ? effects * (effects - 1) / 2 : 0);
}
// diag(sd) R diag(sd).
Matrix covariance_of(std::span<const double> scales, Index effects);
// The scales of a covariance.
std::vector<double> scales_of(const Matrix& covariance, bool correlated);

// The log density of scales given the effects of G groups, whose squares and products sum to `squares` (k x k), up to a
// constant. Effects are in units of `unit`: the prior is of unit times the standard deviations. -inf if the correlations
// are not those of a covariance.
double log_density_of_scales(std::span<const double> scales, Index effects, const Matrix& squares, double groups,
                             const EffectsPrior& prior, double unit);

// Draws each number of `scales` in turn from that density, given the others. `update` is the address of the first;
// those of the others are numbered.
void draw_scales(std::span<double> scales, Index effects, const Matrix& squares, double groups,
                 const EffectsPrior& prior, double unit, const Random& random, std::uint64_t update);

}  // namespace flymc
