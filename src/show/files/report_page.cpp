// Puts the sections of a run on a page, warnings first.
#include "flymc/show/files/report_page.hpp"

#include <fmt/format.h>

#include "flymc/core/error.hpp"
#include "flymc/core/files.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/run/files/check/check.hpp"
#include "flymc/run/files/folder/run_draws.hpp"
#include "flymc/run/files/reading/run_rows.hpp"
#include "flymc/show/files/check_section.hpp"
#include "flymc/show/html.hpp"
#include "flymc/show/page.hpp"
#include "sections.hpp"

namespace flymc {
namespace {

// The check, or the reason why there is none.
struct Checked {
  std::optional<RunCheck> found;
  std::string why_not;
};
Checked checked(const RunDirectory& run) {
  try {
    return {check_run(run), ""};
  } catch (const InputError& error) {
    return {std::nullopt, error.what()};
  }
}

std::string warnings_box(const FitSummary& summary, const Checked& check) {
  std::string list;
  for (const std::string& warning : summary.warnings) list += fmt::format("<li>{}</li>\n", escaped(sentence(warning)));
  if (check.found && !check.found->passed()) {
    const auto findings = check.found->findings(1);
    list += fmt::format("<li><a href=\"#check\">The predictive check</a>: {}; {}</li>\n",
                        escaped(check.found->verdict()), escaped(findings.front() + "."));
  }
  if (list.empty())
    return fmt::format(
        "<div class=\"box\"><p>No warnings: the chains agree, there are enough draws, and {}.</p></div>\n",
        check.found ? "the predictive check found nothing wrong"
                    : "nothing else was noticed (there is no predictive check)");
  return fmt::format("<div class=\"box alarm\"><p><strong>Before you use it</strong></p><ul>\n{}</ul></div>\n", list);
}

std::string settings_section(const RunDirectory& run, const RunReport& report) {
  const std::string& from = run.settings().from;
  return fmt::format(
      "<h2 id=\"settings\">To repeat it</h2>\n<p>{} flymc {}, seed {}.</p>\n{}",
      from.empty() ? "With the same table, these settings (the file settings.toml of the run) give the same draws, bit "
                     "for bit, on any number of threads."
                   : fmt::format("These draws were sampled from the rows of another run, {}, under the settings below "
                                 "(the file settings.toml of the run); sampling it again with the same flags gives the "
                                 "same draws, as long as that run is the same.",
                                 escaped(from)),
      escaped(report.version), run.settings().fit.seed,
      folded("settings", fmt::format("<pre>{}</pre>\n", escaped(to_toml(run.settings()))), false));
}

}  // namespace

std::string report_page(const RunDirectory& run, const ReportPageOptions& options) {
  const RunReport report = read_report(run);
  const FamilyCard& card = family_card(run.settings().family);
  const SummaryOptions of_summary{.interval = options.interval, .ratios = !card.ratio.name.empty()};
  check(of_summary);
  FitSummary summary = summarise(run, report, of_summary, options.of_how_many);
  for (std::string* said : {&summary.remark, &summary.choices}) *said = options.spell(*said);
  for (std::string& warning : summary.warnings) warning = options.spell(warning);
  const DrawsFile draws = draws_of(run, report);
  const Shown shown{run,   report, summary,
                    draws, card,   run.rows_files().empty() ? std::nullopt : std::optional(encoding_of(run))};
  Checked check = checked(run);
  std::string body = model_section(shown) + warnings_box(summary, check);
  const std::string groups = groups_section(shown), laplace = laplace_section(shown);
  body += fmt::format(
      "<nav><a href=\"#coefficients\">Coefficients</a>{}{}<a href=\"#check\">Predictive check</a><a "
      "href=\"#chains\">Chains</a><a "
      "href=\"#cost\">What it took</a><a href=\"#settings\">To repeat it</a></nav>\n",
      groups.empty() ? "" : "<a href=\"#groups\">Groups</a>",
      laplace.empty() ? "" : "<a href=\"#laplace\">Laplace</a>");
  body += coefficients_section(shown) + groups + laplace;
  body += "<h2 id=\"check\">Predictive check</h2>\n";
  body += check.found ? check_section(*check.found)
                      : fmt::format("<p>There is none: {}</p>\n", escaped(options.spell(check.why_not) + "."));
  body += chains_section(shown) + cost_section(shown) + settings_section(run, report);
  return html_page(fmt::format("{}: flymc", run.settings().target), body);
}

std::filesystem::path write_report_page(const RunDirectory& run, std::filesystem::path out,
                                        const ReportPageOptions& options) {
  if (out.empty()) out = run.path() / "report.html";
  if (const std::string extension = out.extension().string(); extension != ".html" && extension != ".htm")
    throw InputError(
        fmt::format("{}: a report is an .html file; name such a file with {}", out.string(), mention("out")));
  write_whole(out, report_page(run, options));
  return out;
}

}  // namespace flymc
