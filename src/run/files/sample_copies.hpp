// A random sample of the rows of a table, also where rows count several times.
#pragma once

#include <cstdint>
#include <vector>

#include "flymc/core/parallel.hpp"
#include "table_rows.hpp"

namespace flymc {

struct SampledCopies {
  RowId rows = 0;              // of the table: the sum of the weights where there are some
  std::vector<RowId> sampled;  // of the table, rising; a row as often as its copies were chosen
};

// At most `count` rows of the table, without replacement; a row of weight k is k rows. Throws InputError if weights are
// not whole numbers.
SampledCopies sample_copies(const RunParts& parts, const TableRows& table, RowId count, std::uint64_t seed,
                            const Threads& threads);

}  // namespace flymc
