// Options of a fit. The defaults suit a user without special requirements.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "flymc/bound/lit_rows.hpp"

namespace flymc {

enum class BoundKind {
  sharp,     // touches at the anchor; its curvature is just large enough near the chain and grows with the distance
  anchored,  // touches at the anchor, which is found first (the paper's MAP-tuned bound)
  untuned,   // needs no anchor: Jaakkola-Jordan with xi = 1.5 for the logistic, the anchored bound at 0 for the others
};
// rows: a q for each row; implicit: one q for all (the paper's); the others visit a share of the rows.
enum class SweepKind { rows, implicit, with_replacement, without_replacement, consecutive };
enum class MoveKind { split_hmc, random_walk, mala, slice_coordinates, slice_direction };

// Their names in settings and records, in the order of the enumerations.
inline constexpr std::array<std::string_view, 3> bound_names = {"sharp", "anchored", "untuned"};
inline constexpr std::array<std::string_view, 5> sweep_names = {"rows", "implicit", "with_replacement",
                                                                "without_replacement", "consecutive"};
inline constexpr std::array<std::string_view, 5> move_names = {"split_hmc", "random_walk", "mala", "slice_coordinates",
                                                               "slice_direction"};

struct FitOptions {
  int chains = 4;
  int warmup = 1000;
  int draws = 1000;
  int thin = 1;
  std::uint64_t seed = 1;
  int threads = 0;  // 0: all cores. Draws do not depend on it.

  // The program chooses the options that are not given (recipe.hpp).
  std::optional<BoundKind> bound = std::nullopt;
  std::optional<SweepKind> sweep = std::nullopt;
  std::optional<MoveKind> move = std::nullopt;
  std::optional<double> q = std::nullopt;  // implicit sweeps: fixes q, which warm-up otherwise tunes
  double s = 3.0;                          // sweeps by rows: q is s times the row's expected gap
  // Which rows are always evaluated and have no z; not for the untuned bound.
  Lighting lit = {.automatic = true};
  double resample_fraction = 0.1;  // explicit sweeps: the share of rows visited
  bool regular = false;            // regular MCMC: the same move on the full-data posterior, no bound and no sweep
  bool whiten = true;              // scale moves by the posterior precision at the anchor
  bool start_from_prior = false;   // chains begin at draws from the prior, not around the anchor
};

// Throws InputError if an option cannot be used. Reads no row.
void check(const FitOptions& options);

}  // namespace flymc
