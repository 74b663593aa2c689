// Plots the observed values of a check and their bands.
#include "flymc/show/files/check_section.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "flymc/diagnose/summary.hpp"
#include "flymc/show/html.hpp"
#include "flymc/show/intervals.hpp"
#include "flymc/show/svg.hpp"
#include "sections.hpp"

namespace flymc {
namespace {

bool by_column(const CheckPart& part) {
  return part.kind == CheckKind::column_means || part.kind == CheckKind::column_places;
}

double furthest(const CheckPart& part) {
  double out = 0.0;
  for (const CheckedGroup& group : part.groups) out = std::max(out, std::abs(group.deviation));
  return out;
}

// Splits a title at its colon into the heading and the rest.
std::pair<std::string, std::string> heading_of(const std::string& title) {
  const std::size_t colon = title.find(": ");
  return {title.substr(0, colon), title.substr(colon + 2)};
}

// Predicted against observed values, which lie on the diagonal if the model is right.
std::string calibration_plot(const std::string& label, const CheckPart& part, double unit) {
  double lower = HUGE_VAL, upper = -HUGE_VAL;
  for (const CheckedGroup& group : part.groups) {
    lower = std::min({lower, group.lower, group.observed});
    upper = std::max({upper, group.upper, group.observed});
  }
  Plot plot(label, {unit * lower, unit * upper}, {unit * lower, unit * upper}, unit > 1.0 ? "expected, %" : "expected",
            unit > 1.0 ? "observed, %" : "observed");
  plot.svg().line(plot.x(unit * lower), plot.y(unit * lower), plot.x(unit * upper), plot.y(unit * upper), "reference");
  for (const CheckedGroup& group : part.groups) {
    const double x = plot.x(unit * group.expected);
    plot.svg().line(x, plot.y(unit * group.lower), x, plot.y(unit * group.upper), "band");
    plot.svg().dot(x, plot.y(unit * group.observed), 3.5, group.outside ? "dot noticed" : "dot");
  }
  return plot.finish();
}

// Groups side by side. Groups of places differ in width, so their shares are divided by the width.
std::string groups_plot(const std::string& label, const CheckPart& part, double unit, const std::string& across,
                        const std::string& up) {
  const bool places = part.kind == CheckKind::places, bars = places || part.kind == CheckKind::counts;
  const auto unit_of = [&](const CheckedGroup& group) { return places ? 1.0 / (group.to - group.from) : unit; };
  double lower = bars ? 0.0 : HUGE_VAL, upper = -HUGE_VAL;
  for (const CheckedGroup& group : part.groups) {
    lower = std::min({lower, unit_of(group) * group.lower, unit_of(group) * group.observed});
    upper = std::max({upper, unit_of(group) * group.upper, unit_of(group) * group.observed});
  }
  const double more = 0.04 * (upper - lower);
  Plot plot(label, {-0.5, static_cast<double>(part.groups.size()) - 0.5}, {bars ? 0.0 : lower - more, upper + more},
            across, up, false);
  const double half = 0.5 * (plot.x(1.0) - plot.x(0.0));
  const std::size_t step = part.groups.size() > 8 ? 1 + (part.groups.size() - 1) / 7 : 1;
  for (std::size_t g = 0; g < part.groups.size(); ++g) {
    const CheckedGroup& group = part.groups[g];
    const auto at = static_cast<double>(g);
    const auto y = [&](double value) { return plot.y(unit_of(group) * value); };
    const double x = plot.x(at);
    if (bars)
      plot.svg().rectangle(x - 0.8 * half, y(group.observed), 1.6 * half, plot.floor() - y(group.observed),
                           group.outside ? "bar noticed" : "bar");
    plot.svg().line(x, y(group.lower), x, y(group.upper), "band");
    plot.svg().line(x - 0.5 * half, y(group.expected), x + 0.5 * half, y(group.expected), "mark");
    if (!bars) plot.svg().dot(x, y(group.observed), 3.5, group.outside ? "dot noticed" : "dot");
    if (g % step != 0) continue;
    if (places)
      plot.mark(at, fmt::format("{:.0f}", 100.0 * group.from));
    else if (bars)
      plot.mark(at, std::isinf(group.to) ? fmt::format("{:.0f}+", group.from) : fmt::format("{:.0f}", group.from));
    else
      plot.mark(at, std::abs(group.from) >= 1e3 && std::abs(group.from) < 1e6 ? fmt::format("{:.0f}", group.from)
                                                                              : fmt::format("{:.3g}", group.from));
  }
  return plot.finish();
}

std::string shares_plot(const RunCheck& check, const CheckPart& part) {
  std::vector<IntervalLine> lines;
  for (const CheckedGroup& group : part.groups)
    lines.push_back({readable_name(group.name), 100.0 * group.observed, 100.0 * group.lower, 100.0 * group.upper,
                     check.number(part, group.observed), group.outside, 100.0 * group.expected});
  return interval_plot(lines, {false, ""});
}

std::string table_of(const RunCheck& check, const CheckPart& part) {
  std::vector<std::vector<std::string>> lines;
  for (const CheckedGroup& group : part.groups)
    lines.push_back({escaped(RunCheck::place(part, group)), fmt::format("{}", group.rows),
                     check.number(part, group.observed), check.number(part, group.expected),
                     fmt::format("{} to {}", check.number(part, group.lower), check.number(part, group.upper)),
                     group.outside ? "<strong>outside</strong>" : ""});
  return html_table({"group", "rows", "observed", "expected", fmt::format("{:.0f} % band", 100.0 * check.level), ""},
                    lines);
}

std::string card(const RunCheck& check, const CheckPart& part) {
  const auto [heading, words] = heading_of(check.title(part));
  return fmt::format("<figure class=\"card\"><h3>{}</h3><p class=\"note\">{}</p>\n{}{}</figure>\n", escaped(heading),
                     escaped(words), check_plot(check, part), folded("numbers", table_of(check, part)));
}

}  // namespace

std::string check_plot(const RunCheck& check, const CheckPart& part) {
  const std::string label = check.title(part);
  const double unit = check.shares(part) ? 100.0 : 1.0;
  switch (part.kind) {
    case CheckKind::calibration:
      return calibration_plot(label, part, unit);
    case CheckKind::counts:
      return groups_plot(label, part, unit, readable_name(check.target), "% of rows");
    case CheckKind::places:
      return groups_plot(label, part, unit, "from this quantile on, %", "in units of what is expected");
    case CheckKind::shares:
      return shares_plot(check, part);
    case CheckKind::column_means:
      return groups_plot(label, part, unit, fmt::format("{}, from", readable_name(part.column)),
                         unit > 1.0 ? "% of rows" : "mean");
    case CheckKind::column_places:
      return groups_plot(label, part, unit, fmt::format("{}, from", readable_name(part.column)), "% of rows");
  }
  return "";
}

std::string check_section(const RunCheck& check) {
  constexpr std::size_t most_columns = 6, most_classes = 6;
  std::string out = fmt::format(
      "<p>{} of {} rows are compared with {} tables of targets that the model draws for the same rows.</p>\n"
      "<p class=\"{}\"><strong>{}</strong> {}</p>\n",
      with_commas(check.sampled), with_commas(check.rows), check.draws, check.passed() ? "good" : "bad",
      escaped(sentence(check.verdict())), escaped(sentence(check.assurance())));
  if (const auto findings = check.findings(); !findings.empty()) {
    out += "<ul>\n";
    for (const std::string& finding : findings) out += fmt::format("<li>{}</li>\n", escaped(finding + "."));
    out += fmt::format("</ul>\n<p>{}</p>\n", escaped(sentence(check.advice())));
  }
  for (const std::string& remark : check.remarks)
    out += fmt::format("<p class=\"note\">{}</p>\n", escaped(sentence(remark)));
  out +=
      "<p class=\"key\"><svg viewBox=\"0 0 14 14\"><circle class=\"dot\" cx=\"7\" cy=\"7\" r=\"4\"/></svg> observed "
      "(or a "
      "bar) <svg viewBox=\"0 0 14 14\"><circle class=\"dot noticed\" cx=\"7\" cy=\"7\" r=\"4\"/></svg> outside of its "
      "band "
      "<svg viewBox=\"0 0 14 14\"><path class=\"band\" d=\"M7 1L7 13\"/></svg> band <svg viewBox=\"0 0 14 14\"><path "
      "class=\"mark\" d=\"M2 7L12 7\"/></svg> expected</p>\n";
  std::vector<const CheckPart*> shown, columns;
  for (const CheckPart& part : check.parts) (by_column(part) ? columns : shown).push_back(&part);
  const auto worst_first = [](const CheckPart* part) { return furthest(*part); };
  std::ranges::stable_sort(columns, std::greater<>(), worst_first);
  if (shown.size() > most_classes) {  // if there are many classes
    std::ranges::stable_sort(shown.begin() + 1, shown.end(), std::greater<>(), worst_first);
    shown.resize(most_classes);
  }
  const std::size_t left_out = columns.size() > most_columns ? columns.size() - most_columns : 0;
  columns.resize(columns.size() - left_out);
  out += "<div class=\"cards\">\n";
  for (const CheckPart* part : shown) out += card(check, *part);
  for (const CheckPart* part : columns) out += card(check, *part);
  out += "</div>\n";
  if (left_out > 0)
    out +=
        fmt::format("<p class=\"note\">Of the columns the {} that deviate most are shown; {} more deviate less.</p>\n",
                    most_columns, left_out);
  return out;
}

}  // namespace flymc
