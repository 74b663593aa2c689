// A random sample of the rows of a table, with or without weights.
#pragma once

#include <cstdint>
#include <vector>

#include "../reading/table_rows.hpp"
#include "flymc/core/parallel.hpp"

namespace flymc {

struct SampledCopies {
  RowId rows = 0;              // in the table; with weights, their sum
  std::vector<RowId> sampled;  // rows of the table, increasing; a row is listed once for each of its chosen copies
};

// At most `count` rows of the table, without replacement; a row of weight k counts as k rows. Throws InputError if
// weights are not whole numbers.
SampledCopies sample_copies(const RunParts& parts, const TableRows& table, RowId count, std::uint64_t seed,
                            const Threads& threads);

}  // namespace flymc
