// Finds for each draw of the effects the draw of the parameters that it belongs to.
#include "predicting_run.hpp"

#include <fmt/format.h>

#include "../reading/effect_draws.hpp"
#include "../reading/thinned_draws.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/run/files/folder/report.hpp"
#include "flymc/run/files/folder/run_draws.hpp"
#include "flymc/run/files/reading/run_rows.hpp"
#include "flymc/run/files/settings/families.hpp"
#include "flymc/run/files/settings/group_settings.hpp"

namespace flymc {

PredictingRun::PredictingRun(const RunDirectory& run, const PredictOptions& options)
    : new_levels_(new_levels_of(options.new_levels)) {
  read_report(run);
  encoding_ = encoding_of(run);
  if (encoding_.factors().empty())
    for (const auto& [given, name] :
         {std::pair(new_levels_ != NewLevels::error, "new-levels"), {options.without_groups, "without-groups"}})
      if (given)
        throw InputError(fmt::format("{}: the formula of this run has no groups, such as (1 | carrier); leave it out",
                                     mention(name)));
  coefficients_ = static_cast<Index>(coefficient_names(encoding_, run.settings()).size());
  draws_.emplace(draws_of(run, parameter_names(encoding_, run.settings())));
  if (options.without_groups) encoding_ = encoding_.without_groups();
  if (encoding_.factors().empty()) return;
  effects_.emplace(effects_of(run, encoding_));
  if (effects_->draws() == 0)
    throw DamagedDraws(fmt::format("{}: there is no draw of the groups' effects; draw again ({})",
                                   run.effects().string(), mention_action("sample", run.path().string())));
}

std::int64_t PredictingRun::draws() const {
  if (effects_) return effects_->draws();
  std::int64_t all = 0;
  for (std::size_t c = 0; c < draws_->chains(); ++c) all += draws_->draws(c);
  return all;
}

// Both files have chain after chain, and the draws of a chain in their order.
PredictingRun::Draws PredictingRun::read(std::int64_t count, std::uint64_t seed, std::uint64_t part) const {
  if (!effects_) return {thinned_draws(*draws_, count).leftCols(coefficients_), std::nullopt};
  const auto kept = effects_->chains_and_draws();
  const auto all = static_cast<std::int64_t>(kept.size());
  std::vector<std::size_t> used;
  RowMatrix parameters(count, draws_->coefficients());
  std::size_t at = 0;
  draws_->scan([&](const DrawsBatch& batch) {
    for (std::size_t i = 0; i < batch.draws.size() && at < kept.size(); ++i) {
      if (kept[at] != std::pair(batch.chains[i], batch.draws[i])) continue;
      const auto next = static_cast<std::int64_t>(used.size());
      if (next < count && static_cast<std::int64_t>(at) == next * all / count) {
        parameters.row(next) = batch.theta.row(static_cast<Index>(i));
        used.push_back(at);
      }
      ++at;
    }
  });
  if (at < kept.size())
    throw DamagedDraws(
        fmt::format("the run has effects of groups for draw {} of chain {}, which is not among its draws, or not in "
                    "this order; draw again ({})",
                    kept[at].second, kept[at].first, mention_action("sample")));
  return {parameters.leftCols(coefficients_),
          DrawnEffects(encoding_, *effects_, used, parameters.rightCols(parameters.cols() - coefficients_), new_levels_,
                       seed, part)};
}

}  // namespace flymc
