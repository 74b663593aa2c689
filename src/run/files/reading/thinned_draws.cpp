// Reads the draws in one scan.
#include "thinned_draws.hpp"

#include <algorithm>

namespace flymc {

RowMatrix thinned_draws(const DrawsFile& file, std::int64_t most) {
  std::int64_t all = 0;
  for (std::size_t c = 0; c < file.chains(); ++c) all += file.draws(c);
  const std::int64_t kept = std::min(all, most);
  RowMatrix out(kept, file.coefficients());
  std::int64_t seen = 0, next = 0;
  file.scan([&](const DrawsBatch& batch) {
    for (Index i = 0; i < batch.theta.rows(); ++i, ++seen)
      if (next < kept && seen == next * all / kept) out.row(next++) = batch.theta.row(i);
  });
  return out;
}

}  // namespace flymc
