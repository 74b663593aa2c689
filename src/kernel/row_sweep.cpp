// Metropolis-Hastings on each z with the row's own q.
#include "flymc/kernel/row_sweep.hpp"

#include <algorithm>

#include "flymc/core/error.hpp"
#include "flymc/kernel/flips.hpp"

namespace flymc {

RowSweep::RowSweep(const JointDensity& density, std::shared_ptr<const Proposals> proposals)
    : density_(&density), proposals_(std::move(proposals)) {
  if (proposals_->rows() != density.rows()) throw InputError("the proposals of a sweep are of another table");
}

double RowSweep::growth(const State& state) const {
  // With four times as many arrivals as rows hardly a row is missed; small tables may have more.
  const double arrivals = std::max(1e5, 4.0 * static_cast<double>(proposals_->rows()));
  return std::min(density_->bound().gap_growth(state.at.point), std::max(1.0, arrivals / proposals_->rate()));
}

Info RowSweep::step(State& state, const Random& random) const {
  return step(state, random, proposals_->draw(random, growth(state)));
}

Info RowSweep::step(State& state, const Random& random, std::vector<RowId> proposed) const {
  return flip_by_proposals(*density_, state, random, std::move(proposed),
                           [this, growth = growth(state)](RowId row) { return proposals_->q(row, growth); });
}

}  // namespace flymc
