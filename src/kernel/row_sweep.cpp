// Metropolis-Hastings on each z with the row's own q.
#include "flymc/kernel/row_sweep.hpp"

#include <cmath>

#include "flymc/core/error.hpp"
#include "flymc/kernel/chunks.hpp"

namespace flymc {

RowSweep::RowSweep(const JointDensity& density, std::shared_ptr<const Proposals> proposals)
    : density_(&density), proposals_(std::move(proposals)) {
  if (proposals_->rows() != density.rows()) throw InputError("the proposals of a sweep are of another table");
}

Info RowSweep::step(State& state, const Random& random) const { return step(state, random, proposals_->draw(random)); }

Info RowSweep::step(State& state, const Random& random, std::vector<RowId> proposed) const {
  // Both lists are of rows as they stood when the sweep began: each row gets one proposal.
  std::vector<RowId> to_darken;
  for (std::size_t i = 0; i < state.z.fixed.size(); ++i) {
    const RowId row = state.z.fixed.row[i];
    if (random.bernoulli(Purpose::darken, static_cast<std::uint64_t>(row),
                         proposals_->q(row) / std::expm1(state.at.bright.gap[i])))
      to_darken.push_back(row);
  }
  std::erase_if(proposed, [&](RowId row) { return state.z.set.is_bright(row); });

  Info info;
  info.queries = brighten_where(*density_, state, proposed, [&](RowId row, double gap) {
    return random.bernoulli(Purpose::brighten, static_cast<std::uint64_t>(row), std::expm1(gap) / proposals_->q(row));
  });
  for (const RowId row : to_darken) density_->darken(state, row);
  density_->settle(state);
  return info;
}

}  // namespace flymc
