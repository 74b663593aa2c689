// Damped Newton steps to the mode of a log posterior; private to the anchor.
#pragma once

#include "flymc/anchor/anchor.hpp"
#include "posterior.hpp"

namespace flymc {

// The metric of the precision at a theta. Throws InputError, naming the coefficient, where the rows and a flat prior
// leave one undetermined.
Metric metric_of(const WeightedPosterior& posterior, const Expansion& here);

// From options.start, or from 0, to the mode: see find_anchor. The queries it gives are all that the posterior counted.
Anchor climb(WeightedPosterior& posterior, const AnchorOptions& options);

}  // namespace flymc
