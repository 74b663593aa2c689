// Stage 3: draws until there are enough, merged into one file, and the report.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/diagnose/convergence.hpp"
#include "flymc/run/reported.hpp"
#include "make_report.hpp"
#include "part_sink.hpp"
#include "saved_chains.hpp"
#include "stages.hpp"
#include "starts.hpp"

namespace flymc {
namespace {

// The smallest ESS, in bulk or tails, over all that is reported of the first `count` draws of each chain; a column or
// two in memory at a time.
double smallest_ess(const DrawsFile& draws, const Reported& reported, std::int64_t count) {
  double smallest = HUGE_VAL;
  for (Index i = 0; i < reported.size(); ++i) {
    std::vector<std::vector<double>> chains = reported.draws(draws, i);
    for (std::vector<double>& chain : chains) chain.resize(std::min(chain.size(), static_cast<std::size_t>(count)));
    for (const double ess : {ess_bulk(chains), ess_tail(chains)})
      smallest = std::isnan(ess) ? 0.0 : std::min(smallest, ess);  // not defined: too few draws, or all the same
  }
  return smallest;
}

// Rounds of as many draws as were asked for, until the target is met after two in a row: the first estimate that is
// high enough is one that was chosen for being high. `goal` is the end of the round that the chains are in, and of the
// last one when it returns. False if the monitor stopped it.
bool draw_in_rounds(const Job& job, const RunParts& parts, const PartSink& sink, SavedChains& chains,
                    std::int64_t& goal) {
  constexpr std::int64_t most_rounds = 100;
  const Settings& settings = job.settings();
  const std::int64_t round = settings.fit.draws;
  const Reported reported(
      parts.names, parts.model.family().only_differences() ? parts.encoding.classes() : std::vector<std::string>());
  const auto ess_of = [&](std::int64_t draws) {
    double ess = job.first() && draws > 0 ? smallest_ess(DrawsFile(sink.parts()), reported, draws) : 0.0;
    job.communicator().broadcast(std::as_writable_bytes(std::span(&ess, 1)), 0);
    return ess;
  };
  std::optional<double> before;  // a round ago
  for (;; goal += round) {
    try {
      if (!chains.advance(goal)) return false;
    } catch (const BoundViolation& violation) {
      throw BoundViolation(violation.row(), parts.rows.row_name(violation.row()), violation.why());
    }
    if (settings.target_ess <= 0.0) return true;
    if (!before) before = ess_of(goal - round);
    const double ess = ess_of(goal);
    if (std::min(*before, ess) >= settings.target_ess) return true;
    before = ess;
    job.monitor.say(fmt::format("{} draws per chain: the smallest ESS, in bulk or tails, is {:.0f} of {:.0f}{}", goal,
                                ess, settings.target_ess,
                                ess >= settings.target_ess ? "; another round is to confirm it" : ""));
    if (goal >= most_rounds * round) {
      job.monitor.say(fmt::format("the target was not reached in {} rounds; ask for more {} a round", most_rounds,
                                  mention("draws")));
      return true;
    }
  }
}

}  // namespace

bool sample(const Job& job, const RunParts& parts, const Preparation& preparation) {
  const RunDirectory& directory = job.directory;
  const FitOptions& options = job.settings().fit;
  parts.rows.expect(recipe_of(preparation, options).regular ? Access::in_order : Access::here_and_there);
  const Sampler sampler(parts.rows.store, parts.model, preparation, options, job.communicator());
  ChainPlan plan = sampler.plan();
  start_where_others_ended(directory, plan);
  PartSink sink(directory, parts.names, parts.encoding, parts.model.predictors());
  SavedChains chains(job, plan, sink);

  // Where a run goes on, it is in the round of its furthest chain: the decision to begin that round was made before, and
  // what the draws were worth before it is computed again.
  const std::int64_t round = options.draws;
  std::int64_t goal = std::max<std::int64_t>(1, (chains.most_draws() + round - 1) / round) * round;
  // Draws that were merged need no parts, only the report.
  const bool merged = job.found([&] { return std::filesystem::exists(directory.draws()) && chains.all_at(goal); });
  if (!merged && job.first()) chains.check_parts();
  if (!merged && !draw_in_rounds(job, parts, sink, chains, goal)) return false;
  if (!job.first()) return true;
  if (!merged) sink.merge(directory.draws());
  write_report(directory, make_report(parts, preparation, job.settings(), chains.reports(), goal));
  directory.remove_parts();
  return true;
}

}  // namespace flymc
