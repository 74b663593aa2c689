// The recipe of a run: the bound, sweep and move after every automatic choice has been made.
//
// It is made once, while the rows are prepared, in two steps: first from the shape of the table, before any row is read
// (`recipe_for`), then from the cost of a draw that the statistics pass estimates (`prepare`, sampler.hpp). It is
// stored with the preparation and never chosen again: not on resuming, sampling from the same rows, or by a later
// version.
#pragma once

#include <optional>
#include <string>

#include "flymc/bound/draw_cost.hpp"
#include "flymc/run/options.hpp"

namespace flymc {

class Bound;

struct Recipe {
  bool regular = false;  // regular MCMC: all rows in every step, and neither bound nor sweep
  BoundKind bound = BoundKind::sharp;
  SweepKind sweep = SweepKind::rows;
  MoveKind move = MoveKind::split_hmc;
  std::string why = {};  // why the program chose regular MCMC, if it did
};

// Whether the program may choose between a bound and regular MCMC.
bool leaves_rows(const FitOptions& options);
// The recipe as far as the shape determines it. If bound and sweep are both left open, it may be regular MCMC.
Recipe recipe_for(const FitOptions& asked, const TableShape& shape);
// The recipe of a run on rows that were prepared by another recipe: the requested choices, and the prepared recipe's
// for the rest. Empty if the preparation lacks the requested bound.
std::optional<Recipe> recipe_on(const Recipe& prepared, const FitOptions& asked);

// The choices and their reasons in words: one line, or two if rows of the bound are lit. Only automatic choices have a
// reason.
std::string describe(const Recipe& recipe, const FitOptions& asked, const Bound* bound = nullptr);

}  // namespace flymc
