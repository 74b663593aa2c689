// Means, ratios with their errors, and two ways to print them.
#include "report.hpp"

#include <fmt/format.h>

#include <cmath>

#include "flymc/diagnose/quantile_functions.hpp"

namespace flymc::paper {
namespace {

Estimate over_runs(const AlgorithmResult& result, double RunResult::*field) {
  Estimate out;
  const auto n = static_cast<double>(result.runs.size());
  for (const RunResult& run : result.runs) out.mean += run.*field / n;
  double squares = 0.0;
  for (const RunResult& run : result.runs) squares += (run.*field - out.mean) * (run.*field - out.mean);
  if (n > 1.0) out.error = std::sqrt(squares / (n - 1.0) / n);
  return out;
}

double relative(const Estimate& e) { return e.mean > 0.0 ? e.error / e.mean : 0.0; }

// (gain / cost) / (base_gain / base_cost), errors to first order. Gains and costs of one run are taken as independent.
Estimate speedup(const Estimate& gain, const Estimate& cost, const Estimate& base_gain, const Estimate& base_cost) {
  const double value = gain.mean / cost.mean / (base_gain.mean / base_cost.mean);
  const double error =
      std::hypot(std::hypot(relative(gain), relative(cost)), std::hypot(relative(base_gain), relative(base_cost)));
  return {value, value * error};
}

// The mean and standard deviation over runs of one point of the traces.
struct Band {
  double mean = 0.0, sd = 0.0;
};

Band band(const AlgorithmResult& result, std::size_t point, double TracePoint::*field) {
  Band out;
  const auto n = static_cast<double>(result.runs.size());
  for (const RunResult& run : result.runs) out.mean += run.trace[point].*field / n;
  for (const RunResult& run : result.runs) {
    const double offset = run.trace[point].*field - out.mean;
    out.sd += offset * offset / std::max(1.0, n - 1.0);
  }
  out.sd = std::sqrt(out.sd);
  return out;
}

std::string quoted(const std::string& text) { return fmt::format("\"{}\"", text); }

std::string json_of(const Estimate& e) {
  return fmt::format("{{\"mean\": {:.6g}, \"error\": {:.3g}}}", e.mean, e.error);
}

template <class Items, class Print>
std::string list(const Items& items, const Print& print) {
  std::string out = "[";
  for (std::size_t i = 0; i < items.size(); ++i) out += (i ? ", " : "") + print(items[i]);
  return out + "]";
}

std::string trace_json(const AlgorithmResult& result) {
  std::string iterations, log_mean, log_sd, query_mean, query_sd;
  for (std::size_t i = 0; i < result.runs[0].trace.size(); ++i) {
    const char* comma = i ? ", " : "";
    const Band value = band(result, i, &TracePoint::log_posterior), queries = band(result, i, &TracePoint::queries);
    iterations += fmt::format("{}{}", comma, result.runs[0].trace[i].iteration);
    log_mean += fmt::format("{}{:.10g}", comma, value.mean);
    log_sd += fmt::format("{}{:.4g}", comma, value.sd);
    query_mean += fmt::format("{}{:.6g}", comma, queries.mean);
    query_sd += fmt::format("{}{:.4g}", comma, queries.sd);
  }
  return fmt::format(
      "{{\"iteration\": [{}],\n     \"log_posterior\": [{}],\n     \"log_posterior_sd\": [{}],\n"
      "     \"queries\": [{}],\n     \"queries_sd\": [{}]}}",
      iterations, log_mean, log_sd, query_mean, query_sd);
}

std::string run_json(const RunResult& r) {
  return fmt::format(
      "\n      {{\"seed\": {}, \"queries_per_iteration\": {:.6g}, \"ess_least\": {:.4g}, \"ess_mean\": {:.4g}, "
      "\"seconds_per_iteration\": {:.4g}, \"acceptance\": {:.3f}, \"bright\": {:.6g}, \"mean_log_posterior\": {:.10g}, "
      "\"start_queries\": {}, \"burn_in_queries\": {}}}",
      r.seed, r.queries, r.ess_least, r.ess_mean, r.seconds, r.acceptance, r.bright, r.mean_log_posterior,
      r.start_queries, r.burn_in_queries);
}

}  // namespace

std::vector<Row> Report::table() const {
  std::vector<Row> out;
  Estimate base_least, base_mean, base_queries, base_seconds;
  for (const AlgorithmResult& result : results) {
    Row row;
    row.algorithm = result.algorithm;
    row.queries = over_runs(result, &RunResult::queries);
    row.ess_least = over_runs(result, &RunResult::ess_least);
    row.ess_mean = over_runs(result, &RunResult::ess_mean);
    const Estimate seconds = over_runs(result, &RunResult::seconds);
    row.seconds = seconds.mean;
    row.acceptance = over_runs(result, &RunResult::acceptance).mean;
    row.bright = over_runs(result, &RunResult::bright).mean;
    const auto n = static_cast<double>(rows);
    row.shared_passes = static_cast<double>(result.anchor_queries + result.bound_queries) / n;
    for (const RunResult& run : result.runs)
      row.run_passes +=
          static_cast<double>(run.start_queries + run.burn_in_queries) / n / static_cast<double>(result.runs.size());
    if (out.empty()) {
      base_least = row.ess_least;
      base_mean = row.ess_mean;
      base_queries = row.queries;
      base_seconds = seconds;
      row.speedup_least = row.speedup_mean = row.time_speedup_least = row.time_speedup_mean = {1.0, 0.0};
    } else {
      row.speedup_least = speedup(row.ess_least, row.queries, base_least, base_queries);
      row.speedup_mean = speedup(row.ess_mean, row.queries, base_mean, base_queries);
      row.time_speedup_least = speedup(row.ess_least, seconds, base_least, base_seconds);
      row.time_speedup_mean = speedup(row.ess_mean, seconds, base_mean, base_seconds);
    }
    out.push_back(row);
  }
  return out;
}

double Report::agreement() const {
  std::vector<double> means;
  double squares = 0.0, freedom = 0.0;
  for (const AlgorithmResult& result : results) {
    means.push_back(over_runs(result, &RunResult::mean_log_posterior).mean);
    for (const RunResult& run : result.runs) squares += std::pow(run.mean_log_posterior - means.back(), 2);
    freedom += static_cast<double>(result.runs.size()) - 1.0;
  }
  const double error = std::sqrt(squares / freedom * 2.0 / static_cast<double>(results[0].runs.size()));
  double least = 1.0;
  for (std::size_t a = 1; a < means.size(); ++a) {
    const double t = (means[a] - means[0]) / error;
    // P(|T| > t) for Student's T, twice: there are two comparisons.
    least = std::min(least, 2.0 * beta_probability(freedom / (freedom + t * t), freedom / 2.0, 0.5));
  }
  return least;
}

std::string Report::text() const {
  const Experiment& e = experiment;
  std::string out = fmt::format("{}: {}\n{} rows, {} coefficients; {}, {}; prior scale {:g}", e.name, e.data, rows,
                                coefficients, e.model_name, e.move_name, scales.best.prior);
  if (!e.likelihood_grid.empty()) out += fmt::format(", likelihood scale {:g}", scales.best.likelihood);
  out += fmt::format(
      "\n{} runs from prior draws, burn-in {}, then {} iterations; effective samples per 1000 iterations "
      "(least over the coefficients | mean)\n\n",
      effort.runs, effort.burn_in, effort.iterations);
  out += fmt::format("{:<16} {:>12} {:>19} {:>19} {:>18} {:>18} {:>13} {:>8} {:>18}\n", "", "queries/iter", "ESS least",
                     "ESS mean", "speed-up", "wall speed-up", "us/iteration", "bright", "set-up passes");
  for (const Row& r : table())
    out += fmt::format(
        "{:<16} {:>12.1f} {:>10.3g} +- {:<5.2g} {:>10.3g} +- {:<5.2g} {:>8.3g} | {:<7.3g} {:>8.3g} | "
        "{:<7.3g} {:>13.1f} {:>8.1f} {:>9.1f} + {:<6.1f}\n",
        name_of(r.algorithm), r.queries.mean, r.ess_least.mean, r.ess_least.error, r.ess_mean.mean, r.ess_mean.error,
        r.speedup_least.mean, r.speedup_mean.mean, r.time_speedup_least.mean, r.time_speedup_mean.mean, 1e6 * r.seconds,
        r.bright, r.shared_passes, r.run_passes);
  out += fmt::format(
      "\nset-up: anchor and bound once + start and burn-in of a run. The algorithms' log posteriors "
      "agree: p = {:.2g}\n",
      agreement());
  return out;
}

std::string Report::json() const {
  const Experiment& e = experiment;
  std::string out = fmt::format(
      "{{\"experiment\": {}, \"data\": {}, \"paper_data\": {}, \"model\": {}, \"move\": {}, \"whiten\": {}, "
      "\"untuned_q\": {:g}, \"tuned_q\": {:g},\n"
      " \"rows\": {}, \"coefficients\": {}, \"runs\": {}, \"burn_in\": {}, \"iterations\": {}, \"seed\": {},\n"
      " \"prior_scale\": {:g}, \"likelihood_scale\": {}, \"agreement_p\": {:.3g},\n \"held_out\": {},\n "
      "\"algorithms\": [",
      quoted(e.name), quoted(e.data), quoted(e.paper_data), quoted(e.model_name), quoted(e.move_name), e.whiten,
      e.untuned_q, e.tuned_q, rows, coefficients, effort.runs, effort.burn_in, effort.iterations, seed,
      scales.best.prior, e.likelihood_grid.empty() ? "null" : fmt::format("{:g}", scales.best.likelihood), agreement(),
      list(scales.trials, [](const Trial& t) {
        return fmt::format("{{\"prior\": {:g}, \"likelihood\": {:g}, \"score\": {:.6f}}}", t.scales.prior,
                           t.scales.likelihood, t.score);
      }));
  const auto rows_of_table = table();
  for (std::size_t a = 0; a < results.size(); ++a) {
    const Row& r = rows_of_table[a];
    out += fmt::format(
        "{}\n  {{\"algorithm\": {}, \"queries_per_iteration\": {}, \"ess_least\": {}, \"ess_mean\": {},\n",
        a ? "," : "", quoted(name_of(r.algorithm)), json_of(r.queries), json_of(r.ess_least), json_of(r.ess_mean));
    out += fmt::format("   \"speedup_least\": {}, \"speedup_mean\": {},\n", json_of(r.speedup_least),
                       json_of(r.speedup_mean));
    out += fmt::format("   \"wall_speedup_least\": {}, \"wall_speedup_mean\": {},\n", json_of(r.time_speedup_least),
                       json_of(r.time_speedup_mean));
    out += fmt::format(
        "   \"seconds_per_iteration\": {:.4g}, \"acceptance\": {:.3f}, \"bright\": {:.6g},\n"
        "   \"anchor_queries\": {}, \"bound_queries\": {}, \"setup_passes\": {:.4g}, \"burn_in_passes_per_run\": "
        "{:.4g},\n",
        r.seconds, r.acceptance, r.bright, results[a].anchor_queries, results[a].bound_queries, r.shared_passes,
        r.run_passes);
    out += fmt::format("   \"runs\": {},\n   \"trace\": {}}}", list(results[a].runs, run_json), trace_json(results[a]));
  }
  return out + "\n]}\n";
}

}  // namespace flymc::paper
