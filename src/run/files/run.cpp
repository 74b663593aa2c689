// The three stages.
#include "flymc/run/files/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "encoding_options.hpp"
#include "flymc/chain/run_chains.hpp"
#include "flymc/core/files.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/data/files/store_file.hpp"
#include "flymc/diagnose/convergence.hpp"
#include "part_sink.hpp"
#include "run_parts.hpp"

namespace flymc {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point began) { return std::chrono::duration<double>(Clock::now() - began).count(); }

StoreFile open_rows(const RunDirectory& directory, bool old, const Execution& execution) {
  try {
    // Rows that were just written are right. Where passes are to come, one more to verify the numbers is no matter, and
    // nor is it in files that are read in a second; else it would be the pass that sampling avoids.
    constexpr std::uintmax_t read_in_a_second = std::uintmax_t{1} << 30;
    const std::vector<std::string> files = directory.rows_files();
    std::uintmax_t bytes = 0;
    for (const std::string& file : files) bytes += std::filesystem::file_size(file);
    const bool verify = old && (!std::filesystem::exists(directory.preparation()) || bytes < read_in_a_second);
    return open_store(files, verify ? Verify::numbers : Verify::metadata, execution);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: delete it, and {} makes it again, the same if the table is", error.what(),
                                 mention_action("resume", directory.path().string())));
  }
}

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

// All chains of a run, with the parts and the checkpoints that they leave. Ranks have the same chains at the same
// iteration; the first of them writes.
class Chains {
 public:
  Chains(const RunDirectory& directory, const ChainPlan& plan, PartSink& sink, Monitor& monitor,
         const Execution& execution)
      : directory_(directory), settings_(directory.settings()), sink_(sink), monitor_(monitor), execution_(execution) {
    const FitOptions& fit = settings_.fit;
    const ChainOptions options{fit.warmup, fit.draws, fit.thin, directory.seed()};
    for (int i = 0; i < fit.chains; ++i) {
      const auto chain = static_cast<std::uint64_t>(i);
      const auto checkpoint = directory.load_checkpoint(chain);
      runs_.push_back(checkpoint ? go_on(chain, plan, options, *checkpoint) : ChainRun(chain, plan, options));
      if (!writes()) continue;
      sink_.go_on(runs_.size() - 1, directory.settle_parts(chain, checkpoint ? checkpoint->draws : 0),
                  checkpoint ? checkpoint->draws : 0);
    }
  }

  // Every chain up to `draws` draws. False if the monitor stopped them.
  bool advance(std::int64_t draws) {
    std::atomic<bool> failed = false;
    for_each_chain(runs_.size(), execution_, [&](std::size_t i) {
      try {
        if (failed || any(execution_.communicator, monitor_.stop())) return;
        advance_one(i, draws, failed);
      } catch (...) {
        failed = true;  // the others stop at their next iteration, with a checkpoint
        throw;
      }
    });
    return all_at(draws);
  }

  bool all_at(std::int64_t draws) const {
    return std::all_of(runs_.begin(), runs_.end(), [&](const ChainRun& run) { return run.draws() >= draws; });
  }
  void check_parts() const {
    for (std::size_t i = 0; i < runs_.size(); ++i) sink_.check(i);
  }

  std::int64_t most_draws() const {
    std::int64_t most = 0;
    for (const ChainRun& run : runs_) most = std::max(most, run.draws());
    return most;
  }
  std::vector<ChainReport> reports() const {
    std::vector<ChainReport> out;
    for (const ChainRun& run : runs_) out.push_back(run.report());
    return out;
  }

 private:
  // A checkpoint that can be read may be of other rows, or of other kernels.
  ChainRun go_on(std::uint64_t chain, const ChainPlan& plan, const ChainOptions& options,
                 const Checkpoint& checkpoint) const {
    try {
      return ChainRun(chain, plan, options, checkpoint);
    } catch (const InputError& error) {
      throw InputError(
          fmt::format("{}: {}; {}", directory_.checkpoint(chain).string(), error.what(), directory_.advice(chain)));
    }
  }

