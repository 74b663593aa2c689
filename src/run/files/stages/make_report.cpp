// The report of a fit, with remarks about the table's columns.
#include "make_report.hpp"

#include <fmt/format.h>

#include "flymc/run/files/settings/group_settings.hpp"
#include "flymc/run/files/settings/group_terms.hpp"
#include "flymc/run/files/settings/priors.hpp"
#include "flymc/version.hpp"

namespace flymc {
namespace {

// Reports the weights and the offset, whose effect the draws do not show. Weights that sum to a population's size would
// claim as many rows.
void say_facts(const Encoding& encoding, RunReport& report) {
  const auto rows = static_cast<double>(encoding.rows());
  if (!encoding.weights().empty())
    report.choices += fmt::format("\n{} '{}', which sum to {:.9g}", encoding.target().trials ? "trials" : "weights",
                                  encoding.weights(), encoding.total_weight());
  if (encoding.target().cuts() > 0)
    report.choices += fmt::format("\n{} rows of the table are kept as {}, one for each cut point beside the target",
                                  encoding.rows(), encoding.stored_rows());
  if (!encoding.target().event.empty())
    report.choices +=
        fmt::format("\nevents '{}', {:.9g} of {:.9g} rows{}", encoding.target().event, encoding.event_weight(),
                    encoding.total_weight(), encoding.weights().empty() ? "" : " by weight");
  if (encoding.uses_offset())
    report.choices += fmt::format("\n{} '{}'", encoding.exposure() ? "exposure" : "offset", encoding.offset());
  if (encoding.weights().empty() || encoding.whole_weights()) return;
  if (encoding.total_weight() > 3.0 * rows)
    report.warnings.push_back(
        fmt::format("the weights sum to {:.3g}, which is {:.3g} times the number of rows, and intervals are as narrow "
                    "as those of that many rows; if they say how many others a row stands for, divide them by their "
                    "mean",
                    encoding.total_weight(), encoding.total_weight() / rows));
  if (3.0 * encoding.total_weight() < rows)
    report.warnings.push_back(fmt::format(
        "the weights sum to {0:.3g}, where there are {1:.0f} rows, and intervals are as wide as if the number of rows "
        "were {0:.3g}; if the weights were divided by their sum, divide them by their mean instead",
        encoding.total_weight(), rows));
}

}  // namespace

Report report_before(const RunParts& parts, const Preparation& preparation, const Settings& settings) {
  const Encoding& encoding = parts.encoding;
  const Presentation shown{parts.names, encoding.target().classes, [&](const Vector& parameters) {
                             return encoding.to_original(parameters, parts.model.arrangement().blocks());
                           }};
  return report_on(parts.rows.store, parts.model, preparation, settings.fit, shown);
}

Report report_before(const RunParts& parts, const GroupSampler& sampler) {
  Report report;
  report.rows = parts.rows.store.rows();
  report.coefficients = parts.names;
  report.classes = parts.encoding.target().classes;
  report.anchor_queries = sampler.bound().anchor().queries;
  report.bound_queries = sampler.bound().queries();
  report.choices =
      "sharp bound with a zone for each group, sweep by rows, split HMC of the coefficients, slices of the effects";
  if (const std::size_t lit = sampler.bound().lit().size(); lit > 0)
    report.choices += fmt::format(
        "\n{} of {} rows are lit, that is always evaluated: the posterior is wide along their "
        "linear predictors",
        lit, report.rows);
  return report;
}

RunReport make_report(const RunParts& parts, Report before, const Settings& settings, std::vector<ChainReport> chains,
                      std::int64_t draws) {
  const Encoding& encoding = parts.encoding;
  RunReport report{std::move(before), FLYMC_VERSION, fingerprint_of(parts.rows)};
  report.dropped = encoding.dropped();
  report.table_rows = encoding.rows();
  if (const auto& classes = report.classes;
      encoding.target().kind == TargetKind::two_classes && classes != std::vector<std::string>{"0", "1"})
    report.choices += fmt::format("\n'{}' counts as 1 and '{}' as 0", classes.at(1), classes.at(0));
  report.choices += "\n" + explain_prior(settings, encoding);
  if (parts.groups) {
    report.scales = scale_names(encoding).size();
    report.groups = group_terms(*parts.groups, encoding);
    report.choices += "\n" + describe(report.groups);
    for (std::string& warning : group_warnings(report.groups, *parts.groups, parts.rows.store))
      report.warnings.push_back(std::move(warning));
  }
  say_facts(encoding, report);
  report.chains = std::move(chains);
  report.draws_per_chain = draws;
  return report;
}

}  // namespace flymc
