// The cost of a run: seconds by stage, passes, bright rows; and the model in words.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "flymc/run/files/settings/families.hpp"
#include "flymc/run/files/settings/priors.hpp"
#include "flymc/show/html.hpp"
#include "flymc/show/intervals.hpp"
#include "flymc/show/svg.hpp"
#include "sections.hpp"

namespace flymc {
namespace {

std::string shown_duration(double seconds) {
  if (seconds < 0.1) return "below 0.1 s";
  if (seconds < 100.0) return fmt::format("{:.1f} s", seconds);
  if (seconds < 600.0) return fmt::format("{:.0f} s", seconds);
  if (seconds < 6000.0) return fmt::format("{:.0f} min", seconds / 60.0);
  return fmt::format("{:.1f} h", seconds / 3600.0);
}

// The time of the slowest chain, since chains run in parallel.
double longest(const std::vector<ChainReport>& chains, double ChainReport::*seconds) {
  double most = 0.0;
  for (const ChainReport& chain : chains) most = std::max(most, chain.*seconds);
  return most;
}

std::string joined(const std::vector<std::string>& words, const char* between, std::size_t most) {
  std::string out;
  for (std::size_t i = 0; i < std::min(words.size(), most); ++i)
    out += (i > 0 ? between : "") + escaped(readable_name(words[i]));
  if (words.size() > most) out += fmt::format(" and {} more", words.size() - most);
  return out;
}

std::string paragraphs(const std::string& text) {
  std::string out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (end > begin) out += fmt::format("<p>{}</p>\n", escaped(sentence(text.substr(begin, end - begin))));
    begin = end + 1;
  }
  return out;
}

}  // namespace

std::string with_commas(std::int64_t number) {
  std::string out = fmt::format("{}", number);
  for (auto at = static_cast<std::ptrdiff_t>(out.size()) - 3; at > (number < 0 ? 1 : 0); at -= 3)
    out.insert(static_cast<std::size_t>(at), ",");
  return out;
}

std::string model_section(const Shown& of) {
  const Settings& settings = of.run.settings();
  const RunReport& report = of.report;
  std::vector<std::string> terms;
  if (of.encoding)
    for (const EncodedTerm& term : of.encoding->terms()) terms.push_back(term.name);
  const char* const noun = settings.formula.empty() ? "column" : "term";
  std::string out = fmt::format("<h1>{}{}{}</h1>\n", escaped(readable_name(settings.target)),
                                terms.empty() ? "" : " ~ ", joined(terms, " + ", 12));
  const std::int64_t rows = report.table_rows > 0 ? report.table_rows : report.rows;
  out += fmt::format(
      "<p>A {} regression of {} on {} of {}{}: {} parameters, {} rows{}.</p>\n", escaped(of.card.name),
      escaped(readable_name(settings.target)),
      terms.empty() ? std::string("columns") : fmt::format("{} {}{}", terms.size(), noun, terms.size() == 1 ? "" : "s"),
      joined(settings.table, ", ", 3), "", of.summary.parameters.size(), with_commas(rows),
      report.dropped > 0 ? fmt::format(" ({} more were dropped, with missing values)", with_commas(report.dropped))
                         : "");
  if (of.encoding && of.encoding->target().kind == TargetKind::two_classes)
    out += fmt::format("<p>What is explained is the probability that {} is <strong>{}</strong> and not {}.</p>\n",
                       escaped(readable_name(settings.target)),
                       escaped(readable_name(of.encoding->target().classes.at(1))),
                       escaped(readable_name(of.encoding->target().classes.at(0))));
  else if (!report.classes.empty())
    out += fmt::format("<p>The classes of {}, in order: {}.</p>\n", escaped(readable_name(settings.target)),
                       joined(report.classes, ", ", 20));
  const auto say = [&](const std::string& what, const std::string& column) {
    if (!column.empty()) out += fmt::format("<p>{}: {}.</p>\n", what, escaped(readable_name(column)));
  };
  say("Weights, by which rows count several times", settings.weights);
  if (uses_offset(settings)) {
    say("Offset, which is added to the linear predictor", settings.offset);
    say("Exposure, to which the mean is in proportion", settings.exposure);
  }
  say("Trials of each row", settings.trials);
  say("Whether the event was seen", settings.event);
  if (of.encoding) out += fmt::format("<p>{}</p>\n", escaped(sentence(explain_prior(settings, *of.encoding))));
  return out;
}

std::string cost_section(const Shown& of) {
  const RunReport& report = of.report;
  struct Stage {
    const char* name;
    double seconds;
  };
  const std::vector<Stage> stages = {{"reading the table", report.ingest_seconds},
                                     {"mode and bound", report.prepare_seconds},
                                     {"warm-up", longest(report.chains, &ChainReport::warmup_seconds)},
                                     {"sampling", longest(report.chains, &ChainReport::sampling_seconds)}};
  double all = 0.0;
  for (const Stage& stage : stages) all += stage.seconds;
  std::string out = fmt::format("<h2 id=\"cost\">What it took</h2>\n<p>{}{}</p>\n",
                                sentence(shown_duration(all) + " in all, diagnostics not counted"),
                                report.ingest_seconds == 0.0 || report.prepare_seconds == 0.0
                                    ? " Stages without a time were done before, by another run or another process."
                                    : "");
  out += "<div class=\"intervals\">\n";
  for (const auto& [name, seconds] : stages) {
    Svg svg(1000.0, 20.0, fmt::format("{}: {}", name, shown_duration(seconds)), true);
    svg.rectangle(0.0, 4.0, all > 0.0 ? 1000.0 * seconds / all : 0.0, 12.0, "bar");
    out += fmt::format("<div class=\"line\"><span class=\"name\">{}</span>{}<span class=\"numbers\">{}</span></div>\n",
                       name, svg.finish(), seconds > 0.0 ? shown_duration(seconds) : "done before");
  }
  out += "</div>\n";
  double bright = 0.0;
  RowId start = 0, warmup = 0, sampling = 0;
  for (const ChainReport& chain : report.chains) {
    bright += chain.bright_mean / static_cast<double>(report.chains.size());
    start += chain.start_queries;
    warmup += chain.warmup_queries;
    sampling += chain.sampling_queries;
  }
  const auto passes = [&](RowId queries) {
    return fmt::format("{:.1f}", static_cast<double>(queries) / static_cast<double>(report.rows));
  };
  out += fmt::format(
      "<p>A pass is as many evaluations of a row's likelihood as there are rows. This run took {} passes: {} to find "
      "the mode, "
      "{} for the bound, {} to start the chains, {} for warm-up and {} for sampling, of all {} chains together.</p>\n",
      passes(report.queries()), passes(report.anchor_queries), passes(report.bound_queries), passes(start),
      passes(warmup), passes(sampling), report.chains.size());
  if (bright > 0.0)
    out += fmt::format(
        "<p>On average {} of {} rows were bright: only these are evaluated when the coefficients move, and the others "
        "are "
        "summed by their bound. The draws are from the exact posterior whatever that number is.</p>\n",
        bright < 10.0 ? fmt::format("{:.2g}", bright) : with_commas(std::llround(bright)), with_commas(report.rows));
  return out + folded("what the program chose", paragraphs(of.summary.choices));
}

}  // namespace flymc
