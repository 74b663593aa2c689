// Measures the cost of 1000 effective draws, and of alternatives by the same library.
//
//   flymc_bench fit [--rows N,N,...] [--features N] [--family F,F,...|all] [--positives SHARE]
//                   [--prior "laplace(0, 0.3)"]
//       with families logistic (default), probit, cloglog, binomial, softmax, ordinal, poisson, negative_binomial,
//       truncated_poisson, gamma, student_t, and, with sigma drawn, gaussian+sigma, student_t+sigma, weibull, lognormal, loglogistic
//   flymc_bench mnist|a9a|covtype|flights --data DIR
//   flymc_bench one-hot [--rows N,N,...]
//   flymc_bench ways [--only TEXT] [--data DIR]
//   options: [--json] [--alone] [--draws N] [--warmup N] [--chains N] [--seed N] [--s S] [--bound B] [--sweep S]
//   [--move M] [--lit none|auto|SPREAD]
//
// --alone skips the baselines: regular MCMC by the same split HMC on the full-data posterior, and independence
// Metropolis from the Laplace approximation. Exit code 77: no data.
//
// `ways` compares the program's automatic choice with regular split HMC and regular MALA, on small, thin and
// heavy-tailed tables and, with --data, on the real ones; --only selects tables whose names contain the text.
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <map>
#include <string_view>

#include "measure.hpp"

