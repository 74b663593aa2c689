// Starts, kernels and reported parameters.
#include "flymc/groups/group_sampler.hpp"

#include <fmt/format.h>

#include <cmath>

#include "flymc/core/error.hpp"

namespace flymc {

GroupSampler::GroupSampler(const Store& store, const GroupModel& model, const Execution& execution, RowId few) {
  constexpr double s = 3.0;  // the ratio of a row's probability to be proposed to its expected gap
  model.check(store, execution);
  rows_ = std::make_unique<const GroupedRows>(store, model, execution);
  bound_ = std::make_unique<const GroupBound>(*rows_, find_group_anchor(*rows_, execution), execution, few);
  density_ = std::make_unique<const GroupDensity>(*bound_);
  sweep_ = std::make_shared<const GroupSweep>(*bound_, s);
}

State GroupSampler::start(ChainId id) const {
  const GroupLayout& layout = rows_->layout();
  const GroupAnchor& anchor = bound_->anchor();
  const PhiloxRandom random(id.seed, id.chain, 0, 0xffffffffu);
  Vector theta = Vector::Zero(layout.size()), noise(layout.size());
  random.normals(Purpose::start, 0, {noise.data(), static_cast<std::size_t>(noise.size())});
  const auto border = anchor.metric.border.triangularView<Eigen::Lower>().transpose();
  const Vector from_anchor = border.solve(Vector(noise.head(layout.border())));
  theta.head(layout.border()) = anchor.at.border + from_anchor;
  Index at = layout.border();
  for (std::size_t f = 0; f < layout.factors(); ++f) {
    const std::vector<double> scales = scales_of(anchor.covariances[f], density_->prior(f).correlated);
    auto own = layout.scales(theta, f);
    for (std::size_t i = 0; i < own.size(); ++i, ++at)
      own[i] = static_cast<Index>(i) < layout.width(f)
                   ? std::max(scales[i], 1e-3 / std::abs(rows_->model().effects[f].multiplies[i].scale)) *
                         std::exp(noise[at] / std::sqrt(2.0 * static_cast<double>(layout.groups(f))))
                   : 0.5 * scales[i];
  }
  for (std::size_t f = 0; f < layout.factors(); ++f) {
    const Index k = layout.width(f);
    for (Index g = 0; g < layout.groups(f); ++g, at += k) {
      Vector step = noise.segment(at, k);
      if (f == rows_->leading()) step -= anchor.metric.couplings.middleRows(g * k, k) * from_anchor;
      anchor.metric.groups[f].middleRows(g * k, k).triangularView<Eigen::Lower>().transpose().solveInPlace(step);
      layout.effects(theta, f).row(g) += anchor.at.groups[f].row(g) + step.transpose();
    }
    // Rows still see the same sums in the groups within them.
    if (!rows_->is_carried(f)) continue;
    const Nesting& nesting = rows_->carrier(f);
    const RowMatrix change = layout.effects(theta, f) - anchor.at.groups[f];
    layout.effects(theta, f) = anchor.at.groups[f];
    nesting.shift(change, layout.effects(theta, f), layout.effects(theta, nesting.inner));
  }
  State state(std::move(theta), rows_->store().rows());
  GroupPlace place(*bound_, state);
  state.at.log_density = density_->log_density(place);
  if (!std::isfinite(state.at.log_density)) throw StartError("the density cannot be computed where a chain starts");
  return state;
}

State GroupSampler::restore(const Place& place) const {
  if (place.theta.size() != rows_->layout().size() || !place.theta.allFinite())
    throw InputError(fmt::format("a chain must continue at {} finite numbers", rows_->layout().size()));
  State state(place.theta, rows_->store().rows());
  state.iteration = place.iteration;
  for (const RowId row : place.bright) {
    if (row < 0 || row >= rows_->store().rows() || state.z.set.is_bright(row) || bound_->is_lit(row))
      throw InputError(fmt::format("row {} cannot be bright", row));
    state.z.set.brighten(row);
  }
  bound_->fetch(place.bright, state.z.fixed);
  GroupPlace at(*bound_, state);
  state.at.log_density = density_->log_density(at);
  return state;
}

ChainPlan GroupSampler::plan() const {
  return {[this](ChainId id, RowId&) { return start(id); },
          [this](const Place& place, RowId&) { return restore(place); },
          [this] {
            Tuners tuners;
            tuners.push_back(std::make_unique<Untuned<GroupSweep>>(*sweep_));
            tuners.push_back(std::make_unique<GroupMoveTuner>(*density_));
            return tuners;
          },
          {},
          HUGE_VAL};
}

}  // namespace flymc
