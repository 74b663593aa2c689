// Opens the file of effects, and takes draws of parameters by their numbers.
#include "effect_draws.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/run/files/folder/report.hpp"
#include "flymc/run/files/folder/run_draws.hpp"
#include "flymc/run/files/reading/run_rows.hpp"
#include "flymc/run/files/settings/group_settings.hpp"

namespace flymc {

Encoding encoding_of_groups(const RunDirectory& run) {
  if (!has_groups(run.settings()))
    throw InputError(
        fmt::format("{}: the formula of this run has no groups, such as (1 | carrier)", run.path().string()));
  return encoding_of(run);
}

EffectsFile effects_of(const RunDirectory& run, const Encoding& encoding) {
  const RunReport report = read_report(run);
  const std::filesystem::path path = run.effects();
  if (!std::filesystem::exists(path))
    throw InputError(fmt::format("{}: the file of the groups' effects is missing; draw again ({})", path.string(),
                                 mention_action("sample", run.path().string())));
  if (draws_checksum(path) != report.effects_checksum)
    throw DamagedDraws(fmt::format(
        "{}: these are not the effects that the run ended with, by their checksum in report.json; put those "
        "back, or draw again ({})",
        path.string(), mention_action("sample", run.path().string())));
  return EffectsFile({path}, effects_columns(encoding));
}

std::vector<std::vector<double>> parameter_at(const DrawsFile& draws, const std::string& name,
                                              const std::vector<KeptDraws>& kept) {
  const auto found = std::ranges::find(draws.names(), name);
  std::vector<std::vector<double>> all, out;
  if (found != draws.names().end()) all = draws.coefficient(found - draws.names().begin());
  for (const KeptDraws& chain : kept) {
    std::vector<double>& own = out.emplace_back(chain.draws.size(), 0.0);
    if (all.empty()) continue;
    std::size_t c = 0;
    while (c < draws.chains() && draws.chain_number(c) != chain.chain) ++c;
    for (std::size_t i = 0; i < own.size(); ++i) {
      const std::int64_t draw = chain.draws[i];
      if (c == draws.chains() || draw < 0 || draw >= draws.draws(c))
        throw DamagedDraws(fmt::format("{}: draw {} of chain {} is missing, which the effects of groups have",
                                       draws.parts().front().string(), draw, chain.chain));
      own[i] = all[c][static_cast<std::size_t>(draw)];
    }
  }
  return out;
}

}  // namespace flymc
