// The anchor: a point near the posterior mode, by damped Newton steps over the whole table.
#pragma once

#include "flymc/comm/communicator.hpp"
#include "flymc/core/metric.hpp"
#include "flymc/model/model.hpp"

namespace flymc {

struct Anchor {
  Vector theta;
  Metric metric;      // of the posterior precision at theta (the Laplace approximation's)
  RowId queries = 0;  // likelihoods evaluated on the way
  int steps = 0;
  double distance = 0.0;  // to the mode, about: the last Newton step in posterior standard deviations
};

struct AnchorOptions {
  // Stop when a Newton step is shorter than this many posterior standard deviations. The chain itself moves by about
  // sqrt(D) of them, so a rough anchor costs a few bright rows and nothing else.
  double tolerance = 0.01;
  int most_steps = 50;
};

// Maximises the log posterior, with a smooth surrogate for priors that are not. Every step is one pass, and every
// halving of a step that went too far is another. Throws InputError if the posterior has no mode to find: collinear
// columns or perfectly separated classes under a flat prior.
Anchor find_anchor(const Store& store, const Model& model, const Execution& execution,
                   const AnchorOptions& options = {});

// The posterior precision at a given theta and its metric, in one pass: what find_anchor ends with.
Anchor anchor_at(const Store& store, const Model& model, const Execution& execution, Vector theta);

}  // namespace flymc
