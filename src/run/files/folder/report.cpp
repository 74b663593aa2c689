// report.json, and the summary of a finished run as JSON.
#include "flymc/run/files/folder/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "../json/chain_report_json.hpp"
#include "../json/record.hpp"
#include "../json/sealed_json.hpp"
#include "enough.hpp"
#include "flymc/core/files.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/core/names.hpp"
#include "flymc/run/files/folder/run_directory.hpp"
#include "flymc/run/files/folder/run_draws.hpp"
#include "flymc/run/files/settings/families.hpp"
#include "groups_json.hpp"

namespace flymc {

using nlohmann::ordered_json;

std::string to_json(const RunReport& report) {
  ordered_json value = {{"flymc", report.version},
                        {"rows", report.rows},
                        {"fingerprint", report.fingerprint},
                        {"draws_checksum", report.draws_checksum},
                        {"table_rows", report.table_rows > 0 ? report.table_rows : report.rows},
                        {"dropped", report.dropped},
                        {"classes", report.classes},
                        {"anchor_queries", report.anchor_queries},
                        {"bound_queries", report.bound_queries},
                        {"ingest_seconds", report.ingest_seconds},
                        {"prepare_seconds", report.prepare_seconds},
                        {"draws", report.draws_per_chain},
                        {"choices", report.choices},
                        {"warnings", report.warnings},
                        {"without_moments", report.without_moments},
                        {"radius", std::isfinite(report.radius) ? ordered_json(report.radius) : ordered_json(nullptr)},
                        {"coefficients", report.coefficients},
                        {"differences", report.differences},
                        {"scales", report.scales},
                        {"laplace_mean", report.laplace_mean},
                        {"laplace_sd", report.laplace_sd},
                        {"laplace_sd_of_others", report.laplace_sd_of_others},
                        {"chains", ordered_json::array()}};
  if (!report.effects_checksum.empty()) value["effects_checksum"] = report.effects_checksum;
  if (!report.groups.empty()) value["groups"] = groups_json(report);
  for (const ChainReport& chain : report.chains)
    value["chains"].push_back(ordered_json::parse(nlohmann::json(chain).dump()));
  return value.dump(2) + "\n";
}

namespace {

constexpr std::uint64_t most_bytes = std::uint64_t{1} << 28;

// The checksum does not prove that a run wrote the file.
void check_sizes(const RunReport& report) {
  const std::size_t all = report.coefficients.size(), classes = report.classes.size();
  if (report.rows < 1 || report.draws_per_chain < 1 || report.chains.empty() || all == 0)
    throw RecordError("it has no rows, draws, chains or coefficients");
  if (report.differences &&
      (classes < 2 || all % classes != 0 ||
       std::ranges::any_of(report.coefficients, [](const std::string& name) { return name.empty(); })))
    throw RecordError(fmt::format("{} coefficients are not those of {} classes", all, classes));
  if (report.scales >= all || (report.scales > 0 && report.differences))
    throw RecordError(fmt::format("{} scales of {} parameters", report.scales, all));
  const std::size_t reported = report.differences ? all - all / classes : all;
  const auto fits = [&](const std::vector<double>& list) { return list.empty() || list.size() == reported; };
  if (!fits(report.laplace_mean) || report.laplace_sd.size() != report.laplace_mean.size() ||
      !std::ranges::all_of(report.laplace_sd_of_others, fits) ||
      (!report.laplace_sd_of_others.empty() && report.laplace_sd_of_others.size() + 1 != classes))
    throw RecordError(fmt::format("its Laplace approximation does not have {} numbers", reported));
}

[[noreturn]] void refuse_report(const RunDirectory& directory, std::string_view why) {
  throw InputError(
      fmt::format("{}: this is not the report of a run, or damaged ({}); delete it, and {} "
                  "writes it again",
                  directory.report().string(), why, mention_action("resume", directory.path().string())));
}

// In JSON a number that is not finite is null.
std::vector<double> numbers_from(const nlohmann::json& list) {
  std::vector<double> out;
  for (const auto& value : list) out.push_back(value.is_null() ? NAN : value.get<double>());
  return out;
}

}  // namespace

void write_report(const RunDirectory& directory, RunReport report) {
  report.draws_checksum = draws_checksum(directory.draws());
  if (std::filesystem::exists(directory.effects())) report.effects_checksum = draws_checksum(directory.effects());
  write_whole(directory.report(), seal_json(to_json(report)));
  directory.record([](Manifest& manifest) {
    manifest.report = time_now();
    if (!manifest.draws) manifest.draws = manifest.report;
  });
}

RunReport read_report(const RunDirectory& directory) {
  if (!directory.finished())
    throw InputError(fmt::format("{}: the run is not finished; {} goes on with it", directory.path().string(),
                                 mention_action("resume", directory.path().string())));
  try {
    const auto value = parse_sealed_json(read_whole(directory.report(), most_bytes));
    RunReport report;
    value.at("flymc").get_to(report.version);
    value.at("rows").get_to(report.rows);
    report.table_rows = value.value("table_rows", report.rows);  // earlier versions did not distinguish the two
    report.fingerprint = value.value("fingerprint", "");
    report.draws_checksum = value.value("draws_checksum", "");
    report.effects_checksum = value.value("effects_checksum", "");
    if (value.contains("groups")) read_groups(value["groups"], report);
    value.at("dropped").get_to(report.dropped);
    value.at("classes").get_to(report.classes);
    value.at("anchor_queries").get_to(report.anchor_queries);
    value.at("bound_queries").get_to(report.bound_queries);
    report.ingest_seconds = value.value("ingest_seconds", 0.0);
    report.prepare_seconds = value.value("prepare_seconds", 0.0);
    value.at("draws").get_to(report.draws_per_chain);
    value.at("choices").get_to(report.choices);
    report.warnings = value.value("warnings", report.warnings);
    for (std::string& warning : report.warnings) warning = on_one_line(warning, std::string::npos);
    report.without_moments = value.value("without_moments", report.without_moments);
    if (!value.at("radius").is_null()) value.at("radius").get_to(report.radius);
    value.at("coefficients").get_to(report.coefficients);
    report.differences = value.value("differences", false);
    report.scales = value.value("scales", report.scales);
    report.laplace_mean = numbers_from(value.at("laplace_mean"));
    report.laplace_sd = numbers_from(value.at("laplace_sd"));
    if (value.contains("laplace_sd_of_others"))
      for (const auto& sd : value["laplace_sd_of_others"]) report.laplace_sd_of_others.push_back(numbers_from(sd));
    value.at("chains").get_to(report.chains);
    check_sizes(report);
    return report;
  } catch (const RecordError& error) {
    refuse_report(directory, error.what());
  } catch (const nlohmann::json::exception& error) {
    refuse_report(directory, error.what());
  }
}

FitSummary summarise(const RunDirectory& directory, const RunReport& report, const SummaryOptions& options,
                     const std::function<void(Index, Index)>& of_how_many) {
  const FamilyCard& card = family_card(directory.settings().family);
  if (options.ratios && card.ratio.name.empty())
    throw InputError(
        fmt::format("{}: exp of a coefficient of the family {} is no ratio of odds, rates, means or times; "
                    "leave it out",
                    mention("ratios"), card.name));
  SummaryOptions asked = options;
  asked.asked_ess = Enough(directory.settings()).ess();
  FitSummary summary = summarise(report, draws_of(directory, report), asked, of_how_many);
  // Cut points are the first parameters. A residual scale or a shape is the last one, before the scales of effects.
  const bool scale = draws_scale(directory.settings());
  const std::size_t before = summary.parameters.size() - report.scales;
  summary.kinds.assign(summary.parameters.size(), "coefficient");
  if (card.target == TargetKind::ordered) std::fill_n(summary.kinds.begin(), report.classes.size() - 1, "cut_point");
  if (card.shape || scale) summary.kinds[before - 1] = scale ? "scale" : "shape";
  for (std::size_t p = before; p < summary.parameters.size(); ++p)
    summary.kinds[p] = summary.parameters[p].name.starts_with("cor(") ? "cor" : "sd";
  if (options.ratios) {
    summary.ratio = card.ratio;
    summary.with_ratio = before - (card.shape || scale ? 1 : 0);
  }
  return summary;
}

std::string to_json(const FitSummary& summary, const RunReport& report) {
  // JSON has no NaN or infinity; an undefined value is null.
  const auto number = [](double x) { return std::isfinite(x) ? ordered_json(x) : ordered_json(nullptr); };
  ordered_json value = ordered_json::parse(to_json(report));
  // Replaces the report's Laplace numbers by those of the parameters below.
  const auto [mean, sd] = report.laplace(report.reported(summary.options.reference_class));
  value["laplace_mean"] = std::vector<double>(mean.begin(), mean.end());
  value["laplace_sd"] = std::vector<double>(sd.begin(), sd.end());
  value.erase("laplace_sd_of_others");
  value["interval"] = summary.options.interval;
  if (!summary.ratio.name.empty()) value["ratio"] = summary.ratio.name;
  for (const auto& [key, words] :
       {std::pair("remark", &summary.remark), std::pair("choices", &summary.choices), std::pair("cost", &summary.cost)})
    if (!words->empty()) value[key] = *words;
  value["parameters"] = ordered_json::array();
  for (const ParameterSummary& p : summary.parameters) {
    const std::size_t j = value["parameters"].size();
    value["parameters"].push_back({{"name", p.name},
                                   {"kind", j < summary.kinds.size() ? summary.kinds[j] : "coefficient"},
                                   {"mean", number(p.mean)},
                                   {"sd", number(p.sd)},
                                   {"median", number(p.median)},
                                   {"q5", number(p.q5)},
                                   {"q95", number(p.q95)},
                                   {"lower", number(p.lower)},
                                   {"upper", number(p.upper)},
                                   {"mcse_mean", number(p.mcse_mean)},
                                   {"ess_bulk", number(p.ess_bulk)},
                                   {"ess_tail", number(p.ess_tail)},
                                   {"r_hat", number(p.r_hat)},
                                   {"mcse_sd", number(p.mcse_sd)}});
    if (value["parameters"].size() > summary.with_ratio) continue;
    const RatioSummary ratio = ratio_of(p);
    value["parameters"].back()["ratio"] = {
        {"median", number(ratio.median)}, {"lower", number(ratio.lower)}, {"upper", number(ratio.upper)}};
  }
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
