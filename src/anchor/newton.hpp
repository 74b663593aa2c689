// Damped Newton steps to the mode of a log posterior; private to the anchor.
#pragma once

#include "flymc/anchor/anchor.hpp"
#include "posterior.hpp"

namespace flymc {

// The metric of the precision at a theta. Throws InputError, naming the coefficient, where the rows and a flat prior
// leave one undetermined.
Precision metric_of(const WeightedPosterior& posterior, const Expansion& here);

struct Mode {
  Anchor anchor;
  double value;  // of the log posterior
  bool peak;     // whether the log posterior is concave there: else the search came to rest between hills
};

// From options.start, or from the prior's centre, to the mode: see find_anchor. Where the search fails from the prior's
// centre, it begins again near 0. The queries it gives are all that the posterior counted.
Mode climb(WeightedPosterior& posterior, const AnchorOptions& options);

}  // namespace flymc
