// Targets that a fit draws for rows of its own table, beside those that the table has.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "flymc/core/linear.hpp"
#include "flymc/run/files/run_directory.hpp"

namespace flymc {

// Targets are numbers as the table has them: classes by their number, successes as shares of the row's trials. Times are
// divided by exp(offset), on both sides.
struct Replicates {
  std::vector<double> observed;  // of each row
  std::vector<char> longer;      // of each row whether its event was not seen until the observed time; none: of no row
  std::vector<double> trials;    // of each row; none: the family has none
  RowMatrix replicated;          // a row per draw, a column per row of the table
  RowMatrix means;  // a row per row of the table: the mean target, or the probability of each class, over the draws;
                    // where there is a residual scale the location
};

// Of rows of a finished run (they count from 0), which may be there more than once; each time they are drawn anew. At
// most `draws` of the posterior draws are used, evenly spaced over the chains.
constexpr std::int64_t all_draws = std::numeric_limits<std::int64_t>::max();
Replicates replicate(const RunDirectory& run, std::span<const RowId> rows, std::int64_t draws = all_draws,
                     std::uint64_t seed = 0);

}  // namespace flymc
