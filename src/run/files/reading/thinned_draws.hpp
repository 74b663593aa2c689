// Some of the draws of a run, evenly spaced over all chains.
#pragma once

#include "flymc/core/linear.hpp"
#include "flymc/draws/files/draws_file.hpp"

namespace flymc {

// At most `most` draws: a row per draw, in the order of the file, on the scale of the table's columns.
RowMatrix thinned_draws(const DrawsFile& file, std::int64_t most);

}  // namespace flymc
