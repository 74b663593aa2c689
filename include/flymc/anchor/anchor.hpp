// The anchor: a point near the posterior mode, by damped Newton steps over the whole table.
#pragma once

#include <cstdint>
#include <optional>

#include "flymc/comm/execution.hpp"
#include "flymc/core/precision.hpp"
#include "flymc/model/model.hpp"

namespace flymc {

// A mode that is not the one the anchor is at.
struct OtherMode {
  Vector theta;
  double lower = 0.0;  // by how many nats its log posterior is below the anchor's
};

struct Anchor {
  Vector theta;
  Precision metric;   // of the posterior precision at theta (the Laplace approximation's)
  RowId queries = 0;  // likelihoods evaluated on the way
  int steps = 0;
  double distance = 0.0;  // to the mode, about: the last Newton step in posterior standard deviations
  // The highest of the other modes that the search came upon, far from this one; none of a log-concave family.
  std::optional<OtherMode> other = {};
};

struct AnchorOptions {
  // Stop when a Newton step is shorter than this many posterior standard deviations. The chain itself moves by about
  // sqrt(D) of them, so a rough anchor costs a few bright rows and nothing else.
  double tolerance = 0.01;
  int most_steps = 50;
  std::optional<Vector> start = {};  // where the search begins; the prior's centre if not given
};

// Maximises the log posterior, with a smooth surrogate for priors that are not. Every step is one pass, and every
// halving of a step that went too far is another. Throws InputError if the posterior has no mode to find: collinear
// columns or perfectly separated classes under a flat prior.
//
// A family that can be eased (family.hpp) may have several modes. Its search begins from several places, and the
// highest mode counts:
// - options.start, or the centre of the prior;
// - least squares, followed while the scale shrinks to the family's own: each time the scale is halved, one step of
//   iteratively reweighted least squares. Rows far away lose their weight little by little, however many they are;
// - the same of the rows alone that curve the wrong way at the best mode so far: what that mode takes for outliers.
// Of a table of more than twice max(2000, 20 F) rows, a random subsample of so many looks for the modes, and the search
// over all rows begins from each.
Anchor find_anchor(const Store& store, const Model& model, const Execution& execution,
                   const AnchorOptions& options = {});

// The same in about one pass instead of one per step, for tables much larger than their number of columns:
//
// 1. Newton's method on a weighted subsample of n_0 rows (subsample.hpp), to its own mode and precision P. That mode is
//    about sqrt(D N / n_0) posterior standard deviations away from the table's.
// 2. One pass for the gradient g of the whole table there, and the step P^-1 g. The error of P is about
//    2 sqrt(F / n_0) of itself for F features, and so is what the step leaves of its own length: the distance reported.
//    Another pass and step only if that exceeds a third of sqrt(D), the radius of the posterior: nearer than that, an
//    anchor hardly saves bright rows. n_0 = max(20,000, 1000 F, 8 sqrt(F N)) makes one pass enough as a rule.
//
// If the steps do not settle, it goes on as find_anchor from the best theta so far; if N <= 2 n_0 it is find_anchor.
// The metric is that of the subsample's precision, at theta. The seed chooses the subsample.
// `start` is where the search begins; the prior's centre if not given.
Anchor find_anchor_by_subsample(const Store& store, const Model& model, const Execution& execution, std::uint64_t seed,
                                const std::optional<Vector>& start = std::nullopt);

// The same, for models that may have Student-t priors much narrower than the likelihood (long_tails.hpp). A search that
// begins at the prior's centre would end in a spike there. So a second search finds the likelihood's mode in
// these coefficients, and a third one begins where the most probable set of spikes puts theta.
Anchor find_likeliest_anchor(const Store& store, const Model& model, const Execution& execution, std::uint64_t seed);

// The posterior precision at a given theta and its metric, in one pass: what find_anchor ends with.
Anchor anchor_at(const Store& store, const Model& model, const Execution& execution, Vector theta);

}  // namespace flymc
