// Chains through the library's own plan, watched from outside.
#include "runs.hpp"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "flymc/core/error.hpp"
#include "flymc/diagnose/spectrum.hpp"
#include "flymc/kernel/slice.hpp"
#include "flymc/run/sampler.hpp"
#include "line_density.hpp"

namespace flymc::paper {
namespace {

// Processor seconds of the calling thread. Other work on the machine does not count; on an idle core it is wall time.
double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

FitOptions options_of(const Experiment& experiment, const Effort& effort, Algorithm algorithm) {
  FitOptions options;
  options.warmup = effort.burn_in;
  options.draws = effort.iterations;
  options.bound = algorithm == Algorithm::tuned ? BoundKind::anchored : BoundKind::untuned;
  options.sweep = SweepKind::implicit;
  options.q = algorithm == Algorithm::tuned ? experiment.tuned_q : experiment.untuned_q;
  options.move = experiment.move;
  options.regular = algorithm == Algorithm::regular;
  options.whiten = experiment.whiten;
  options.start_from_prior = true;
  check(options);
  return options;
}

// Regular slice sampling, as by the library's sampler, with a density that is quicker along lines.
struct LinePlan {
  LinePlan(const Store& store, const Model& model, const Scales& scales, std::shared_ptr<const Precision> metric)
      : density(store, StudentT(student_t_nu, scales.likelihood), model.prior()),
        prior(model.prior()),
        moves_by(std::move(metric)) {}

  ChainPlan plan() const {
    return {[this](ChainId id, RowId& queries) {
              State state(prior.simulate(density.dimension(), PhiloxRandom(id.seed, id.chain, 0), Purpose::start), 0);
              queries += density.evaluate(state.theta, state.z, false, state.at);
              return state;
            },
            [](const Place&, RowId&) -> State { throw InputError("a run of the bench is not resumed"); },
            [this] {
              Tuners tuners;
              tuners.push_back(std::make_unique<SliceDirectionTuner>(density, moves_by, 2.5));
              return tuners;
            }};
  }

  LineDensity density;
  Prior prior;
  std::shared_ptr<const Precision> moves_by;
};

// About `points` iterations from 1 to `last`, evenly spaced on a logarithmic scale.
std::vector<std::int64_t> trace_iterations(std::int64_t last, int points) {
  std::set<std::int64_t> out;
  for (int i = 0; i < points; ++i)
    out.insert(std::llround(std::exp(std::log(static_cast<double>(last)) * i / (points - 1))));
  return {out.begin(), out.end()};
}

// The state of a chain at some iterations, recorded without changing the chain.
struct Snapshot {
  std::int64_t iteration;
  Vector theta;
  RowId queries;  // of all iterations so far
};

RunResult run_once(const ChainPlan& plan, const Effort& effort, std::uint64_t seed, const FullDensity& posterior) {
  const std::int64_t last = effort.burn_in + effort.iterations;
  const auto wanted = trace_iterations(last, effort.trace_points);
  std::vector<Snapshot> snapshots;
  double began = 0.0;
  const auto watch = [&](const ChainRun& run) {
    const auto iteration = static_cast<std::int64_t>(run.iteration());
    if (snapshots.size() < wanted.size() && iteration == wanted[snapshots.size()])
      snapshots.push_back(
          {iteration, run.checkpoint().place.theta, run.report().warmup_queries + run.report().sampling_queries});
    if (iteration == effort.burn_in) began = thread_seconds();
    return true;
  };
  MemorySink sink(1, posterior.dimension());
  ChainRun run(0, plan, {.warmup = effort.burn_in, .draws = effort.iterations, .thin = 1, .seed = seed});
  run.advance(sink, 0, watch);

  RunResult out;
  const auto iterations = static_cast<double>(effort.iterations);
  out.seconds = (thread_seconds() - began) / iterations;
  out.seed = seed;
  const ChainReport& report = run.report();
  out.queries = static_cast<double>(report.sampling_queries) / iterations;
  out.acceptance = report.acceptance;
  out.bright = report.bright_mean;
  out.start_queries = report.start_queries;
  out.burn_in_queries = report.warmup_queries;

  out.ess_least = std::numeric_limits<double>::infinity();
  for (Index j = 0; j < sink.coefficients(); ++j) {
    const double ess = 1000.0 * ess_spectral(sink.coefficient(j)[0]) / iterations;
    out.ess_least = std::min(out.ess_least, ess);
    out.ess_mean += ess / static_cast<double>(sink.coefficients());
  }

  Evaluation at;
  const auto log_posterior = [&](const Vector& theta) {
    posterior.evaluate(theta, BrightRows(0), false, at);
    return at.log_density;
  };
  Snapshot before{0, {}, 0};
  for (const Snapshot& now : snapshots) {
    out.trace.push_back(
        {now.iteration, log_posterior(now.theta),
         static_cast<double>(now.queries - before.queries) / static_cast<double>(now.iteration - before.iteration)});
    before = now;
  }
  Vector theta(sink.coefficients());
  for (int i = 0; i < effort.trace_points; ++i) {
    const auto draw = static_cast<std::size_t>(i) * sink.draws(0) / static_cast<std::size_t>(effort.trace_points);
    for (Index j = 0; j < theta.size(); ++j) theta[j] = sink.value(0, draw, j);
    out.mean_log_posterior += log_posterior(theta) / effort.trace_points;
  }
  return out;
}

}  // namespace

std::string name_of(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::regular:
      return "regular MCMC";
    case Algorithm::untuned:
      return "untuned FlyMC";
    case Algorithm::tuned:
      return "MAP-tuned FlyMC";
  }
  throw InputError("unknown algorithm");
}

AlgorithmResult run_algorithm(const Experiment& experiment, const Effort& effort, Algorithm algorithm,
                              const Store& store, const Scales& scales, std::uint64_t seed,
                              const Execution& execution) {
  const Model model = experiment.model(scales);
  const FitOptions options = options_of(experiment, effort, algorithm);
  const Preparation preparation = prepare(store, model, options, execution);
  const Sampler sampler(store, model, preparation, options);
  const FullDensity posterior(store, model);
  const bool along_lines = options.regular && experiment.move == MoveKind::slice_direction;
  const auto metric = std::make_shared<const Precision>(
      options.whiten ? preparation.anchor->metric : Precision::identity(model.coefficients(store)));

  AlgorithmResult out{algorithm, 0, 0, std::vector<RunResult>(static_cast<std::size_t>(effort.runs))};
  if (preparation.anchor) out.anchor_queries = preparation.anchor->queries;
  out.bound_queries = preparation.bound_queries;
  execution.threads.run(out.runs.size(), [&](std::size_t r) {
    std::optional<LinePlan> lines;
    if (along_lines) lines.emplace(store, model, scales, metric);
    out.runs[r] = run_once(lines ? lines->plan() : sampler.plan(), effort, seed + r, posterior);
    fmt::print(stderr, "{} {}: run {} done\n", experiment.name, name_of(algorithm), r + 1);
  });
  return out;
}

}  // namespace flymc::paper
