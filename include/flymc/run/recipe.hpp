// The recipe of a run: every choice that was left to the program, made.
//
// It is made once, while the rows are prepared, in two steps: by the shape of the table before any row is looked at
// (`recipe_for`), and by what the statistics pass says a draw costs (`prepare`, sampler.hpp). From then on it is kept
// with the preparation. Nothing decides again: neither resuming, nor sampling from the same rows, nor a later version.
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
  std::string why = {};  // why regular MCMC, where the program chose it
};

// Whether it is left to the program how to treat the rows: with a bound or all of them.
bool leaves_rows(const FitOptions& options);
// As far as the shape alone can tell. Where bound and sweep are both left open, that may be regular MCMC.
Recipe recipe_for(const FitOptions& asked, const TableShape& shape);
// The recipe of a run on rows that were prepared by another recipe: what is asked for, and for the rest what was chosen
// then. Nothing if the preparation does not serve, since there is no bound where one is asked for, or another one.
std::optional<Recipe> recipe_on(const Recipe& prepared, const FitOptions& asked);

// What was chosen and why, in words: a line, or two where rows of the bound are lit. A reason belongs to a choice that
// was left to the program.
std::string describe(const Recipe& recipe, const FitOptions& asked, const Bound* bound = nullptr);

}  // namespace flymc
