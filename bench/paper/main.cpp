// The paper's experiments: regular MCMC, untuned FlyMC and MAP-tuned FlyMC, the rows of its table and its traces.
//
//   flymc_paper --experiment mnist|cifar|cep|flights --data DIR [--quick] [--json] [--seed N]
//               [--metric identity|anchor] [--prior-scale S] [--q Q]
//               [--rows N] [--runs N] [--burn-in N] [--iterations N] [--skip-untuned]
//   flymc_paper --toy [--seed N]
//
// --prior-scale replaces the scale that is chosen on held-out data, --q replaces the paper's 0.01 in MAP-tuned runs.
// Prints only an error if the three algorithms disagree about the posterior. Exit code 77: no data.
#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "flymc/core/error.hpp"
#include "report.hpp"
#include "toy.hpp"

namespace {

using namespace flymc;
using namespace flymc::paper;

constexpr int no_data = 77;  // what CTest takes for "skipped"
// The largest probability with which a correct program reports a disagreement.
constexpr double false_alarms = 1e-4;

struct Arguments {
  std::string experiment, data;
  std::optional<std::string> metric;
  std::optional<double> prior_scale, q;
  std::optional<std::int64_t> rows, runs, burn_in, iterations;
  std::int64_t seed = 1;
  bool quick = false, json = false, toy = false, skip_untuned = false;
};

std::int64_t whole_number(std::string_view text, std::int64_t least) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least)
    throw InputError(fmt::format("'{}' is not a whole number of at least {}", text, least));
  return value;
}

double positive_number(std::string_view text) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value > 0.0))
    throw InputError(fmt::format("'{}' is not a positive number", text));
  return value;
}

Arguments parse(int argc, char** argv) {
  Arguments out;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    const auto value = [&]() -> std::string {
      if (i + 1 == argc) throw InputError(fmt::format("{} needs a value", flag));
      return argv[++i];
    };
    if (flag == "--quick")
      out.quick = true;
    else if (flag == "--json")
      out.json = true;
    else if (flag == "--skip-untuned")
      out.skip_untuned = true;
    else if (flag == "--toy")
      out.toy = true;
    else if (flag == "--experiment")
      out.experiment = value();
    else if (flag == "--data")
      out.data = value();
    else if (flag == "--metric")
      out.metric = value();
    else if (flag == "--prior-scale")
      out.prior_scale = positive_number(value());
    else if (flag == "--q")
      out.q = positive_number(value());
    else if (flag == "--seed")
      out.seed = whole_number(value(), 0);
    else if (flag == "--rows")
      out.rows = whole_number(value(), 100);
    else if (flag == "--runs")
      out.runs = whole_number(value(), 2);
    else if (flag == "--burn-in")
      out.burn_in = whole_number(value(), 1);
    else if (flag == "--iterations")
      out.iterations = whole_number(value(), 100);
    else
      throw InputError(fmt::format("unknown option '{}'; see the head of bench/paper/main.cpp", flag));
  }
  if (out.metric && *out.metric != "identity" && *out.metric != "anchor")
    throw InputError("--metric is identity or anchor");
  return out;
}

Report measure(const Arguments& arguments) {
  Experiment experiment = find_experiment(arguments.experiment);
  if (arguments.q) experiment.tuned_q = *arguments.q;
  if (arguments.prior_scale) experiment.prior_grid = {*arguments.prior_scale};
  if (arguments.metric) experiment.whiten = *arguments.metric == "anchor";
  Effort effort = arguments.quick ? experiment.quick : experiment.full;
  if (arguments.rows) effort.most_rows = *arguments.rows;
  if (arguments.runs) effort.runs = static_cast<int>(*arguments.runs);
  if (arguments.burn_in) effort.burn_in = static_cast<int>(*arguments.burn_in);
  if (arguments.iterations) effort.iterations = static_cast<int>(*arguments.iterations);

  const Table table = experiment.load(arguments.data, effort.most_rows);
  const Threads threads;
  const Execution execution{threads};
  Report report;
  report.effort = effort;
  report.rows = table.rows.rows();
  report.seed = static_cast<std::uint64_t>(arguments.seed);
  report.scales = choose_scales(experiment, table, execution);
  fmt::print(stderr, "{}: {} rows, prior scale {:g}, likelihood scale {:g}\n", experiment.name, report.rows,
             report.scales.best.prior, report.scales.best.likelihood);
  report.coefficients = experiment.model(report.scales.best).coefficients(table.rows);
  for (const Algorithm algorithm : {Algorithm::regular, Algorithm::untuned, Algorithm::tuned}) {
    if (algorithm == Algorithm::untuned && arguments.skip_untuned) continue;
    report.results.push_back(
        run_algorithm(experiment, effort, algorithm, table.rows, report.scales.best, report.seed, execution));
  }
  report.experiment = std::move(experiment);
  return report;
}

}  // namespace

int main(int argc, char** argv) try {
  const Arguments arguments = parse(argc, argv);
  if (arguments.toy) {
    fmt::print("{}", toy_json(static_cast<std::uint64_t>(arguments.seed)));
    return 0;
  }
  find_experiment(arguments.experiment);
  if (arguments.data.empty() || !std::filesystem::is_directory(arguments.data)) {
    fmt::print(stderr,
               "flymc_paper: no data in '{}'; --data names the folder that holds mnist79, cifar3, cep and "
               "flights2001\n",
               arguments.data);
    return no_data;
  }
  const Report report = measure(arguments);
  if (const double p = report.agreement(); !(p > false_alarms)) {
    fmt::print(stderr,
               "{}flymc_paper: the algorithms disagree about the log posterior (p = {:.2g}); is the burn-in "
               "too short?\n",
               report.text(), p);
    return 1;
  }
  fmt::print("{}", arguments.json ? report.json() : report.text());
} catch (const std::exception& error) {
  fmt::print(stderr, "flymc_paper: {}\n", error.what());
  return 1;
}