  void advance_one(std::size_t i, std::int64_t draws, const std::atomic<bool>& failed) {
    ChainRun& run = runs_[i];
    auto saved = Clock::now(), began = Clock::now();
    bool was_warming_up = run.warming_up();
    std::int64_t before = done(run);  // when `began` was set
    run.extend(draws);
    const bool finished_before = run.draws() >= draws;
    NoSink none;  // for ranks that leave the writing to the first
    int steps = 0;
    run.advance(writes() ? static_cast<Sink&>(sink_) : none, i, [&](const ChainRun& now) {
      if (was_warming_up != now.warming_up()) {
        began = Clock::now();
        before = 0;
      }
      was_warming_up = now.warming_up();
      const ChainReport& r = now.report();
      monitor_.progress({now.chain(), now.warming_up(), done(now), now.warming_up() ? settings_.fit.warmup : draws,
                         now.bright(), r.start_queries + r.warmup_queries + r.sampling_queries, done(now) - before,
                         seconds_since(began)});
      if (seconds_since(saved) >= settings_.checkpoint_seconds) {
        save(i);
        saved = Clock::now();
      }
      return !failed && !stops(++steps);
    });
    if (!finished_before) save(i);
  }

  static std::int64_t done(const ChainRun& run) {
    return run.warming_up() ? static_cast<std::int64_t>(run.iteration()) : run.draws();
  }

  bool writes() const { return execution_.communicator.rank() == 0; }

  // Ranks must stop at the same iteration, and ask each other now and then.
  bool stops(int steps) const {
    constexpr int now_and_then = 16;
    if (execution_.communicator.size() == 1) return monitor_.stop();
    return steps % now_and_then == 0 && any(execution_.communicator, monitor_.stop());
  }

  // The draws first: a checkpoint never knows of draws that are not on the disk.
  void save(std::size_t i) {
    if (!writes()) return;
    sink_.close_part(i);
    directory_.save(runs_[i].chain(), runs_[i].checkpoint());
  }

  const RunDirectory& directory_;
  const Settings& settings_;
  PartSink& sink_;
  Monitor& monitor_;
  Execution execution_;
  std::vector<ChainRun> runs_;
};

// Chains of a run that was sampled from another begin where that one's chains ended: theta and z are in equilibrium
// there, and no pass over the rows is needed. (Under another prior there are no such places.)
void start_where_others_ended(const RunDirectory& directory, ChainPlan& plan) {
  const std::vector<Place> places = directory.load_starts();
  if (places.empty()) return;
  plan.start = [places, restore = plan.restore, file = directory.starts()](ChainId id, RowId& queries) {
    try {
      return restore(places[id.chain % places.size()], queries);
    } catch (const InputError& error) {
      throw InputError(
          fmt::format("{}: {}; begin another run with {}", file.string(), error.what(), mention_action("sample")));
    }
  };
}

}  // namespace

Settings settings_on(const RunDirectory& base, const std::filesystem::path& path) {
  check_rows(base);
  Settings settings = base.settings();
  const auto from = std::filesystem::absolute(base.base()).lexically_normal();
  const auto relative = from.lexically_relative(std::filesystem::absolute(path).lexically_normal());
  settings.from = (relative.empty() ? from : relative).string();
  return settings;
}

namespace {

// What the encoding shows before the rows are written: a fit would fail later for it, and leave rows of no use.
void check_fits(const Encoding& encoding, const Settings& settings) {
  const FamilyCard& card = family_card(settings.family);
  const std::size_t classes = encoding.classes().size(), features = encoding.feature_names().size();
  if (card.most_classes > 0 && classes > static_cast<std::size_t>(card.most_classes))
    throw InputError(
        fmt::format("the target '{}' has {} classes, and {} takes at most {}; merge the rare ones, or "
                    "choose another target",
                    settings.target, classes, card.name, card.most_classes));
  const auto predictors = static_cast<std::size_t>(card.predictors(static_cast<Index>(classes)));
  const std::size_t coefficients = features * predictors;
  if (coefficients > Encoding::most_features)
    throw InputError(
        fmt::format("there are {} coefficients ({} features, levels counted), and a fit takes at most {}: it keeps "
                    "matrices with a row and a column for each; leave out columns, or merge levels",
                    coefficients, features, Encoding::most_features));
}

}  // namespace

