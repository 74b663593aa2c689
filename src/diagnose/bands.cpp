// The largest deviation of each table, and its quantile.
#include "flymc/diagnose/bands.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace flymc {

Bands simultaneous_bands(const RowMatrix& numbers, double level) {
  const Index tables = numbers.rows(), size = numbers.cols();
  Bands out;
  out.expected = numbers.bottomRows(tables - 1).colwise().mean().transpose();
  const Vector mean = numbers.colwise().mean().transpose();
  const RowMatrix centred = numbers.rowwise() - mean.transpose();
  const Vector sd = (centred.colwise().squaredNorm() / static_cast<double>(tables)).cwiseSqrt().transpose();
  std::vector<double> largest(static_cast<std::size_t>(tables), 0.0);
  for (Index t = 0; t < tables; ++t)
    for (Index g = 0; g < size; ++g)
      if (sd[g] > 0.0)
        largest[static_cast<std::size_t>(t)] =
            std::max(largest[static_cast<std::size_t>(t)], std::abs(centred(t, g)) / sd[g]);
  const auto as_much = std::ranges::count_if(largest, [&](double m) { return m >= largest[0]; });
  out.p_value = static_cast<double>(as_much) / static_cast<double>(tables);
  const double own = largest[0];
  std::ranges::sort(largest);
  const double rank = std::ceil(level * static_cast<double>(tables) - 1e-9);
  out.factor = largest[static_cast<std::size_t>(std::clamp(rank, 1.0, static_cast<double>(tables))) - 1];
  // If the table's own deviation is the quantile itself, it lies on the edge of its band and counts as inside.
  if (own == out.factor) out.factor *= 1.0 + 1e-12;
  out.lower = mean - out.factor * sd;
  out.upper = mean + out.factor * sd;
  out.deviation = Vector::Zero(size);
  for (Index g = 0; g < size; ++g)
    if (sd[g] > 0.0) out.deviation[g] = centred(0, g) / sd[g];
  return out;
}

}  // namespace flymc
