// The two modes of a coefficient with a narrow Student-t prior, each with the rest of theta refitted.
//
// LongTails expands the likelihood only at its maximum. The scale or the shape of a target may be far from its value
// there once a coefficient is held at its prior. This file finds both modes by Newton steps, in about ten passes.
#pragma once

#include <optional>

#include "flymc/anchor/anchor.hpp"
#include "flymc/model/model.hpp"

namespace flymc {

struct BothPlaces {
  Vector spike, rest;         // theta at the two modes
  double log_odds;            // of the spike relative to the rest, by Laplace's approximation
  double sd_at_rest;          // posterior standard deviation of the entry's parameter
  Precision others_at_spike;  // of the posterior of all other entries, if the coefficient stays at its prior's location
  RowId queries;
};

// Needs an entry with a Student-t prior. Both searches begin at `start`; the search for the spike first sets the entry
// to its prior's location. Empty if one of them finds no mode.
std::optional<BothPlaces> refit_both_places(const Store& store, const Model& model, const Execution& execution,
                                            Index entry, const Vector& start);

// The logarithm of the posterior's mass near an anchor, by Laplace's approximation and up to a constant. One pass.
double laplace_mass(const Store& store, const Model& model, const Execution& execution, const Anchor& anchor);

}  // namespace flymc