namespace {

// Writes the rows of this rank's share of the table to its part of the rows. Parts begin at blocks, so the first rows
// of a share, up to the next block, go to the rank before: they end its last one.
void write_part(const RunDirectory& directory, const Table& table, const Encoding& encoding, RowId before,
                const Execution& execution) {
  const Communicator& communicator = execution.communicator;
  const int rank = communicator.rank(), ranks = communicator.size();
  const Settings& settings = directory.settings();
  const auto& names = encoding.feature_names();
  const auto block = static_cast<RowId>(StoreBuilder::rows_per_block(static_cast<Index>(names.size())));
  RowId to_give = (block - before % block) % block;
  std::vector<double> given;
  StoreWriter writer(directory.rows(rank, ranks).string(), names,
                     settings.float32 ? Precision::float32 : Precision::float64,
                     {{"encoding", encoding.to_json()}, {"part", fmt::format("{} of {}", rank + 1, ranks)}},
                     encoding.fact_kinds(), table.files());
  std::map<std::string, std::int64_t, std::less<>> numbers;  // of the files
  const std::vector<std::string> files = table.files();
  for (std::size_t i = 0; i < files.size(); ++i) numbers.emplace(files[i], static_cast<std::int64_t>(i));
  encoding.encode(table, execution, [&](std::span<const double> x, const RowFacts& facts, const RowPlace& from) {
    const std::int64_t file = numbers.find(from.file)->second;
    if (to_give == 0) return writer.append(x, facts, file, from.row);
    given.insert(given.end(), x.begin(), x.end());
    given.insert(given.end(),
                 {facts.target, facts.weight, facts.offset, static_cast<double>(file), static_cast<double>(from.row)});
    --to_give;
  });
  if (rank + 1 < ranks) {
    std::uint64_t size = 0;
    communicator.receive(std::as_writable_bytes(std::span(&size, 1)), rank + 1);
    std::vector<double> taken(size);
    communicator.receive(std::as_writable_bytes(std::span(taken)), rank + 1);
    for (std::size_t i = 0; i < taken.size(); i += names.size() + 5) {
      const double* facts = taken.data() + i + names.size();
      writer.append({taken.data() + i, names.size()}, {facts[0], facts[1], facts[2]},
                    static_cast<std::int64_t>(facts[3]), static_cast<RowId>(facts[4]));
    }
  }
  if (rank > 0) {
    const std::uint64_t size = given.size();
    communicator.send(std::as_bytes(std::span(&size, 1)), rank - 1);
    communicator.send(std::as_bytes(std::span(given)), rank - 1);
  }
  writer.finish();
}

}  // namespace

void ingest(const RunDirectory& directory, Monitor& monitor, const Communicator& communicator) {
  const bool first = communicator.rank() == 0;
  if (any(communicator, first && !directory.rows_files().empty())) return;
  if (first) directory.remove_rows();
  const Settings& settings = directory.settings();
  const Threads threads(settings.fit.threads);
  const auto began = Clock::now();
  const Table table = Table::open(settings.table, table_options(settings));
  monitor.say(fmt::format("ingest: {} file{}, {:.1f} MiB", table.files().size(), table.files().size() == 1 ? "" : "s",
                          static_cast<double>(table.bytes()) / 1048576.0));
  const Encoding encoding = Encoding::learn(table, encoding_options(settings), {threads, communicator});
  check_fits(encoding, settings);
  const auto names = coefficient_names(encoding, settings);
  check_coefficient_names(names);
  make_model(settings, encoding);  // the prior may name what is not there
  // Ranks write a part each if each has a block to itself; else the table is small, or has few pieces to share out, and
  // the first rank writes it alone.
  const RowId own = encoding.own_rows();
  const std::vector<RowId> rows = gather_all(communicator, std::span<const RowId>(&own, 1));
  RowId before = 0;
  for (int r = 0; r < communicator.rank(); ++r) before += rows[static_cast<std::size_t>(r)];
  if (*std::min_element(rows.begin(), rows.end()) >=
      StoreBuilder::rows_per_block(static_cast<Index>(encoding.feature_names().size())))
    write_part(directory, table, encoding, before, {threads, communicator});
  else if (first)
    write_part(directory, table, encoding, 0, {threads});
  any(communicator, false);  // all parts are there
  monitor.say(fmt::format(
      "        {} rows of {} features{}, {:.1f} s", encoding.rows(), encoding.feature_names().size(),
      encoding.dropped() ? fmt::format(" ({} rows dropped)", encoding.dropped()) : "", seconds_since(began)));
}

