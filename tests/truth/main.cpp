// Compares flymc's draws with posteriors that are computed without a sampler.
//
//   flymc_truth [--models REGEX] [--seeds 20] [--draws 1000] [--auto|--sharp] [--long] [--threads 0]
//               [--unwarned 0] [--json|--markdown] [--list]
//
// Every model is fitted with the seeds 1 ... S and the default settings (--auto), or with the sharp bound and sweeps by
// rows for any number of rows (--sharp). --draws is the number of draws of each of four chains. --long is one run of a
// million draws in total, or of the number that --draws gives, with its quantiles. A model of a million rows runs only
// if --models is its whole name, or with --long. --list prints the truth and runs no fit.
//
// A run counts as warned if the summary doubts its draws (warnings about the data and the prior do not count), or if
// R-hat is 1.01 or more or an effective size is below 400: the program then asked not to be believed. The other runs
// must satisfy two conditions for each identified coefficient:
//
//   the rms of z of the means, and that of the sds, are each at most 1.1 times what exact draws of the same effective
//   size give, plus an allowance for chance with this number of runs;
//   there are no more z beyond 4.5 than chance explains.
//
// "Exact draws" are made by inverting the true distribution function (scores.hpp), because z is not standard normal: in
// short runs the Monte Carlo error is noisy, and for skewed posteriors it is correlated with the error itself. A model
// fails by chance with a probability of 1e-4. In a long run z is practically normal, and |z| of mean, sd and both
// quantiles must be at most 4: a probability of 6.3e-5 for each, 2 % for the 270 or so of all models.
//
// Exit code: 0 if all models pass, 1 if a model is wrong without a warning or has fewer than --unwarned runs without a
// warning, 2 if an argument is wrong.

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <iostream>
#include <regex>

#include "flymc/core/error.hpp"
#include "reference.hpp"
#include "trial.hpp"

namespace {

using namespace flymc;
using namespace flymc::truth;

enum class Output { table, json, markdown };

struct Arguments {
  std::string models = ".*";
  int seeds = 0, draws = 0, threads = 0;  // 0: the default
  int unwarned = 0;
  bool sharp = false, long_run = false, list = false;
  Output output = Output::table;
};

int whole_number(const std::string& flag, const std::string& text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0)
    throw InputError(fmt::format("{}: '{}' is not a whole number", flag, text));
  return value;
}

Arguments parse(int argc, char** argv) {
  Arguments out;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    const auto value = [&]() -> std::string {
      if (i + 1 == argc) throw InputError(fmt::format("{} needs a value", flag));
      return argv[++i];
    };
    if (flag == "--models")
      out.models = value();
    else if (flag == "--seeds")
      out.seeds = whole_number(flag, value());
    else if (flag == "--draws")
      out.draws = whole_number(flag, value());
    else if (flag == "--unwarned")
      out.unwarned = whole_number(flag, value());
    else if (flag == "--threads")
      out.threads = whole_number(flag, value());
    else if (flag == "--auto" || flag == "--sharp")
      out.sharp = flag == "--sharp";
    else if (flag == "--long")
      out.long_run = true;
    else if (flag == "--list")
      out.list = true;
    else if (flag == "--json")
      out.output = Output::json;
    else if (flag == "--markdown")
      out.output = Output::markdown;
    else
      throw InputError(fmt::format("unknown option {}", flag));
  }
  if (out.seeds == 0) out.seeds = out.long_run ? 1 : 20;
  if (out.draws == 0) out.draws = out.long_run ? 250'000 : 1000;
  return out;
}

bool selected(const TruthModel& model, const Arguments& arguments) {
  if (model.large && !arguments.long_run) return arguments.models == model.name;
  return std::regex_search(model.name, std::regex(arguments.models));
}

FitOptions fit_options(const Arguments& arguments) {
  FitOptions out{.draws = arguments.draws, .threads = arguments.threads};
  if (arguments.sharp) {
    out.bound = BoundKind::sharp;
    out.sweep = SweepKind::rows;
  }
  return out;
}

