// Targets that a fit draws for rows of its own table, and the observed targets.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "flymc/core/linear.hpp"
#include "flymc/run/files/folder/run_directory.hpp"

namespace flymc {

// Targets are numbers in the table's terms: the number of a class, or successes as a share of the row's trials.
// Observed and drawn times are both divided by exp(offset).
struct Replicates {
  std::vector<double> observed;  // for each row
  std::vector<char> longer;  // for each row, whether the event lies beyond the observed time (censored); empty: no row
  std::vector<double> trials;  // for each row; empty: the family has no trials
  RowMatrix replicated;        // a row per draw, a column per row of the table
  RowMatrix means;  // one row per row of the table: the mean target, or each class's probability, over the draws;
                    // the location if there is a residual scale
};

// Draws targets for rows of a finished run. Row numbers count from 0; a row may be listed several times and is drawn
// anew each time. At most `draws` posterior draws are used, evenly spaced over the chains.
constexpr std::int64_t all_draws = std::numeric_limits<std::int64_t>::max();
Replicates replicate(const RunDirectory& run, std::span<const RowId> rows, std::int64_t draws = all_draws,
                     std::uint64_t seed = 0);

}  // namespace flymc
