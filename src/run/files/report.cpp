// report.json, and the summary of a finished run.
#include "flymc/run/files/report.hpp"

#include <fmt/format.h>

#include <cmath>

#include "chain_report_json.hpp"
#include "flymc/core/files.hpp"
#include "flymc/draws/files/draws_file.hpp"
#include "flymc/run/files/run_directory.hpp"
#include "flymc/run/residuals.hpp"
#include "record.hpp"
#include "run_parts.hpp"

namespace flymc {

using nlohmann::ordered_json;

std::string to_json(const RunReport& report) {
  ordered_json value = {{"flymc", report.version},
                        {"rows", report.rows},
                        {"dropped", report.dropped},
                        {"classes", report.classes},
                        {"anchor_queries", report.anchor_queries},
                        {"bound_queries", report.bound_queries},
                        {"draws", report.draws},
                        {"choices", report.choices},
                        {"warnings", report.warnings},
                        {"radius", std::isfinite(report.radius) ? ordered_json(report.radius) : ordered_json(nullptr)},
                        {"coefficients", report.coefficients},
                        {"differences", report.differences},
                        {"laplace_mean", report.laplace_mean},
                        {"laplace_sd", report.laplace_sd},
                        {"chains", ordered_json::array()}};
  for (const ChainReport& chain : report.chains)
    value["chains"].push_back(ordered_json::parse(nlohmann::json(chain).dump()));
  return value.dump(2) + "\n";
}

namespace {

Reported reported_in(const RunReport& report, const std::vector<std::string>& coefficients) {
  return Reported(coefficients, report.differences ? report.classes : std::vector<std::string>());
}

// A prior that data of many rows pull far from its centre says something that nobody meant, and bends other
// coefficients: above all an intercept's, if columns are not centred.
std::vector<std::string> prior_warnings(const Prior& prior, const std::vector<std::string>& names, const Vector& mean) {
  constexpr double limit = 4.0;
  std::size_t strained = 0;
  Index worst = 0;
  for (Index j = 0; j < mean.size(); ++j) {
    strained += prior.strain(j, mean[j]) > limit ? 1 : 0;
    if (prior.strain(j, mean[j]) > prior.strain(worst, mean[worst])) worst = j;
  }
  if (strained == 0) return {};
  return {
      fmt::format("the prior strains against the data: '{}' is {:.1f} of its standard deviations from its centre ({} "
                  "of {} coefficients); centre the columns (--standardise), or widen the prior (--prior)",
                  names[static_cast<std::size_t>(worst)], prior.strain(worst, mean[worst]), strained, names.size())};
}

}  // namespace

RunReport make_report(const RunParts& parts, const Preparation& preparation, const FitOptions& options,
                      std::vector<ChainReport> chains, std::int64_t draws) {
  RunReport report;
  report.version = FLYMC_VERSION;
  report.rows = parts.rows.store.rows();
  report.dropped = parts.encoding.dropped();
  report.classes = parts.encoding.classes();
  report.coefficients = parts.names;
  report.differences = parts.model.family().only_differences();
  // To the scale of the table, which is a linear map.
  const auto original = [&](const Vector& theta) {
    return parts.encoding.to_original(theta, parts.model.predictors());
  };
  if (const auto& anchor = preparation.anchor) {
    report.anchor_queries = anchor->queries;
    if (anchor->other)
      report.warnings = mode_warnings(*anchor, parts.names, original(anchor->theta), original(anchor->other->theta));
  }
  report.bound_queries = preparation.bound_queries;
  report.choices = describe(preparation, options);
  if (const auto& classes = report.classes;
      parts.encoding.target_kind() == TargetKind::two_classes && classes != std::vector<std::string>{"0", "1"})
    report.choices += fmt::format("\n'{}' counts as 1 and '{}' as 0", classes.at(1), classes.at(0));
  if (preparation.bound) report.radius = preparation.bound->radius();
  if (const auto laplace = laplace_of(parts.model, preparation)) {
    report.anchor_queries += laplace->queries;
    for (std::string& warning : prior_warnings(parts.model.prior(), parts.names, laplace->mean))
      report.warnings.push_back(std::move(warning));
    Matrix factor = laplace->factor;
    for (Index j = 0; j < factor.cols(); ++j) factor.col(j) = original(laplace->factor.col(j));
    const Reported reported = reported_in(report, parts.names);
    const Vector mean = reported.at(original(laplace->mean)), sd = reported.sd(factor);
    report.laplace_mean.assign(mean.begin(), mean.end());
    report.laplace_sd.assign(sd.begin(), sd.end());
  }
  if (preparation.anchor)
    for (std::string& warning : residual_warnings(parts.model, parts.rows.store, preparation.centre().theta))
      report.warnings.push_back(std::move(warning));
  report.chains = std::move(chains);
  report.draws = draws;
  return report;
}

namespace {

// The last field of report.json is a checksum of it without that field.
constexpr std::string_view report_end = "\n}\n", report_mark = ",\n  \"checksum\": \"";
std::string seal_report(std::string_view json) {
  return fmt::format("{}{}{}\"{}", json.substr(0, json.size() - report_end.size()), report_mark, checksum(json),
                     report_end);
}

nlohmann::json parse_report(const std::string& text) {
  const std::size_t mark = text.rfind(report_mark);
  if (mark == std::string::npos || text != seal_report(text.substr(0, mark) + std::string(report_end)))
    throw RecordError("its checksum is wrong");
  return nlohmann::json::parse(text);
}

[[noreturn]] void refuse_report(const RunDirectory& directory, std::string_view why) {
  throw InputError(
      fmt::format("{}: this is not the report of a run, or damaged ({}); delete it, and `flymc resume {}` "
                  "writes it again",
                  directory.report().string(), why, directory.path().string()));
}

}  // namespace

void write_report(const RunDirectory& directory, const RunReport& report) {
  write_whole(directory.report(), seal_report(to_json(report)));
}

RunReport read_report(const RunDirectory& directory) {
  if (!directory.finished())
    throw InputError(fmt::format("{}: the run is not finished; `flymc resume {}` goes on with it",
                                 directory.path().string(), directory.path().string()));
  try {
    const auto value = parse_report(read_whole(directory.report()));
    RunReport report;
    value.at("flymc").get_to(report.version);
    value.at("rows").get_to(report.rows);
    value.at("dropped").get_to(report.dropped);
    value.at("classes").get_to(report.classes);
    value.at("anchor_queries").get_to(report.anchor_queries);
    value.at("bound_queries").get_to(report.bound_queries);
    value.at("draws").get_to(report.draws);
    value.at("choices").get_to(report.choices);
    report.warnings = value.value("warnings", report.warnings);
    if (!value.at("radius").is_null()) value.at("radius").get_to(report.radius);
    report.coefficients = value.value("coefficients", report.coefficients);
    report.differences = value.value("differences", false);
    value.at("laplace_mean").get_to(report.laplace_mean);
    value.at("laplace_sd").get_to(report.laplace_sd);
    value.at("chains").get_to(report.chains);
    return report;
  } catch (const RecordError& error) {
    refuse_report(directory, error.what());
  } catch (const nlohmann::json::exception& error) {
    refuse_report(directory, error.what());
  }
}

FitSummary summarise(const RunReport& report, const DrawsFile& draws) {
  FitSummary summary;
  const Reported reported = reported_in(report, draws.names());
  for (Index i = 0; i < reported.size(); ++i)
    summary.parameters.push_back(summarise(reported.names()[static_cast<std::size_t>(i)], reported.draws(draws, i)));
  const auto as_vector = [](const std::vector<double>& values) {
    return Vector(Eigen::Map<const Vector>(values.data(), static_cast<Index>(values.size())));
  };
  if (report.laplace_mean.size() == summary.parameters.size())
    summary.laplace = check_laplace(summary.parameters, as_vector(report.laplace_mean), as_vector(report.laplace_sd));
  summary.remark = reported.remark();
  summary.choices = report.choices;
  summary.cost = describe_cost(report.chains, report.draws, report.rows, report.anchor_queries, report.bound_queries);
  summary.warnings = convergence_warnings(summary.parameters, report.chains.size());
  const auto checked =
      self_check_warnings(report.chains, summary.parameters, report.draws, draws.coefficients(), report.radius);
  summary.warnings.insert(summary.warnings.end(), checked.begin(), checked.end());
  summary.warnings.insert(summary.warnings.end(), report.warnings.begin(), report.warnings.end());
  return summary;
}

std::string to_json(const FitSummary& summary, const RunReport& report) {
  // JSON has no NaN; what is not defined is null.
  const auto number = [](double x) { return std::isfinite(x) ? ordered_json(x) : ordered_json(nullptr); };
  ordered_json value = ordered_json::parse(to_json(report));
  value["parameters"] = ordered_json::array();
  for (const ParameterSummary& p : summary.parameters)
    value["parameters"].push_back({{"name", p.name},
                                   {"mean", number(p.mean)},
                                   {"sd", number(p.sd)},
                                   {"median", number(p.median)},
                                   {"q5", number(p.q5)},
                                   {"q95", number(p.q95)},
                                   {"mcse_mean", number(p.mcse_mean)},
                                   {"ess_bulk", number(p.ess_bulk)},
                                   {"ess_tail", number(p.ess_tail)},
                                   {"r_hat", number(p.r_hat)},
                                   {"mcse_sd", number(p.mcse_sd)}});
  for (std::size_t j = 0; j < summary.laplace.size(); ++j) {
    const LaplaceCheck& check = summary.laplace[j];
    value["parameters"][j]["laplace"] = {{"shift", number(check.shift)},
                                         {"shift_mcse", number(check.shift_mcse)},
                                         {"sd_ratio", number(check.ratio)},
                                         {"sd_ratio_mcse", number(check.ratio_mcse)}};
  }
  value["warnings"] = summary.warnings;
  return value.dump(2) + "\n";
}

}  // namespace flymc
