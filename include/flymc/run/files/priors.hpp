// The prior of a run: what a person says of it, and what it is where nothing is said.
//
// A prior that is said is one of coefficients as they are reported, per unit of a column. The intercept's is one of the
// intercept at the means of the numeric columns, and at the reference levels: an intercept at 0 of all columns is often
// far away from all rows, and nobody knows anything about it.
//
// By default a coefficient is normal(0, 2.5 u / sd) with sd the standard deviation of its column, or 1 for true/false
// and levels, and u the standard deviation of the target, less the offset, where coefficients are in its units, else 1; the intercept is
// normal(m, 2.5 u), with m the mean of the target where it is in its units, the logarithm of the mean per exposure where
// the link is one, else 0. A residual scale that is drawn is student_t(3, 0, 2.5 u), positive; a prior for all
// coefficients says nothing of it. Much as rstanarm and brms have it.
#pragma once

#include <optional>
#include <string>

#include "flymc/data/files/encoding.hpp"
#include "flymc/model/model.hpp"
#include "flymc/run/files/settings.hpp"

namespace flymc {

// The model of these settings for the rows of the encoding, which are standardised as it says. Throws InputError if a
// term of the prior is about no coefficient. The rows that it is for may be some of those that the encoding knows, and
// have another weight in all.
Model make_model(const Settings& settings, const Encoding& encoding, std::optional<double> total_weight = {});
// The same for targets of `classes` classes, for all that does not look at the prior.
Model make_model(const Settings& settings, int classes);

// What was said, as records keep it: equal for equal priors on the same rows.
std::string described_prior(const Settings& settings);
// In words, for the summary.
std::string explain_prior(const Settings& settings, const Encoding& encoding);

}  // namespace flymc
