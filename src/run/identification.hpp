// What the rows do not tell, so that the prior alone decides: in words, with a way out.
#pragma once

#include <string>
#include <vector>

#include "flymc/data/store.hpp"
#include "flymc/model/model.hpp"
#include "flymc/run/laplace.hpp"
#include "flymc/run/reported.hpp"

namespace flymc {

// Means and standard deviations of all reported numbers, in their units.
struct Approximation {
  Vector mean, sd;
};

// Parameters whose posterior lies where their prior does and is at least nine tenths as wide; the first `coefficients`
// belong to columns, and those after them are positive.
std::vector<std::string> unknown_parameters(const std::vector<std::string>& names, const Approximation& posterior,
                                            const Approximation& prior, std::size_t coefficients);

// Columns that are combinations of those before them, from the curvature of the rows (features x features).
std::vector<std::string> dependent_columns(const std::vector<std::string>& columns, const Matrix& curvature);

// Columns by which classes are separated, so that the likelihood has no maximum: a 0/1 column of which one side has no
// row of some class, or a column of numbers whose values in one class lie beyond all others, or rise or fall with ordered
// classes. Also one of which one side has no count above 0, no success or no failure of its trials, or no event of its
// times. Their features are added to `columns`.
std::vector<std::string> separated_classes(const Store& store, const Model& model, const Laplace& laplace,
                                           const std::vector<std::string>& classes, std::vector<Index>& columns);

// Parameters of columns that separate classes, and shapes that the rows do not limit, whose posterior has no standard
// deviation, because it has the tail of a Student-t prior with two degrees of freedom or fewer.
std::vector<Index> without_moments(const Store& store, const Model& model, const std::vector<Index>& separating,
                                   const Vector& mode);

}  // namespace flymc
