// Metropolis-Hastings on each z with the row's own q.
#include "flymc/kernel/row_sweep.hpp"

#include "flymc/core/error.hpp"
#include "flymc/kernel/flips.hpp"

namespace flymc {

RowSweep::RowSweep(const JointDensity& density, std::shared_ptr<const Proposals> proposals)
    : density_(&density), proposals_(std::move(proposals)) {
  if (proposals_->rows() != density.rows()) throw InputError("the proposals of a sweep are of another table");
}

Info RowSweep::step(State& state, const Random& random) const {
  return step(state, random, proposals_->draw(random, density_->bound().gap_growth(state.at.point)));
}

Info RowSweep::step(State& state, const Random& random, std::vector<RowId> proposed) const {
  return flip_by_proposals(
      *density_, state, random, std::move(proposed),
      [this, growth = density_->bound().gap_growth(state.at.point)](RowId row) { return proposals_->q(row, growth); });
}

}  // namespace flymc
