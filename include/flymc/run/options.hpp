// What a fit may be asked for. The defaults are what a person who has no opinion wants.
#pragma once

#include <cstdint>
#include <optional>

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

// Throws InputError if an option cannot be used; before any pass over the rows.
void check(const FitOptions& options);

}  // namespace flymc
