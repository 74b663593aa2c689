// The two modes of a coefficient with a narrow Student-t prior, each with the rest of theta refitted.
//
// LongTails knows the likelihood by one expansion, at its maximum. The scale or the shape of a target may be far from
// there once a coefficient is held at its prior. This file climbs to both modes, so it costs about ten passes.
#pragma once

#include <optional>

#include "flymc/anchor/anchor.hpp"
#include "flymc/model/model.hpp"

namespace flymc {

struct BothPlaces {
  Vector spike, rest;         // theta at the two modes
  double log_odds;            // of the spike against the rest, by Laplace's approximation
  double sd_at_rest;          // of the entry
  Precision others_at_spike;  // of the posterior of all other entries, if the coefficient stays at its prior's location
  RowId queries;
};

// The entry must have a Student-t prior. Both climbs begin at `start`, that of the spike after the entry has been set to
// its prior's location. Empty if one of them finds no mode.
std::optional<BothPlaces> refit_both_places(const Store& store, const Model& model, const Execution& execution,
                                            Index entry, const Vector& start);

// The logarithm of the mass of the posterior near an anchor, by Laplace's approximation and up to a constant. One pass.
double laplace_mass(const Store& store, const Model& model, const Execution& execution, const Anchor& anchor);

}  // namespace flymc
