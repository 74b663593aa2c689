// Runs one chain on the sample, and converts its queries and seconds to the table's.
#include "flymc/run/trial.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace flymc {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point began) { return std::chrono::duration<double>(Clock::now() - began).count(); }

// If iterations are expensive, because of lit rows or all rows, warm-up of split HMC ends as soon as tuning has
// converged.
constexpr double short_warmup = 70.0;

// Whether the rows that a chain evaluates per iteration are a fixed share of all rows.
bool looks_at_a_share(const Recipe& recipe) {
  return recipe.regular || recipe.bound == BoundKind::untuned ||
         (recipe.sweep != SweepKind::rows && recipe.sweep != SweepKind::implicit);
}

// Queries of an iteration on the table, given those on the sample. Lit rows are evaluated once per iteration if
// stand-ins replace them along the trajectory, else in each step.
double on_the_table(double queries, double stands_for, const Preparation& made, double bright) {
  if (looks_at_a_share(made.recipe)) return stands_for * queries;
  const auto lit = static_cast<double>(made.bound->lit().size());
  if (lit == 0.0) return queries;
  // The sweep evaluates about ten rows per bright row.
  const double evaluations =
      made.bound->stand_ins().size() > 0 ? 1.0 : std::max(1.0, (queries - 10.0 * bright) / (lit + bright));
  return queries + (stands_for - 1.0) * lit * evaluations;
}

// The time per row is the same in the table and in the sample.
double seconds_more(double queries, double more_queries, TableShape shape) {
  const auto cost = [&](double rows) {
    shape.rows = static_cast<RowId>(rows);
    return evaluation_cost(shape);
  };
  return 1e-9 * (cost(more_queries) - cost(queries));
}

}  // namespace

Trial try_fit(const Store& sample, double stands_for, const Model& model, FitOptions options, double most_seconds) {
  constexpr int trial_warmup = 300, trial_draws = 200;
  const int warmup = options.warmup;
  const auto rows = static_cast<double>(sample.rows());
  options.lit.stands_for = stands_for;
  const Threads threads(options.threads);
  const auto began = Clock::now();
  const Preparation made = prepare(sample, model, options, {threads});
  Trial out;
  out.prepare_seconds = seconds_since(began);
  out.recipe = made.recipe;
  out.rows = sample.rows();
  if (made.anchor) out.anchor_passes = static_cast<double>(made.anchor->queries) / rows;
  out.bound_passes = static_cast<double>(made.bound_queries) / rows;
  if (made.bound) out.lit = stands_for * static_cast<double>(made.bound->lit().size());

  const Sampler sampler(sample, model, made, options);
  ChainRun chain(0, sampler.plan(), {std::min(warmup, trial_warmup), trial_draws, 1, options.seed});
  NoSink sink;
  const auto start = Clock::now();
  chain.advance(sink, 0, [&](const ChainRun&) { return seconds_since(start) < most_seconds; });
  const ChainReport& report = chain.report();
  out.start_passes = static_cast<double>(report.start_queries) / rows;
  const auto warmed_up = static_cast<double>(report.warmup_iterations);
  const bool ends_soon = made.recipe.move == MoveKind::split_hmc && (made.recipe.regular || out.lit > 0.0);
  if (!chain.warming_up() && warmed_up < trial_warmup)
    out.warmup = warmed_up;
  else  // the time limit or the trial's warm-up ended first
    out.warmup =
        std::min<double>(warmup, ends_soon && chain.warming_up() ? std::max(short_warmup, warmed_up) : HUGE_VAL);
  const auto measure = [&](std::int64_t iterations, RowId queries, double seconds, double& queries_each,
                           double& seconds_each) {
    if (iterations == 0) return false;
    const double here = static_cast<double>(queries) / static_cast<double>(iterations);
    queries_each = on_the_table(here, stands_for, made, report.bright_mean);
    seconds_each =
        seconds / static_cast<double>(iterations) +
        seconds_more(here, queries_each, shape_of(sample.rows(), sample.layout(), model.arrangement().blocks()));
    return true;
  };
  measure(report.warmup_iterations, report.warmup_queries, report.warmup_seconds, out.warmup_queries,
          out.warmup_seconds);
  if (!measure(report.iterations, report.sampling_queries, report.sampling_seconds, out.sampling_queries,
               out.sampling_seconds)) {
    out.sampling_queries = out.warmup_queries;
    out.sampling_seconds = out.warmup_seconds;
  }
  return out;
}

Trial guess_fit(const TableShape& shape, const FitOptions& options) {
  constexpr double newton_steps = 8.0;  // for a well-behaved posterior
  const auto rows = static_cast<double>(shape.rows);
  Trial out;
  out.recipe = recipe_for(options, shape);
  const Recipe& recipe = out.recipe;
  const bool splits = recipe.move == MoveKind::split_hmc, by_rows = recipe.sweep == SweepKind::rows;
  out.anchor_passes = newton_steps;
  out.bound_passes = recipe.regular ? 0.0 : 1.0;
  out.start_passes = recipe.regular || !by_rows ? 1.0 : 0.0;
  // If all rows are evaluated, warm-up ends as soon as tuning has converged, which is early for split HMC; a trajectory
  // takes a few evaluations. With a bound about ten rows are evaluated per bright row.
  out.warmup = std::min(static_cast<double>(options.warmup), splits && recipe.regular ? short_warmup : HUGE_VAL);
  const double evaluations = splits ? 3.0 : 1.0;
  const double queries = recipe.regular ? evaluations * rows : std::min(rows, 1.0 + 10.0 * expected_bright(shape));
  out.warmup_queries = out.sampling_queries = queries;
  out.warmup_seconds = out.sampling_seconds =
      1e-9 * (recipe.regular ? evaluations * evaluation_cost(shape) : expected_iteration_cost(shape));
  return out;
}

}  // namespace flymc
