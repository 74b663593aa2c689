// The anchor: a point near the posterior mode, by damped Newton steps over the whole table.
#pragma once

#include <cstdint>
#include <optional>

#include "flymc/comm/execution.hpp"
#include "flymc/core/precision.hpp"
#include "flymc/model/model.hpp"

namespace flymc {

// A mode other than the one at the anchor.
struct OtherMode {
  Vector theta;
  double lower = 0.0;  // difference of its log posterior from the anchor's, in nats
};

struct Anchor {
  Vector theta;
  Precision metric;   // the posterior precision at theta, as in the Laplace approximation
  RowId queries = 0;  // likelihood evaluations of the search
  int steps = 0;
  double distance = 0.0;  // approximate distance to the mode: the last Newton step in posterior standard deviations
  // The highest mode that the search found far from this one. A log-concave family has none.
  std::optional<OtherMode> other = {};
};

struct AnchorOptions {
  // Stop when a Newton step is shorter than this many posterior standard deviations. The chain itself moves by about
  // sqrt(D) of them, so a rough anchor only costs a few more bright rows.
  double tolerance = 0.01;
  int most_steps = 50;
  std::optional<Vector> start = {};  // where the search begins; by default the prior's centre
};

// Maximises the log posterior, with a smooth surrogate for priors that are not smooth. Every step is one pass, and so
// is every halving of a step that went too far. Throws InputError if the posterior has no mode, as with collinear
// columns or perfectly separated classes under a flat prior.
//
// A family that can be eased (family.hpp) may have several modes. Its search begins from several places and keeps the
// highest mode:
// - options.start, or the centre of the prior;
// - least squares, while the scale shrinks to the family's own: each time the scale is halved, one step of iteratively
//   reweighted least squares. Outliers lose their weight gradually, even if there are many;
// - the same for only those rows whose likelihood is convex at the best mode so far, its outliers.
// For a table of more than twice max(2000, 20 F) rows, a random subsample of that size finds the modes, and the search
// over all rows begins from each of them.
Anchor find_anchor(const Store& store, const Model& model, const Execution& execution,
                   const AnchorOptions& options = {});

// The same in about one pass instead of one per step, for tables with many more rows than columns:
//
// 1. Newton's method on a weighted subsample of n_0 rows (subsample.hpp) finds its mode and precision P. This mode is
//    about sqrt(D N / n_0) posterior standard deviations away from the table's.
// 2. One pass computes the gradient g of the whole table there; the step is P^-1 g. The relative error of P is about 2
//    sqrt(F / n_0) for F features, so this share of the step's length is left: it is the distance reported. Another
//    pass and step follow only if it exceeds a third of sqrt(D), the radius of the posterior: an anchor nearer than
//    that hardly saves bright rows. n_0 = max(20,000, 1000 F, 8 sqrt(F N)) usually makes one pass enough.
//
// If the steps do not settle, the search continues as find_anchor from the best theta so far; if N <= 2 n_0 it is
// find_anchor. The metric is the subsample's precision at theta. The seed determines the subsample. `start` is where
// the search begins; by default the prior's centre.
Anchor find_anchor_by_subsample(const Store& store, const Model& model, const Execution& execution, std::uint64_t seed,
                                const std::optional<Vector>& start = std::nullopt);

// The same, for models that may have Student-t priors much narrower than the likelihood (long_tails.hpp). A search from
// the prior's centre would end in a spike there. So a second search finds the likelihood's mode in these coefficients,
// and a third begins at the theta of the most probable set of spikes.
Anchor find_likeliest_anchor(const Store& store, const Model& model, const Execution& execution, std::uint64_t seed);

// The anchor at a given theta, with the metric of the posterior precision there, in one pass: the last step of
// find_anchor.
Anchor anchor_at(const Store& store, const Model& model, const Execution& execution, Vector theta);

}  // namespace flymc
