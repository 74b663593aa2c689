// Whether a family's scale agrees with the residuals of its targets.
#pragma once

#include <string>
#include <vector>

#include "flymc/model/model.hpp"

namespace flymc {

// Warnings about residuals at theta that are much larger or smaller than the family expects. The cause may be a scale
// that was given in the wrong unit, or a prior that shrinks the coefficients too much. Intervals are then wrong by the
// same factor, which the chains cannot detect. Evaluates two thousand rows; only for families whose targets are
// numbers.
std::vector<std::string> residual_warnings(const Model& model, const Store& store, const Vector& theta);

}  // namespace flymc
