// flymc groups: the effects of the groups of a finished run, and how much groups differ.
#include <algorithm>
#include <cmath>
#include <memory>

#include "flymc/core/error.hpp"
#include "flymc/run/files/reading/group_effects.hpp"
#include "flymc/run/files/reading/variance_components.hpp"
#include "json.hpp"
#include "run_commands.hpp"
#include "speech.hpp"
#include "usage.hpp"

namespace flymc {
namespace {

struct Given {
  GroupsOptions options;
  std::string out;
  bool json = false, all = false, variances = false;
};

// The first groups, unless all are asked for.
std::string effects_text(const std::vector<GroupEffect>& effects, const Given& given) {
  constexpr std::size_t most = 40;
  std::vector<ParameterSummary> lines;
  for (const GroupEffect& own : effects)
    if (given.all || effects.size() <= most || lines.size() < most) lines.push_back(own.summary);
  std::string out = format_table(lines, given.options.interval);
  if (lines.size() < effects.size())
    out +=
        fmt::format("\n{} of {} lines are left out; --all prints all of them, and --out effects.parquet writes them\n",
                    effects.size() - lines.size(), effects.size());
  double ess = HUGE_VAL, r_hat = 0.0;
  for (const GroupEffect& own : effects) {
    for (const double one : {own.summary.ess_bulk, own.summary.ess_tail})
      ess = std::isnan(one) ? 0.0 : std::min(ess, one);
    r_hat = std::isnan(own.summary.r_hat) ? HUGE_VAL : std::max(r_hat, own.summary.r_hat);
  }
  return out +
         fmt::format("\nthe smallest ESS of all {} {}, in bulk or tails, is {:.0f}, and the largest R-hat {:.3f}\n",
                     effects.size(), given.options.coefficients ? "coefficients" : "effects", ess, r_hat);
}

// The answer for one run, as a text or as JSON.
std::string answer(const RunDirectory& run, const Given& given) {
  if (given.variances) {
    const VarianceComponents found = variance_components(run, given.options.interval);
    return given.json ? to_json(found) : found.text();
  }
  const std::vector<GroupEffect> effects = group_effects(run, given.options);
  return given.json ? to_json(effects, given.options.interval) : effects_text(effects, given);
}

}  // namespace

void add_groups_command(CLI::App& app, Asked& asked) {
  CLI::App& command = *app.add_subcommand("groups", "the effects of single groups: (1 | carrier) in a formula");
  const auto given = std::make_shared<Given>();
  command.add_option("run", asked.run, "the run")->type_name("RUN")->required();
  command.add_option("--factor", given->options.factor, "only the groups of this factor")->type_name("NAME");
  command.add_flag("--coefficients", given->options.coefficients,
                   "each group's own coefficients: those of all groups plus its effects");
  command.add_option("--out", given->out, "a file for all of them: effects.parquet or effects.csv")->type_name("FILE");
  command.add_option("--interval", given->options.interval, "probability inside the interval")
      ->type_name("P")
      ->capture_default_str();
  command.add_flag("--all", given->all, "every line of a long table");
  CLI::Option* const variances =
      command.add_flag("--variances", given->variances,
                       "how much groups differ instead: variances, correlations, and shares of the variance (icc)");
  for (const char* other : {"--factor", "--coefficients", "--out", "--all"}) variances->excludes(other);
  add_json(command, given->json);
  command.footer(
      "Examples:\n  flymc groups run --factor hospital --out effects.parquet\n  flymc groups run --variances");
  command.callback([&asked, given] {
    asked.command = [&asked, given] {
      const Study study(asked.run);
      Json all = Json::object(), files = Json::array();
      for (const Study::Part& part : study.parts()) {
        const bool several = study.parts().size() > 1;
        if (!given->out.empty()) {
          const std::string file = study.file_of(part, given->out).string();
          write_group_effects(group_effects(part.run, given->options), file);
          files.push_back(file);
          if (!given->json) print("{}\n", file);
        } else if (given->json) {
          Json own = Json::parse(answer(part.run, *given));
          if (several)
            all[part.name()] = std::move(own);
          else
            all = std::move(own);
        } else {
          print("{}{}", several ? fmt::format("{}\n", heading_of(part.run.settings())) : "", answer(part.run, *given));
        }
      }
      if (given->json) print("{}\n", given->out.empty() ? all.dump(2) : json_of(Json::object({{"files", files}})));
      return static_cast<int>(Exit::success);
    };
  });
}

}  // namespace flymc
