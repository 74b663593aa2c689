// The prior of a run: the user's choice, or the default.
//
// A user's prior is for coefficients as they are reported, per unit of a column. The prior of the intercept is for the
// intercept at the means of the numeric columns and at the reference levels, because the point where all columns are 0
// is often far from all rows, and little is known about the intercept there.
//
// By default a coefficient is normal(0, 2.5 u / sd). Here sd is the standard deviation of its column, or 1 for
// true/false and levels. If coefficients are in the target's units, u is the standard deviation of the target minus the
// offset, else 1. The intercept is normal(m, 2.5 u), where m is the mean of the target if it is in the target's units,
// the logarithm of the mean per exposure if the link is a logarithm, else 0. A drawn residual scale is student_t(3, 0,
// 2.5 u), positive; a prior for all coefficients does not apply to it. These defaults resemble those of rstanarm and
// brms.
#pragma once

#include <optional>
#include <string>

#include "flymc/data/files/encoding/encoding.hpp"
#include "flymc/model/model.hpp"
#include "flymc/run/files/settings/settings.hpp"

namespace flymc {

// Returns the model that these settings describe, for rows standardised by the encoding. `total_weight` is given if the
// rows are only some of those that the encoding describes. Throws InputError if a term of the prior names no
// coefficient.
Model make_model(const Settings& settings, const Encoding& encoding, std::optional<double> total_weight = {});
// The same for targets with `classes` classes, for uses that do not depend on the prior.
Model make_model(const Settings& settings, int classes);

// The given prior as records store it: equal for equal priors on the same rows.
std::string described_prior(const Settings& settings);
// The scale of default priors, per standard deviation of a column.
double usual_width_of(const Settings& settings, const Encoding& encoding);
// The prior of the coefficients in words, for the summary.
std::string explain_prior(const Settings& settings, const Encoding& encoding);

}  // namespace flymc
