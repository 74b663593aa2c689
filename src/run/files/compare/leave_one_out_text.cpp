// The results of leave-one-out as text and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "flymc/core/names.hpp"
#include "flymc/diagnose/summary.hpp"
#include "flymc/run/files/compare/leave_one_out.hpp"

namespace flymc {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t most_shown = 5;      // of the rows with unreliable terms
constexpr std::size_t longest_name = 200;  // long enough to show where the paths of runs differ

// JSON has no infinity or NaN; an unknown value is null.
ordered_json number(double x) { return std::isfinite(x) ? ordered_json(x) : ordered_json(nullptr); }
// Names of files and folders may be invalid UTF-8, which is replaced.
std::string dumped(const ordered_json& value) {
  return value.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string place(const LooOfRun& of, std::size_t i) {
  return of.places.empty() ? fmt::format("row {} of the run (from 0)", of.rows[i])
                           : fmt::format("{}, row {}", on_one_line(of.places[i].file), of.places[i].row);
}

std::string with_warnings(std::string text, const LeaveOneOut& of) {
  for (const std::string& warning : of.warnings) text += "warning: " + warning + "\n";
  return text;
}

}  // namespace

std::string loo_text(const LeaveOneOut& of_one) {
  const LooOfRun& of = of_one.runs.front();
  const std::vector<std::size_t> bad = of.bad();
  std::string text = fmt::format(
      "elpd_loo {:.1f}, standard error {:.1f}, of the subsample {:.2g}\n"
      "p_loo    {:.1f}\n"
      "{} of {} rows sampled; Pareto k above {:.2f}: {}\n",
      of.elpd.value, of.elpd.se, of.elpd.subsampling_se, of.p_loo, of.rows.size(), of_one.rows, of.good_k,
      bad.empty() ? "none" : fmt::format("{}", bad.size()));
  for (std::size_t i = 0; i < std::min(bad.size(), most_shown); ++i)
    text += fmt::format("  {:.2f}  {}\n", of.pareto_k[bad[i]], place(of, bad[i]));
  if (bad.size() > most_shown) text += fmt::format("  ... and {} more\n", bad.size() - most_shown);
  return with_warnings(std::move(text), of_one);
}

std::string loo_json(const LeaveOneOut& of_one) {
  const LooOfRun& of = of_one.runs.front();
  ordered_json value = {{"elpd", number(of.elpd.value)},
                        {"se", number(of.elpd.se)},
                        {"subsampling_se", number(of.elpd.subsampling_se)},
                        {"p_loo", number(of.p_loo)},
                        {"rows", of_one.rows},
                        {"sampled", of.rows.size()},
                        {"good_k", of.good_k},
                        {"above_good_k", of.bad().size()},
                        {"warnings", of_one.warnings},
                        {"sample", ordered_json::array()}};
  for (std::size_t i = 0; i < of.rows.size(); ++i) {
    ordered_json row = {{"row", of.rows[i]}};
    if (!of.places.empty()) row.update({{"file", of.places[i].file}, {"file_row", of.places[i].row}});
    row.update({{"elpd", number(of.terms[i])}, {"pareto_k", number(of.pareto_k[i])}});
    value["sample"].push_back(std::move(row));
  }
  return dumped(value);
}

std::string comparison_text(const LeaveOneOut& of_all) {
  std::vector<std::array<std::string, 7>> lines = {
      {"run", "elpd_diff", "se_diff", "subsampling_se_diff", "elpd", "se", "p_loo"}};
  for (const std::size_t r : of_all.ranks()) {
    const LooOfRun& of = of_all.runs[r];
    lines.push_back({on_one_line(of.name, longest_name), fmt::format("{:.2f}", of.difference.value),
                     fmt::format("{:.2f}", of.difference.se), fmt::format("{:.2g}", of.difference.subsampling_se),
                     fmt::format("{:.2f}", of.elpd.value), fmt::format("{:.2f}", of.elpd.se),
                     fmt::format("{:.2f}", of.p_loo)});
  }
  std::array<std::size_t, 7> widths = {};
  for (const auto& line : lines)
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], display_width(line[i]));
  std::string text;
  for (const auto& line : lines) {
    text += line[0] + std::string(widths[0] - display_width(line[0]), ' ');
    for (std::size_t i = 1; i < line.size(); ++i) text += fmt::format("  {:>{}}", line[i], widths[i]);
    text += '\n';
  }
  text += fmt::format("on {} rows that all runs have, of {} in the table; {} sampled\n", of_all.rows, of_all.table_rows,
                      of_all.runs.front().rows.size());
  return with_warnings(std::move(text), of_all);
}

std::string comparison_json(const LeaveOneOut& of_all) {
  ordered_json value = {{"rows", of_all.rows},
                        {"table_rows", of_all.table_rows},
                        {"sampled", of_all.runs.front().rows.size()},
                        {"warnings", of_all.warnings},
                        {"runs", ordered_json::array()}};
  for (const std::size_t r : of_all.ranks()) {
    const LooOfRun& of = of_all.runs[r];
    value["runs"].push_back({{"run", of.name},
                             {"elpd_diff", number(of.difference.value)},
                             {"se_diff", number(of.difference.se)},
                             {"subsampling_se_diff", number(of.difference.subsampling_se)},
                             {"elpd", number(of.elpd.value)},
                             {"se", number(of.elpd.se)},
                             {"subsampling_se", number(of.elpd.subsampling_se)},
                             {"p_loo", number(of.p_loo)},
                             {"good_k", of.good_k},
                             {"above_good_k", of.bad().size()}});
  }
  return dumped(value);
}

}  // namespace flymc
