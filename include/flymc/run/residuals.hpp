// Whether the scale of a family explains what the linear predictor leaves of its targets.
#pragma once

#include <string>
#include <vector>

#include "flymc/model/model.hpp"

namespace flymc {

// What to say of residuals at theta that are much larger or smaller than the family draws them: a scale that was given
// in the wrong unit, or a prior that holds the coefficients back, makes intervals that are wrong by as much, and no
// chain knows. Looks at two thousand rows; for families whose targets are numbers.
std::vector<std::string> residual_warnings(const Model& model, const Store& store, const Vector& theta);

}  // namespace flymc
