// Warnings about coefficients that the rows do not identify, so that the prior alone determines them; with advice.
#pragma once

#include <string>
#include <vector>

#include "flymc/data/store.hpp"
#include "flymc/model/model.hpp"
#include "flymc/run/laplace.hpp"
#include "flymc/run/reported.hpp"

namespace flymc {

// Means and standard deviations of all reported numbers, in the units of the report.
struct Approximation {
  Vector mean, sd;
};

// Parameters whose posterior is near the prior and at least nine tenths as wide. The first `coefficients` parameters
// belong to columns; those after them are positive.
std::vector<std::string> unknown_parameters(const std::vector<std::string>& names, const Approximation& posterior,
                                            const Approximation& prior, std::size_t coefficients);

// Columns that are linear combinations of earlier ones, from the curvature of the rows (features x features).
std::vector<std::string> dependent_columns(const std::vector<std::string>& columns, const Matrix& curvature);

// Columns that separate classes, so that the likelihood has no maximum. For a 0/1 column, one side has no row of some
// class. For a column of numbers, the values in one class lie beyond all others, or rise or fall with ordered classes.
// For counts, trials and times, one side of a 0/1 column has only zeros, only failures or successes, or no event.
// Appends their features to `columns`.
std::vector<std::string> separated_classes(const Store& store, const Model& model, const Laplace& laplace,
                                           const std::vector<std::string>& classes, std::vector<Index>& columns);

// Parameters whose posterior has no standard deviation, because it has the tail of a Student-t prior with two degrees
// of freedom or fewer. They belong to columns that separate classes, or are shapes that the rows do not limit.
std::vector<Index> without_moments(const Store& store, const Model& model, const std::vector<Index>& separating,
                                   const Vector& mode);

}  // namespace flymc
