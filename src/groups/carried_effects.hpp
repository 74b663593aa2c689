// How certain the effects of a factor are near the anchor, together with those of the factors that it carries.
#pragma once

#include <vector>

#include "flymc/groups/group_sums.hpp"

namespace flymc {

// A group knows of the effects that it lies within what its rows say of the sum, less certain by its own effects. Those of
// different outer factors are treated as independent.
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
  // The precision of the coefficients with the effects of all these factors integrated out, given what is left of it
  // after those of f alone.
  Matrix border(const Matrix& without_own) const;

 private:
  Matrix block(Index group) const;
  // The prior precision of factor f times the variance of the group's own effects given the outer ones.
  Matrix kept(Index group) const;

  const GroupedRows& rows_;
  std::size_t f_;
  const EffectSums& sums_;
  Matrix inverse_;                     // of the covariance of f
  std::vector<RowMatrix> precisions_;  // of each factor that f carries
};

}  // namespace flymc
