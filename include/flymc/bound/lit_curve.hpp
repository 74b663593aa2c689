// The exact likelihood of lit rows away from the anchor.
#pragma once

#include "flymc/bound/bound.hpp"

namespace flymc {

// Returns the lit rows' log likelihood at theta minus their quadratics at the anchor, which have the likelihood's full
// own curvature as in the hessian of the bound's sums. Adds the slope and curvature (lower triangle) of the difference.
double add_lit_beyond_quadratic(const Bound& bound, const Vector& theta, Vector& slope, Matrix& curvature);

}  // namespace flymc
