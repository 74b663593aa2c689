// What the target of a row was in the table, where the store keeps it as something else.
#pragma once

#include "run_parts.hpp"

namespace flymc {

// The logarithm of the time of a row of the store, less its offset, of a model of times.
double log_time(const RunParts& parts, RowId stored);

// What the log-likelihood of a row of the table has that no parameter changes, and that a family leaves out. The rows of
// a model of times have the density of log t, so
//   log p(t) = log p(log t) - log t
// where the event was seen; a longer time has a probability, which is the same on both scales. And k successes of m
// trials can come in log (m choose k) orders. It matters to whoever compares densities of several families or programs.
double likelihood_constant(const RunParts& parts, RowId stored, const RowFacts& facts);

}  // namespace flymc
