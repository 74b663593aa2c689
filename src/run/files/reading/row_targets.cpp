// The store has times as scaled logarithms, and successes as shares of the trials.
#include "row_targets.hpp"

#include <cmath>

namespace flymc {

double log_time(const RunParts& parts, RowId stored) {
  const Store& store = parts.rows.store;
  return store.value(stored, store.features() - 1) * parts.encoding.target().unit() + parts.encoding.target().shift();
}

double likelihood_constant(const RunParts& parts, RowId stored, const RowFacts& facts) {
  if (parts.encoding.target().times) return facts.target > 0.5 ? -facts.weight * log_time(parts, stored) : 0.0;
  if (!parts.encoding.target().trials) return 0.0;
  const double trials = facts.weight, successes = facts.target * trials;
  return std::lgamma(trials + 1.0) - std::lgamma(successes + 1.0) - std::lgamma(trials - successes + 1.0);
}

}  // namespace flymc