namespace {

using namespace flymc;
using namespace flymc::bench;

struct Arguments {
  std::string task, data, only;
  std::vector<RowId> rows = {100000};
  std::vector<std::string> families = {"logistic"};
  Synthetic synthetic;
  FitOptions fit{.chains = 4, .warmup = 500, .draws = 5000};
  bool json = false, alone = false;
};

double number(std::string_view text) {
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw InputError(fmt::format("'{}' is not a number", text));
  return value;
}

template <class Kind>
Kind word(const std::map<std::string, Kind>& words, const std::string& text) {
  if (const auto found = words.find(text); found != words.end()) return found->second;
  throw InputError(fmt::format("'{}' is unknown here", text));
}

std::vector<std::string> listed(const std::string& text) {
  std::vector<std::string> out;
  const std::string list = text + ",";
  for (std::size_t at = 0, comma; (comma = list.find(',', at)) != std::string::npos; at = comma + 1)
    out.push_back(list.substr(at, comma - at));
  return out;
}

Arguments parse(int argc, char** argv) {
  Arguments out;
  if (argc < 2) throw InputError("name a task: fit, ways, one-hot, mnist, a9a, covtype or flights");
  out.task = argv[1];
  for (int i = 2; i < argc; ++i) {
    const std::string flag = argv[i];
    const auto value = [&]() -> std::string {
      if (i + 1 == argc) throw InputError(fmt::format("{} needs a value", flag));
      return argv[++i];
    };
    if (flag == "--json")
      out.json = true;
    else if (flag == "--alone")
      out.alone = true;
    else if (flag == "--rows") {
      out.rows.clear();
      for (const std::string& rows : listed(value())) out.rows.push_back(static_cast<RowId>(number(rows)));
    } else if (flag == "--family") {
      out.families = listed(value());
      if (out.families == std::vector<std::string>{"all"}) out.families = synthetic_families();
    } else if (flag == "--features")
      out.synthetic.features = static_cast<Index>(number(value()));
    else if (flag == "--prior")
      out.synthetic.prior = value();
    else if (flag == "--positives")
      out.synthetic.positives = number(value());
    else if (flag == "--only")
      out.only = value();
    else if (flag == "--data")
      out.data = value();
    else if (flag == "--draws")
      out.fit.draws = static_cast<int>(number(value()));
    else if (flag == "--warmup")
      out.fit.warmup = static_cast<int>(number(value()));
    else if (flag == "--chains")
      out.fit.chains = static_cast<int>(number(value()));
    else if (flag == "--seed")
      out.fit.seed = static_cast<std::uint64_t>(number(value()));
    else if (flag == "--s")
      out.fit.s = number(value());
    else if (flag == "--lit") {
      const std::string text = value();
      out.fit.lit =
          text == "auto" ? Lighting{.automatic = true} : Lighting{.above = text == "none" ? HUGE_VAL : number(text)};
    } else if (flag == "--bound")
      out.fit.bound = word<BoundKind>({{"sharp", BoundKind::sharp}, {"anchored", BoundKind::anchored}}, value());
    else if (flag == "--sweep")
      out.fit.sweep = word<SweepKind>({{"rows", SweepKind::rows}, {"implicit", SweepKind::implicit}}, value());
    else if (flag == "--move")
      out.fit.move = word<MoveKind>(
          {{"split_hmc", MoveKind::split_hmc}, {"mala", MoveKind::mala}, {"slice", MoveKind::slice_direction}},
          value());
    else
      throw InputError(fmt::format("unknown option '{}'; see the head of bench/fit/main.cpp", flag));
  }
  return out;
}

void report(const std::string& name, RowId rows, const Cost& cost, double iid, bool json) {
  if (json) {
    fmt::print(
        "{{\"case\": \"{}\", \"rows\": {}, \"parameters\": {}, \"passes_setup\": {:.6g}, \"passes_warmup\": {:.6g}, "
        "\"passes_sampling\": {:.6g}, \"passes_total\": {:.6g}, \"passes_per_1000_ess\": {:.6g}, \"ess_min\": {:.6g}, "
        "\"ess_mean\": {:.6g}, \"iterations\": {}, \"ess_per_second\": {:.6g}, \"iid_per_second\": {:.6g}, "
        "\"bright_mean\": {:.6g}, \"acceptance\": {:.4g}, \"honesty\": {:.4g}, \"seconds_setup\": {:.6g}, "
        "\"seconds_sampling\": {:.6g}}}\n",
        name, rows, cost.parameters, cost.passes_setup, cost.passes_warmup, cost.passes_sampling, cost.passes_total(),
        cost.passes_per_1000(), cost.ess_min, cost.ess_mean, cost.iterations, cost.ess_per_second(), iid,
        cost.bright_mean, cost.acceptance, cost.honesty, cost.seconds_setup, cost.seconds_sampling);
  } else {
    fmt::print(
        "{:24} {:>9} {:>4} {:>8.2f} {:>8.3f} {:>10.4g} {:>9.0f} {:>6.3f} {:>10.4g} {:>8.3f} {:>8.3g} {:>6.3f} {:>7.3f} "
        "{:>8.2f} "
        "{:>8.2f}\n",
        name, rows, cost.parameters, cost.passes_setup, cost.passes_warmup, cost.passes_per_1000(), cost.ess_min,
        cost.ess_min / static_cast<double>(cost.iterations), cost.ess_per_second(), cost.ess_per_second() / iid,
        cost.bright_mean, cost.acceptance, cost.honesty, cost.seconds_setup, cost.seconds_sampling);
  }
  std::fflush(stdout);
}

// Options of a baseline, with as many draws as about a minute allows.
FitOptions regular_options(const Case& table, FitOptions options, MoveKind move) {
  const auto coefficients = static_cast<double>(table.model.coefficients(table.store));
  const double budget = 4e9 / (static_cast<double>(table.store.rows()) * coefficients);
  options.regular = true;
  options.move = move;
  options.warmup = std::clamp(static_cast<int>(budget / 20.0), 40, 500);
  options.draws = std::clamp(static_cast<int>(budget / 4.0), 100, 2000);
  return options;
}

// Prints the line of flymc and those of the baselines; returns the cost of flymc.
Cost run(const Case& table, const Arguments& arguments) {
  const Threads threads;
  const Execution execution{threads};
  const RowId rows = table.store.rows();
  Preparation laplace;
  laplace.anchor = find_anchor(table.store, table.model, execution);
  const double iid = iid_per_second(*laplace.anchor, execution);
  const Cost fly = measure_fit(table, arguments.fit, execution);
  report(table.name, rows, fly, iid, arguments.json);
  if (arguments.alone) return fly;
  const FitOptions regular = regular_options(table, arguments.fit, MoveKind::split_hmc);
  const Cost plain = measure_fit(table, regular, execution);
  report(table.name + ", regular", rows, plain, iid, arguments.json);
  const Cost independent =
      measure_independence(table, laplace, arguments.fit.chains, regular.draws, arguments.fit.seed, execution);
  report(table.name + ", independence", rows, independent, iid, arguments.json);
  expect_same_means(fly.summary, plain.summary);
  return fly;
}

// Runs a family at each number of rows, and prints the power with which bright rows fall.
void run_synthetic(const std::string& family, const Arguments& arguments) {
  std::vector<double> bright;
  for (const RowId rows : arguments.rows) {
    Synthetic wanted = arguments.synthetic;
    wanted.family = family;
    wanted.rows = rows;
    bright.push_back(run(synthetic(wanted), arguments).bright_mean);
  }
  if (arguments.json || bright.size() < 2) return;
  const double from = static_cast<double>(arguments.rows.front()), to = static_cast<double>(arguments.rows.back());
  if (bright.back() > 0.0)
    fmt::print("{:24} bright rows go with the power {:.2f} of rows\n", family,
               std::log(bright.back() / bright.front()) / std::log(to / from));
}

// Prints a line per sampler: its name, the cost of set-up and warm-up, and the results of sampling.
void compare_ways(const Case& table, const Arguments& arguments) {
  if (table.name.find(arguments.only) == std::string::npos) return;
  const Threads threads;
  const Execution execution{threads};
  const auto measure = [&](const char* way, const FitOptions& options, double least) {
    const Cost cost = measure_fit(table, options, execution);
    const std::string means =
        cost.regular ? "regular" : fmt::format("{:.0f} bright, {} lit", cost.bright_mean, cost.lit);
    fmt::print(
        "{:26} {:8} {:24} {:>7.1f} {:>8.1f} {:>10.4g} {:>8.2f} {:>9.0f} {:>9.0f} {:>6.3f} {:>6.3f} {:>9.4g} {:>6}\n",
        table.name, way, means, cost.passes_setup, cost.passes_warmup, cost.passes_per_1000(), cost.seconds_setup,
        cost.ess_min, cost.ess_tail, cost.rhat, cost.acceptance, cost.ess_per_second(),
        least > 0.0 ? fmt::format("{:.2f}", least / cost.ess_per_second()) : "");
    std::fflush(stdout);
    return cost.ess_per_second();
  };
  const double own = measure("auto", arguments.fit, 0.0);
  measure("HMC", regular_options(table, arguments.fit, MoveKind::split_hmc), own);
  measure("MALA", regular_options(table, arguments.fit, MoveKind::mala), own);
}

void compare_ways(const Arguments& arguments) {
  fmt::print("{:26} {:8} {:24} {:>7} {:>8} {:>10} {:>8} {:>9} {:>9} {:>6} {:>6} {:>9} {:>6}\n", "", "way", "", "set-up",
             "warm-up", "per 1000", "s set-up", "min ESS", "tail", "R-hat", "accept", "ESS/s", "ratio");
  for (const Case& table : hard_tables()) compare_ways(table, arguments);
  if (arguments.data.empty()) return;
  for (const auto& make : {mnist, a9a, covtype, flights}) compare_ways(make(arguments.data), arguments);
}

}  // namespace

