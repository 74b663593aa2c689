// Stage 3: draws until there are enough, merged into one file, and the report.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "../folder/clock.hpp"
#include "../folder/enough.hpp"
#include "../reading/table_rows.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/groups/group_sampler.hpp"
#include "flymc/run/files/folder/run_draws.hpp"
#include "flymc/run/files/reading/group_effects.hpp"
#include "flymc/run/reported.hpp"
#include "flymc/run/trial.hpp"
#include "make_report.hpp"
#include "part_sink.hpp"
#include "saved_chains.hpp"
#include "stages.hpp"
#include "starts.hpp"

namespace flymc {
namespace {

// Draws in rounds until there are enough. `goal` is the number of draws at the end of the current round, and on return
// at the end of the last one. Returns false if the monitor stopped it.
bool draw_in_rounds(const Job& job, const RunParts& parts, const PartSink& sink, SavedChains& chains,
                    std::int64_t& goal) {
  const std::int64_t round = job.settings().fit.draws;
  const Enough enough(job.settings());
  const Reported reported(parts.names, parts.model.family().only_differences() ? parts.encoding.target().classes
                                                                               : std::vector<std::string>());
  const auto worth = [&](std::int64_t draws) {
    Worth out = job.first() ? worth_of(DrawsFile(sink.parts()), reported, draws) : Worth();
    job.communicator().broadcast(std::as_writable_bytes(std::span(&out, 1)), 0);
    return out;
  };
  std::optional<Worth> before;  // at the end of the previous round
  for (;; goal += round) {
    try {
      if (!chains.advance(goal)) return false;
    } catch (const BoundViolation& violation) {
      const TableRows table(parts, job.execution.threads);
      throw BoundViolation(violation.row(), parts.rows.row_name(table.of(violation.row())), violation.why());
    }
    if (enough.fixed()) return true;
    if (!before) before = worth(goal - round);
    const Worth now = worth(goal);
    if (enough.reached(*before, now, goal)) return true;
    job.monitor.say(enough.describe(now, goal));
    if (enough.last(goal)) return true;
    before = now;
  }
}

// The largest possible number of different rows, if all columns have levels and the target has classes; else infinite.
double most_different_rows(const Encoding& encoding) {
  if (encoding.target().classes.empty() || !encoding.offset().empty()) return HUGE_VAL;
  auto different = static_cast<double>(encoding.target().classes.size());
  for (const EncodedColumn& column : encoding.columns())
    different *= column.kind == ColumnKind::text      ? static_cast<double>(column.levels.size())
                 : column.kind == ColumnKind::boolean ? 2.0
                                                      : HUGE_VAL;
  return different;
}

// Regular MCMC evaluates all rows for each draw. If it was not requested and takes long, says why it was chosen and how
// long it takes.
void tell_of_regular(const Job& job, const RunParts& parts, const Recipe& recipe) {
  constexpr double not_worth_a_word = 20.0;  // seconds
  const FitOptions& options = job.settings().fit;
  if (!recipe.regular || options.regular) return;
  const Store& store = parts.rows.store;
  FitOptions asked = options;
  asked.regular = true;
  const Trial guess = guess_fit(shape_of(store.rows(), store.layout(), parts.model.arrangement().blocks()), asked);
  const double each =
      guess.warmup * guess.warmup_seconds + static_cast<double>(options.draws) * options.thin * guess.sampling_seconds;
  const double at_once = std::min(options.chains, job.execution.threads.count() * job.communicator().size());
  const double seconds = each * options.chains / at_once;
  if (seconds < not_worth_a_word) return;
  job.monitor.say(fmt::format("sample: regular MCMC ({}), which evaluates all {} rows several times for each draw",
                              recipe.why, store.rows()));
  job.monitor.say(fmt::format("        {} chains of {} draws: {} or longer{}", options.chains, options.draws,
                              duration(seconds),
                              job.settings().until_enough ? ", and more draws if these are not enough" : ""));
  constexpr double worth_it = 10.0;  // rows per different row
  if (const double different = most_different_rows(parts.encoding);
      worth_it * different < static_cast<double>(store.rows()) && parts.encoding.weights().empty())
    job.monitor.say(fmt::format(
        "        at most {:.0f} rows are different: give each of them once, with its number of copies as a weight "
        "({}); the posterior is the same, and sampling takes a fraction of the time",
        different, mention("weights", "COLUMN")));
}

// The convergence of the effects of groups, of which the summary has no lines. The limits are wider than those of
// parameters, because the worst of some hundred is beyond them by chance. If only some draws are kept, their number limits
// the ESS, and more draws would not help.
void say_effects(const EffectsWorth& worth, std::int64_t draws, RunReport& report) {
  constexpr double few = 100.0, far = 1.05;
  report.effects = worth;
  const bool all_draws = worth.draws == draws;
  std::string what = worth.looked_at < worth.all ? fmt::format("{} of {} effects", worth.looked_at, worth.all)
                                                 : fmt::format("all {} effects", worth.all);
  if (!all_draws) what += fmt::format(" in {} of {} draws, which are kept", worth.draws, draws);
  report.choices += fmt::format("\neffects: the smallest ESS of {} is {:.0f}, the largest R-hat {:.3f}", what,
                                worth.ess, worth.r_hat);
  if (all_draws && (worth.ess < few || worth.r_hat > far))
    report.warnings.push_back(
        fmt::format("the effects of single groups need more draws: the smallest ESS of {} is {:.0f}, the largest R-hat "
                    "{:.3f}; draw more ({})",
                    what, worth.ess, worth.r_hat, mention("draws")));
}

// Draws by this plan until there are enough, and writes draws and report. Returns false if the monitor stopped it.
bool draw_and_report(const Job& job, const RunParts& parts, const ChainPlan& plan, const SetUpSeconds& set_up,
                     const std::function<Report()>& report_before_chains) {
  const RunDirectory& directory = job.directory;
  PartSink sink(directory, parts);
  SavedChains chains(job, plan, sink);

  // A resumed run is in the round of its furthest chain. The decision to begin that round was made before, and the
  // worth of the draws before it is computed again.
  const std::int64_t round = job.settings().fit.draws;
  std::int64_t goal = std::max<std::int64_t>(1, (chains.most_draws() + round - 1) / round) * round;
  // If the draws were already merged, parts are not needed and only the report is missing.
  const bool merged = job.found([&] { return directory.has_draws() && chains.all_at(goal); });
  if (!merged && job.first()) chains.check_parts();
  if (merged && job.first()) check_ends(directory.draws(), parts.names, goal, chains.ends(parts));
  if (!merged && !draw_in_rounds(job, parts, sink, chains, goal)) return false;
  if (!job.first()) return true;
  if (!merged) {
    sink.merge();
    directory.record([](Manifest& manifest) { manifest.draws = time_now(); });
  }
  RunReport report = make_report(parts, report_before_chains(), job.settings(), chains.reports(), goal);
  if (parts.groups)
    say_effects(worth_of_effects(directory, parts.encoding, 500), goal * job.settings().fit.chains, report);
  report.ingest_seconds = set_up.ingest;
  report.prepare_seconds = set_up.prepare;
  write_report(directory, report);
  directory.remove_parts();
  return true;
}

}  // namespace

bool sample(const Job& job, const RunParts& parts, const Preparation& preparation, const SetUpSeconds& set_up) {
  const FitOptions& options = job.settings().fit;
  const Recipe recipe = recipe_of(preparation, options);
  parts.rows.expect(recipe.regular ? Access::in_order : Access::here_and_there);
  const Sampler sampler(parts.rows.store, parts.model, preparation, options, job.communicator());
  tell_of_regular(job, parts, recipe);
  ChainPlan plan = sampler.plan();
  start_where_others_ended(job.directory, plan);
  return draw_and_report(job, parts, plan, set_up, [&] { return report_before(parts, preparation, job.settings()); });
}

bool sample_groups(const Job& job, const RunParts& parts, SetUpSeconds set_up) {
  const Store& store = parts.rows.store;
  const auto began = Clock::now();
  job.monitor.say("prepare: anchor and bound, with a zone for each group");
  parts.rows.expect(Access::in_order);
  const GroupSampler sampler(store, *parts.groups, job.execution);
  if (job.stopped()) return false;
  set_up.prepare = seconds_since(began);
  const RowId queries = sampler.bound().anchor().queries + sampler.bound().queries();
  job.monitor.say(fmt::format("         {} passes over the rows, {:.1f} s", queries / store.rows(), set_up.prepare));
  parts.rows.expect(Access::here_and_there);
  ChainPlan plan = sampler.plan();
  start_where_others_ended(job.directory, plan);
  return draw_and_report(job, parts, plan, set_up, [&] { return report_before(parts, sampler); });
}

}  // namespace flymc
