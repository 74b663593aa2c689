// How certain the effects of a factor are near the anchor, together with those of the factors that it carries.
#pragma once

#include <vector>

#include "flymc/groups/group_sums.hpp"

namespace flymc {

// The rows of a group inform about the sum of its own effects and the outer ones. For the outer ones alone, the variance of
// the group's own effects is added to the uncertainty. Effects of different outer factors are treated as independent.
class CarriedEffects {
 public:
  // `sums` are those of factor f. They need to have couplings for border() alone.
  CarriedEffects(const GroupedRows& rows, std::size_t f, const EffectSums& sums,
                 const std::vector<Matrix>& covariances);

  // The variance of a group's own effects, the same given those that it lies within, and that of what rows see.
  Matrix own(Index group) const;
  Matrix given_outer(Index group) const;
  Matrix seen(Index group) const;
  // The precision of the effects of a group that is carried; `outer` is its factor.
  const RowMatrix& precisions(std::size_t outer) const;
  // The precision of the coefficients with the effects of f and of the factors that it carries integrated out.
  // `without_own` has those of f integrated out.
  Matrix border(const Matrix& without_own) const;

 private:
  Matrix block(Index group) const;
  // given_outer() plus the variance of the outer effects, times `along` on either side.
  Matrix with_outer(Index group, const Matrix& along) const;
  // The prior precision of factor f times the variance of the group's own effects given the outer ones.
  Matrix kept(Index group) const;

  const GroupedRows& rows_;
  std::size_t f_;
  const EffectSums& sums_;
  Matrix inverse_;                     // of the covariance of f
  std::vector<RowMatrix> precisions_;  // of each factor that f carries
};

}  // namespace flymc