// The line of a model: its worst coefficient in each column, and means over runs.
struct Line {
  std::string name, title, verdict;
  std::int64_t rows = 0;
  std::size_t coefficients = 0, runs = 0, unwarned = 0;
  double rms_mean = NAN, rms_mean_limit = NAN, rms_sd = NAN, rms_sd_limit = NAN, largest = NAN, sd_ratio = NAN,
         ess_bulk = NAN, ess_tail = NAN, passes = 0.0, seconds = 0.0;
  double z[4] = {NAN, NAN, NAN, NAN};  // for a long run: mean, sd, 5 %, 95 %
};

std::string family_of(const TruthModel& model) {
  return model.family == FamilyKind::logistic            ? "logistic"
         : model.family == FamilyKind::student_t         ? "Student-t"
         : model.family == FamilyKind::ordinal           ? "ordinal"
         : model.family == FamilyKind::poisson           ? "Poisson"
         : model.family == FamilyKind::truncated_poisson ? "truncated Poisson"
         : model.family == FamilyKind::negative_binomial ? "negative binomial"
         : model.family == FamilyKind::gamma             ? "gamma"
         : model.family == FamilyKind::gaussian          ? "gaussian"
         : model.family == FamilyKind::weibull           ? "Weibull"
         : model.family == FamilyKind::lognormal         ? "log-normal"
         : model.family == FamilyKind::loglogistic       ? "log-logistic"
                                                         : "softmax";
}

Line line_of(const Trial& trial, bool long_run) {
  const TruthModel& model = *trial.model;
  Line out{model.name,
           family_of(model) + ": " + model.title,
           "right",
           model.table_rows(),
           model.identified(),
           trial.runs.size(),
           trial.unwarned()};
  if (trial.found.empty())
    out.verdict = "warned";
  else if (trial.wrong(long_run))
    out.verdict = "WRONG";
  double worst_mean = -1.0, worst_sd = -1.0, worst_ratio = -1.0;
  for (const Found& f : trial.found) {
    if (const double part = long_run ? f.rms_mean : f.rms_mean / f.rms_mean_limit; part > worst_mean) {
      worst_mean = part;
      out.rms_mean = f.rms_mean;
      out.rms_mean_limit = f.rms_mean_limit;
    }
    if (const double part = long_run ? f.rms_sd : f.rms_sd / f.rms_sd_limit; part > worst_sd) {
      worst_sd = part;
      out.rms_sd = f.rms_sd;
      out.rms_sd_limit = f.rms_sd_limit;
    }
    if (const double part = std::abs(std::log(f.sd_ratio)); part > worst_ratio) {
      worst_ratio = part;
      out.sd_ratio = f.sd_ratio;
    }
    out.largest = std::fmax(out.largest, f.largest);
    out.ess_bulk = std::fmin(out.ess_bulk, f.ess_bulk);
    out.ess_tail = std::fmin(out.ess_tail, f.ess_tail);
  }
  for (const Run& run : trial.runs) {
    out.passes += run.passes / static_cast<double>(trial.runs.size());
    out.seconds += run.seconds / static_cast<double>(trial.runs.size());
    if (run.warned) continue;
    for (const Score& s : run.scores) {
      const double z[] = {s.z_mean, s.z_sd, s.z_q5, s.z_q95};
      for (int k = 0; k < 4; ++k) out.z[k] = std::fmax(out.z[k], std::abs(z[k]));
    }
  }
  return out;
}

