// Modes of narrow Student-t priors that chains do not move to: found by evaluating the posterior along lines.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "flymc/anchor/anchor.hpp"
#include "flymc/anchor/long_tails.hpp"
#include "flymc/data/store.hpp"
#include "flymc/model/model.hpp"

namespace flymc {

struct UnreachedModes {
  struct One {
    Index entry;         // of theta
    double share;        // approximate share of the posterior in the spike at the prior's location
    Vector spike, rest;  // theta in the spike, and at the highest point elsewhere
  };
  std::vector<One> modes;
  // For coefficients that chains can move between two places: the entry, and the share of the spike from the two modes.
  std::vector<std::pair<Index, double>> shares;
  RowId queries = 0;
};

// Evaluates the posterior on a line through the anchor for each parameter with a Student-t prior that is much narrower
// than its likelihood. Returns the parameters with a second mode, far from the anchor, that has a share of the
// posterior and to which chains have no move. These are scales, shapes and cut points, and coefficients (`tails`) whose
// likelihood does not look like the normal that their moves are made for. Costs about 130 passes for each such
// parameter, and none if there are no such priors. Parameters are left out if that would take too many evaluations.
UnreachedModes find_unreached_modes(const Store& store, const Model& model, const Anchor& anchor,
                                    const LongTails& tails);

// The warnings about these modes. `shown` converts theta to the scale of the summary.
std::vector<std::string> unreached_mode_warnings(const UnreachedModes& found, const std::vector<std::string>& names,
                                                 const std::function<Vector(const Vector&)>& shown);

}  // namespace flymc
