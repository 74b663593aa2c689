// Importance sampling over rows.
#include "flymc/kernel/bright_check.hpp"

#include <numeric>

#include "flymc/core/numerics.hpp"

namespace flymc {

double BrightCheck::expected(const State& state, const Random& random, RowId& queries) const {
  constexpr std::uint64_t count = 32;
  const auto n = static_cast<std::uint64_t>(density_->rows());
  const bool weighted = proposals_ && proposals_->rate() > 0.0;
  // The drawn rows of this rank, with repeats.
  std::vector<RowId> rows;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto row = weighted && i % 2 == 1 ? proposals_->draw_one(random, Purpose::check, 2 * i)
                                            : static_cast<RowId>(random.choose(Purpose::check, 2 * i, n));
    if (row >= 0 && density_->owns(row) && density_->has_z(row)) rows.push_back(row);
  }
  BoundRows fixed;
  Gaps gaps;
  const auto looked_at = static_cast<double>(density_->evaluate_rows(state, rows, fixed, gaps));
  double sum = 0.0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double even = 1.0 / static_cast<double>(n);
    const double p = weighted ? 0.5 * even + 0.5 * proposals_->share(rows[i]) : even;
    sum += bright_probability(gaps.gap[i]) / p;
  }
  const auto over_ranks = [&](double own) {
    const std::vector<double> all = density_->gather(own);
    return std::accumulate(all.begin(), all.end(), 0.0);
  };
  queries += static_cast<RowId>(over_ranks(looked_at));
  return over_ranks(sum) / static_cast<double>(count);
}

}  // namespace flymc
