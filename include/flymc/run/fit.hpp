// From a store and a model to draws and their summary: the three stages in one call.
#pragma once

#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "flymc/anchor/anchor.hpp"
#include "flymc/bound/bound.hpp"
#include "flymc/chain/run_chains.hpp"
#include "flymc/diagnose/summary.hpp"
#include "flymc/draws/sink.hpp"

namespace flymc {

enum class BoundKind {
  anchored,  // touches the likelihood at the anchor, which is found first (the paper's MAP-tuned bound)
  untuned,   // needs no anchor: Jaakkola-Jordan with xi = 1.5 for the logistic, the anchored bound at 0 for the others
};
enum class SweepKind { implicit, with_replacement, without_replacement, consecutive };
enum class MoveKind { random_walk, mala, slice_coordinates, slice_direction };

struct FitOptions {
  int chains = 4;
  int warmup = 1000;
  int draws = 1000;
  int thin = 1;
  std::uint64_t seed = 1;
  int threads = 0;  // 0: all cores. Draws do not depend on it.

  BoundKind bound = BoundKind::anchored;
  SweepKind sweep = SweepKind::implicit;
  MoveKind move = MoveKind::mala;
  std::optional<double> q = std::nullopt;  // implicit sweeps: fixes q, which warm-up otherwise tunes
  double resample_fraction = 0.1;          // explicit sweeps: the share of rows visited
  bool regular = false;           // regular MCMC: the same move on the full-data posterior, no bound and no sweep
  bool whiten = true;             // scale moves by the posterior precision at the anchor
  bool start_from_prior = false;  // chains begin at draws from the prior, not around the anchor
};

// The summary of a fit, ready to print.
struct FitSummary {
  std::vector<ParameterSummary> parameters;
  std::string cost;  // rows, queries and passes, in words
  std::string text() const;
};
std::ostream& operator<<(std::ostream& out, const FitSummary& summary);

struct Fit {
  std::vector<std::string> names;
  MemorySink draws;
  std::vector<ChainReport> chains;
  RowId rows = 0;
  RowId anchor_queries = 0;
  RowId bound_queries = 0;

  // All queries: set-up, starts, warm-up and sampling of every chain.
  RowId queries() const;
  FitSummary summary() const;
};

// Throws InputError if the rows, the model or the options cannot be used.
Fit fit(const Store& store, const Model& model, const FitOptions& options = {});

}  // namespace flymc