bool complete(const RunDirectory& directory, Monitor& monitor, const Communicator& communicator) {
  const bool first = communicator.rank() == 0;
  // What the first rank finds on the disk is so for all: files come and go, and a disk of many machines tells late.
  const auto found = [&](const auto& is_so) { return any(communicator, first && is_so()); };
  const auto stopped = [&] { return any(communicator, monitor.stop()); };
  std::optional<RunLock> lock;
  if (first && !directory.finished()) lock.emplace(directory);
  if (found([&] { return directory.finished(); })) {  // perhaps by the process that held the lock until now
    if (first) directory.remove_parts();              // of a process that died before it could
    return true;
  }
  const Settings& settings = directory.settings();
  const Threads threads(settings.fit.threads);
  const Execution execution{threads, communicator};

  const bool has_rows = found([&] { return !directory.rows_files().empty(); });
  ingest(directory, monitor, communicator);
  if (stopped()) return false;
  const RunParts parts = parts_of(open_rows(directory, has_rows, execution), settings);
  const Store& store = parts.rows.store;
  const Model& model = parts.model;

  bool prepared = found([&] { return std::filesystem::exists(directory.preparation()); });
  // One that was made under another prior is good as long as the new posterior is where its bound was made for. (What
  // is not known, as of regular MCMC, is made anew.) One rank decides.
  std::optional<Preparation> loaded;
  if (prepared && found([&] { return !directory.prepared_for_its_prior(); })) {
    loaded.emplace(directory.load_preparation(model, parts.rows, communicator));
    if (found([&] { return !suits(model, *loaded); })) {
      monitor.say("prepare: the posterior under this prior is not where the earlier run was prepared for");
      if (first) directory.discard_preparation();
      any(communicator, false);  // it is gone for all
      loaded.reset();
      prepared = false;
    }
  }
  if (!prepared) {
    const auto began = Clock::now();
    monitor.say(recipe_for(settings.fit, {store.rows(), model.coefficients(store)}).regular
                    ? "prepare: anchor"
                    : "prepare: anchor and bound");
    parts.rows.expect(Access::in_order);
    const Preparation made = prepare(store, model, settings.fit, execution);
    directory.save(made, parts.rows, communicator);
    const RowId queries = (made.anchor ? made.anchor->queries : 0) + made.bound_queries;
    monitor.say(
        fmt::format("         {} passes over the rows, {:.1f} s", queries / store.rows(), seconds_since(began)));
  }
  if (stopped()) return false;
  if (!loaded) loaded.emplace(directory.load_preparation(model, parts.rows, communicator));
  const Preparation& preparation = *loaded;
  parts.rows.expect(recipe_of(preparation, settings.fit).regular ? Access::in_order : Access::here_and_there);
  const Sampler sampler(store, model, preparation, settings.fit, communicator);
  ChainPlan plan = sampler.plan();
  start_where_others_ended(directory, plan);

  PartSink sink(directory, parts.names, parts.encoding, model.predictors());
  Chains chains(directory, plan, sink, monitor, execution);

  // Rounds of as many draws as were asked for, until the target is met after two in a row: the first estimate that is
  // high enough is one that was chosen for being high. Where a run goes on, it is in the round of its furthest chain:
  // the decision to begin that round was made before, and what the draws were worth before it is computed again.
  constexpr std::int64_t most_rounds = 100;
  const std::int64_t round = settings.fit.draws;
  std::int64_t goal = std::max<std::int64_t>(1, (chains.most_draws() + round - 1) / round) * round;
  // Draws that were merged need no parts, only the report.
  const bool merged = found([&] { return std::filesystem::exists(directory.draws()) && chains.all_at(goal); });
  if (!merged && first) chains.check_parts();
  const Reported reported(parts.names,
                          model.family().only_differences() ? parts.encoding.classes() : std::vector<std::string>());
  const auto ess_of = [&](std::int64_t draws) {
    double ess = first && draws > 0 ? smallest_ess(DrawsFile(sink.parts()), reported, draws) : 0.0;
    communicator.broadcast(std::as_writable_bytes(std::span(&ess, 1)), 0);
    return ess;
  };
  std::optional<double> before;  // a round ago
  for (; !merged; goal += round) {
    try {
      if (!chains.advance(goal)) return false;
    } catch (const BoundViolation& violation) {
      throw BoundViolation(violation.row(), parts.rows.place(violation.row()), violation.why());
    }
    if (settings.target_ess <= 0.0) break;
    if (!before) before = ess_of(goal - round);
    const double ess = ess_of(goal);
    if (std::min(*before, ess) >= settings.target_ess) break;
    before = ess;
    monitor.say(fmt::format("{} draws per chain: the smallest ESS, in bulk or tails, is {:.0f} of {:.0f}{}", goal, ess,
                            settings.target_ess, ess >= settings.target_ess ? "; another round is to confirm it" : ""));
    if (goal >= most_rounds * round) {
      monitor.say(fmt::format("the target was not reached in {} rounds; ask for more {} a round", most_rounds,
                              mention("draws")));
      break;
    }
  }
  if (!first) return true;
  if (!merged) sink.merge(directory.draws());
  write_report(directory, make_report(parts, preparation, settings, chains.reports(), goal));
  directory.remove_parts();
  return true;
}

}  // namespace flymc
