// Gibbs draws of z on a subset of rows.
#include "flymc/kernel/explicit_sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "flymc/core/error.hpp"
#include "flymc/core/numerics.hpp"
#include "flymc/kernel/flips.hpp"

namespace flymc {

ExplicitSweep::ExplicitSweep(const JointDensity& density, RowId count, Choice choice)
    : density_(&density), count_(count), choice_(choice) {
  if (count < 1 || count > density.rows())
    throw InputError(fmt::format("an explicit sweep visits 1 to {} rows, not {}", density.rows(), count));
}

std::vector<RowId> ExplicitSweep::choose_rows(const State& state, const Random& random) const {
  const auto n = static_cast<std::uint64_t>(density_->rows());
  const auto count = static_cast<std::uint64_t>(count_);
  std::vector<RowId> rows;
  switch (choice_) {
    case Choice::with_replacement:
      for (std::uint64_t i = 0; i < count; ++i) rows.push_back(static_cast<RowId>(random.choose(Purpose::pick, i, n)));
      // Given theta, only the last of several draws of one z matters, so one draw is equivalent.
      std::sort(rows.begin(), rows.end());
      rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
      break;
    case Choice::without_replacement: {
      // Floyd: for j = n - count ... n - 1 take a pick below j + 1, or j itself if the pick is taken.
      std::unordered_set<RowId> taken;
      for (std::uint64_t j = n - count; j < n; ++j) {
        const auto pick = static_cast<RowId>(random.choose(Purpose::pick, j, j + 1));
        rows.push_back(taken.insert(pick).second ? pick : static_cast<RowId>(j));
        taken.insert(rows.back());
      }
      std::sort(rows.begin(), rows.end());
      break;
    }
    case Choice::consecutive: {
      const std::uint64_t first = (state.iteration % n) * count % n;
      for (std::uint64_t i = 0; i < count; ++i)
        if (const auto row = static_cast<RowId>((first + i) % n); density_->owns(row)) rows.push_back(row);
      std::rotate(rows.begin(), std::min_element(rows.begin(), rows.end()), rows.end());
      break;
    }
  }
  return rows;
}

Info ExplicitSweep::step(State& state, const Random& random) const {
  const auto stays_bright = [&](RowId row, double gap) {
    return random.bernoulli(Purpose::gibbs, static_cast<std::uint64_t>(row), bright_probability(gap));
  };
  Flips flips;
  std::vector<RowId> dark;
  for (const RowId row : choose_rows(state, random)) {
    if (!density_->owns(row) || !density_->has_z(row)) continue;
    if (!state.z.set.is_bright(row))
      dark.push_back(row);
    else if (!stays_bright(row, state.at.bright.gap[static_cast<std::size_t>(state.z.set.position(row))]))
      flips.dark.push_back(row);
  }
  look_at(*density_, state, dark, stays_bright, flips);
  Info info;
  info.queries = density_->flip(state, flips);
  return info;
}

}  // namespace flymc