void print_table(const Line& l, bool long_run) {
  if (long_run)
    fmt::print("{:<24}{:>9}{:>3} {:>6}{:>7.2f}{:>7.2f}{:>7.2f}{:>7.2f}{:>8.3f}{:>9.0f}{:>9.0f}{:>9.1f}{:>8.1f}  {}\n",
               l.name, l.rows, l.coefficients, l.unwarned > 0 ? "no" : "yes", l.z[0], l.z[1], l.z[2], l.z[3],
               l.sd_ratio, l.ess_bulk, l.ess_tail, l.passes, l.seconds, l.verdict);
  else
    fmt::print(
        "{:<24}{:>9}{:>3}{:>5}{:>5} {:>6.2f} ({:4.2f}) {:>6.2f} ({:4.2f}){:>7.1f}{:>8.3f}{:>7.0f}{:>7.0f}{:>9.1f}"
        "{:>8.2f}  {}\n",
        l.name, l.rows, l.coefficients, l.runs, l.unwarned, l.rms_mean, l.rms_mean_limit, l.rms_sd, l.rms_sd_limit,
        l.largest, l.sd_ratio, l.ess_bulk, l.ess_tail, l.passes, l.seconds, l.verdict);
}

void print_heading(Output output, bool long_run) {
  if (output == Output::markdown && long_run)
    fmt::print(
        "| model | rows | warned | z of mean | of sd | of 5 % | of 95 % | sd / truth | bulk ESS | tail ESS | |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
  else if (output == Output::markdown)
    fmt::print(
        "| model | rows | runs | not warned | rms z of means (limit) | of sds (limit) | largest | sd / truth | bulk "
        "ESS | tail ESS | passes | |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
  else if (output == Output::table && long_run)
    fmt::print("{:<24}{:>9}{:>3} {:>6}{:>7}{:>7}{:>7}{:>7}{:>8}{:>9}{:>9}{:>9}{:>8}\n", "model", "rows", "D", "warned",
               "z mean", "z sd", "z 5 %", "z 95 %", "sd/true", "bulk", "tail", "passes", "s");
  else if (output == Output::table)
    fmt::print("{:<24}{:>9}{:>3}{:>5}{:>5} {:>13} {:>13}{:>7}{:>8}{:>7}{:>7}{:>9}{:>8}\n", "model", "rows", "D", "runs",
               "used", "rms z mean", "rms z sd", "max|z|", "sd/true", "bulk", "tail", "passes", "s/run");
}

void print_markdown(const Line& l, bool long_run) {
  if (long_run)
    fmt::print("| {} | {} | {} | {:.2f} | {:.2f} | {:.2f} | {:.2f} | {:.3f} | {:.0f} | {:.0f} | {} |\n", l.title,
               l.rows, l.unwarned > 0 ? "no" : "yes", l.z[0], l.z[1], l.z[2], l.z[3], l.sd_ratio, l.ess_bulk,
               l.ess_tail, l.verdict);
  else
    fmt::print(
        "| {} | {} | {} | {} | {:.2f} ({:.2f}) | {:.2f} ({:.2f}) | {:.1f} | {:.3f} | {:.0f} | {:.0f} | {:.1f} | {} "
        "|\n",
        l.title, l.rows, l.runs, l.unwarned, l.rms_mean, l.rms_mean_limit, l.rms_sd, l.rms_sd_limit, l.largest,
        l.sd_ratio, l.ess_bulk, l.ess_tail, l.passes, l.verdict);
}

// A number, or null: JSON has no NaN.
std::string json(double value) { return std::isfinite(value) ? fmt::format("{:.6g}", value) : "null"; }

void print_json(const Trial& trial, const Line& l, const Arguments& arguments) {
  fmt::print(
      "{{\"model\": \"{}\", \"setting\": \"{}\", \"rows\": {}, \"draws\": {}, \"runs\": {}, \"unwarned\": {}, "
      "\"verdict\": \"{}\", \"passes\": {}, \"seconds\": {}, \"coefficients\": [",
      l.name, arguments.sharp ? "sharp" : "auto", l.rows, arguments.draws, l.runs, l.unwarned, l.verdict,
      json(l.passes), json(l.seconds));
  for (std::size_t j = 0; j < trial.truth.marginals.size(); ++j) {
    const Marginal& m = trial.truth.marginals[j];
    fmt::print("{}{{\"truth\": {{\"mean\": {:.9g}, \"sd\": {:.9g}, \"q5\": {:.9g}, \"q95\": {:.9g}}}", j ? ", " : "",
               m.mean(), m.sd(), m.quantile(0.05), m.quantile(0.95));
    if (!trial.found.empty()) {
      const Found& f = trial.found[j];
      fmt::print(
          ", \"rms_z_mean\": {}, \"rms_z_sd\": {}, \"largest_z\": {}, \"off_mean\": {}, \"sd_ratio\": {}, "
          "\"ess_bulk\": {}, \"ess_tail\": {}",
          json(f.rms_mean), json(f.rms_sd), json(f.largest), json(f.off_mean), json(f.sd_ratio), json(f.ess_bulk),
          json(f.ess_tail));
      if (!arguments.long_run)
        fmt::print(
            ", \"rms_z_mean_limit\": {}, \"rms_z_sd_limit\": {}, \"rms_z_mean_expected\": {}, "
            "\"rms_z_sd_expected\": {}, \"outliers\": {}, \"outliers_limit\": {}",
            json(f.rms_mean_limit), json(f.rms_sd_limit), json(std::sqrt(f.expected.mean_square)),
            json(std::sqrt(f.expected.sd_square)), f.outliers, f.outliers_limit);
    }
    fmt::print(", \"z\": [");
    const char* comma = "";
    for (const Run& run : trial.runs) {
      if (run.scores.empty()) continue;
      const Score& s = run.scores[j];
      fmt::print("{}{{\"warned\": {}, \"mean\": {}, \"sd\": {}", comma, run.warned, json(s.z_mean), json(s.z_sd));
      if (arguments.long_run) fmt::print(", \"q5\": {}, \"q95\": {}", json(s.z_q5), json(s.z_q95));
      fmt::print("}}");
      comma = ", ";
    }
    fmt::print("]}}");
  }
  fmt::print("]}}\n");
}

void list(const TruthModel& model) {
  const Quadrature truth = reference(model);
  fmt::print("{} ({}): error {:.0e}, {} points\n", model.name, model.title, truth.error, truth.points);
  for (const Marginal& m : truth.marginals)
    fmt::print("  mean {:.8g}, sd {:.8g}, 5 % {:.8g}, 95 % {:.8g}\n", m.mean(), m.sd(), m.quantile(0.05),
               m.quantile(0.95));
}

int run_all(const Arguments& arguments) {
  std::vector<std::string> wrong, warned, refused;
  std::size_t tried = 0;
  if (!arguments.list) print_heading(arguments.output, arguments.long_run);
  for (const TruthModel& model : models()) {
    if (!selected(model, arguments)) continue;
    ++tried;
    if (arguments.list) {
      list(model);
      continue;
    }
    const Trial trial = try_model(model, fit_options(arguments), arguments.seeds, arguments.long_run);
    const Line line = line_of(trial, arguments.long_run);
    if (arguments.output == Output::table) print_table(line, arguments.long_run);
    if (arguments.output == Output::markdown) print_markdown(line, arguments.long_run);
    if (arguments.output == Output::json) print_json(trial, line, arguments);
    std::fflush(stdout);
    if (trial.wrong(arguments.long_run)) wrong.push_back(model.name);
    if (line.unwarned < static_cast<std::size_t>(arguments.unwarned)) warned.push_back(model.name);
    for (const Run& run : trial.runs)
      if (!run.refused.empty()) {
        refused.push_back(model.name + ": " + run.refused);
        break;
      }
  }
  if (tried == 0) throw InputError(fmt::format("no model is called '{}'", arguments.models));
  for (const std::string& r : refused) std::cerr << "refused: " << r << "\n";
  for (const std::string& name : wrong) std::cerr << "wrong without a warning: " << name << "\n";
  for (const std::string& name : warned) std::cerr << "warned of too often: " << name << "\n";
  return wrong.empty() && warned.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try { return run_all(parse(argc, argv)); } catch (const InputError& error) {
  std::cerr << "flymc_truth: " << error.what() << "\n";
  return 2;
}
