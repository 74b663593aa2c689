// Damped Newton steps to the mode of a log posterior; private to the anchor.
#pragma once

#include "flymc/anchor/anchor.hpp"
#include "posterior.hpp"

namespace flymc {

// The metric of the precision at a theta. Throws InputError, naming the coefficient, if the rows and a flat prior leave
// one undetermined.
Precision metric_of(const WeightedPosterior& posterior, const Expansion& here);

struct Mode {
  Anchor anchor;
  double value;  // of the log posterior
  bool peak;     // whether the log posterior is concave there; if not, the search stopped between hills
};

// Searches the mode from options.start, or from the prior's centre; see find_anchor. If the search from the prior's
// centre fails, it begins again near 0. Returns the number of all queries that the posterior has counted.
Mode climb(WeightedPosterior& posterior, const AnchorOptions& options);

}  // namespace flymc
