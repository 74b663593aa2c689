// Metropolis-Hastings on each z with proposals drawn by geometric skips.
#include "flymc/kernel/implicit_sweep.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "flymc/core/error.hpp"
#include "flymc/kernel/flips.hpp"

namespace flymc {

ImplicitSweep::ImplicitSweep(const JointDensity& density, double q) : density_(&density), q_(q) {
  if (!(q > 0.0 && q <= 1.0)) throw InputError(fmt::format("an implicit sweep needs 0 < q <= 1, not {}", q));
}

Info ImplicitSweep::step(State& state, const Random& random) const {
  return flip_by_proposals(*density_, state, random, proposed(random), [this](RowId) { return q_; });
}

// Skips run over row ids, not over the order in memory, so that a sweep depends on the set of bright rows but not on
// the order in which they became bright.
std::vector<RowId> ImplicitSweep::proposed(const Random& random) const {
  std::vector<RowId> rows;
  const auto n = static_cast<std::uint64_t>(density_->rows());
  for (std::uint64_t row = 0, jump = 0; row < n; ++row, ++jump) {
    row += random.skip(Purpose::skip, jump, q_, n - row);
    if (row < n && density_->owns(static_cast<RowId>(row))) rows.push_back(static_cast<RowId>(row));
  }
  return rows;
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
