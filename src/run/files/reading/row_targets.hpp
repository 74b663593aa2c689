// Recovers the table's target of a row if the store has it in another form.
#pragma once

#include "run_parts.hpp"

namespace flymc {

// For a model of times: the logarithm of the time of a row of the store, minus its offset.
double log_time(const RunParts& parts, RowId stored);

// The constant term of the log likelihood of a row of the table, which families leave out because no parameter changes
// it. The rows of a model of times have the density of log t, so
//   log p(t) = log p(log t) - log t
// for an observed event; the probability of a longer (censored) time is the same on both scales. And k successes of m
// trials can occur in (m choose k) orders. The constant matters when densities of several families or programs are
// compared.
double likelihood_constant(const RunParts& parts, RowId stored, const RowFacts& facts);

}  // namespace flymc
