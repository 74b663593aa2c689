// Metropolis-Hastings on each z with proposals drawn by geometric skips.
#include "flymc/kernel/implicit_sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "flymc/core/error.hpp"
#include "flymc/kernel/chunks.hpp"

namespace flymc {

ImplicitSweep::ImplicitSweep(const JointDensity& density, double q) : density_(&density), q_(q) {
  if (!(q > 0.0 && q <= 1.0)) throw InputError(fmt::format("an implicit sweep needs 0 < q <= 1, not {}", q));
}

Info ImplicitSweep::step(State& state, const Random& random) const {
  // Both lists are of rows as they stood when the sweep began: each row gets one proposal. Skips run over row ids, not
  // over the order in memory, so that a sweep depends on which rows are bright and not on how they came to be.
  std::vector<RowId> to_darken, proposed;
  for (std::size_t i = 0; i < state.z.fixed.size(); ++i) {
    const RowId row = state.z.fixed.row[i];
    if (random.bernoulli(Purpose::darken, static_cast<std::uint64_t>(row), q_ / std::expm1(state.at.bright.gap[i])))
      to_darken.push_back(row);
  }
  const auto n = static_cast<std::uint64_t>(density_->rows());
  for (std::uint64_t row = 0, jump = 0; row < n; ++row, ++jump) {
    row += random.skip(Purpose::skip, jump, q_, n - row);
    if (row < n && !state.z.set.is_bright(static_cast<RowId>(row))) proposed.push_back(static_cast<RowId>(row));
  }

  Info info;
  info.queries = brighten_where(*density_, state, proposed, [&](RowId row, double gap) {
    return random.bernoulli(Purpose::brighten, static_cast<std::uint64_t>(row), std::expm1(gap) / q_);
  });
  for (const RowId row : to_darken) density_->darken(state, row);
  density_->settle(state);
  return info;
}

double ImplicitSweepTuner::q() const {
  const auto n = static_cast<double>(density_->rows());
  return std::min(1.0, std::max(bright_.value(), static_cast<double>(density_->dimension())) / n);
}

Info ImplicitSweepTuner::step(State& state, const Random& random) {
  bright_.add(static_cast<double>(state.z.set.bright_count()));
  return ImplicitSweep(*density_, q()).step(state, random);
}

std::unique_ptr<const Kernel> ImplicitSweepTuner::freeze() const {
  return std::make_unique<ImplicitSweep>(*density_, q());
}

}  // namespace flymc
