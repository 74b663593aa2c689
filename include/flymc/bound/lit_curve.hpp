// What lit rows look like away from the anchor.
#pragma once

#include "flymc/bound/bound.hpp"

namespace flymc {

// What the lit rows' likelihood at theta has more than its own quadratic at the anchor, whose curvature is in the
// hessian of the bound's sums: returns the sum, and adds theirs to slope and curvature (the lower triangle).
double add_lit_beyond_quadratic(const Bound& bound, const Vector& theta, Vector& slope, Matrix& curvature);

}  // namespace flymc