int main(int argc, char** argv) try {
  const Arguments arguments = parse(argc, argv);
  if (!arguments.json && arguments.task != "ways")
    fmt::print("{:24} {:>9} {:>4} {:>8} {:>8} {:>10} {:>9} {:>6} {:>10} {:>8} {:>8} {:>6} {:>7} {:>8} {:>8}\n", "",
               "rows", "D", "set-up", "warm-up", "per 1000", "min ESS", "/iter", "ESS/s", "/iid", "bright", "accept",
               "honesty", "s set-up", "s draws");
  if (arguments.task == "ways") {
    compare_ways(arguments);
    return 0;
  }
  if (arguments.task == "fit") {
    for (const std::string& family : arguments.families) run_synthetic(family, arguments);
    return 0;
  }
  if (arguments.task == "one-hot") {
    for (const RowId rows : arguments.rows) run(one_hot(rows), arguments);
    return 0;
  }
  if (arguments.data.empty() || !std::filesystem::is_directory(arguments.data)) {
    fmt::print(stderr,
               "flymc_bench: no data in '{}'; --data names the folder that holds mnist79, covtype and flights2001\n",
               arguments.data);
    return 77;
  }
  if (arguments.task == "mnist")
    run(mnist(arguments.data), arguments);
  else if (arguments.task == "a9a")
    run(a9a(arguments.data), arguments);
  else if (arguments.task == "covtype")
    run(covtype(arguments.data), arguments);
  else if (arguments.task == "flights")
    run(flights(arguments.data), arguments);
  else
    throw InputError(fmt::format("there is no task '{}'", arguments.task));
} catch (const std::exception& error) {
  fmt::print(stderr, "flymc_bench: {}\n", error.what());
  return 1;
}
