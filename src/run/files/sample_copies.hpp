// A random sample of the rows of a table, also where rows count several times or are kept as two.
#pragma once

#include <cstdint>
#include <vector>

#include "flymc/core/parallel.hpp"
#include "run_parts.hpp"

namespace flymc {

struct SampledCopies {
  RowId rows = 0;              // of the table: the sum of the weights where there are some
  std::vector<RowId> sampled;  // of the store, rising; a row as often as its copies were chosen
};

// At most `count` rows of the table, without replacement; a row of weight k is k rows. Of an ordered target a row of the
// table is the first of the rows that are made of it. Throws InputError if weights are not whole numbers.
SampledCopies sample_copies(const RunParts& parts, RowId count, std::uint64_t seed, const Threads& threads);

}  // namespace flymc
