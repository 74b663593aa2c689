// The coefficients of a run: intervals by column, and a table of all.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "flymc/run/reported.hpp"
#include "flymc/show/html.hpp"
#include "flymc/show/intervals.hpp"
#include "sections.hpp"

namespace flymc {
namespace {

constexpr std::size_t most_numbers = 40, most_levels = 12, most_columns = 40, open_columns = 6, open_lines = 40;

// A parameter, and the level and classes in its name besides the column.
struct Term {
  std::size_t parameter = 0;
  std::string rest;
  double unit = 1.0;  // the standard deviation of a numeric column
};

struct Terms {
  std::vector<Term> numbers;  // for columns that have one coefficient, named by the column
  std::vector<std::pair<std::string, std::vector<Term>>> levels;  // by column, or by the term of a formula
  bool products = false;                                          // whether the formula has any
};

Terms terms_of(const Shown& of) {
  struct Feature {
    const EncodedColumn* column = nullptr;
    std::string level;
  };
  std::map<std::string, Feature> features;
  for (const EncodedColumn& column : of.encoding->columns()) {
    if (column.levels.empty()) features[column.name] = {&column, ""};
    for (const std::string& level : column.levels)
      features[fmt::format("{}[{}]", column.name, level)] = {&column, level};
  }
  std::map<std::string, const EncodedTerm*> made;  // terms made by a formula: products and functions
  for (const EncodedTerm& term : of.encoding->terms())
    if (!features.contains(term.name)) made[term.name] = &term;
  const std::vector<std::string>& names = of.encoding->feature_names();
  std::map<std::string, std::size_t> places;
  Terms out;
  const auto add_level = [&](const std::string& column, Term term) {
    const auto [place, is_new] = places.try_emplace(column, out.levels.size());
    if (is_new) out.levels.push_back({column, {}});
    out.levels[place->second].second.push_back(std::move(term));
  };
  for (std::size_t p = 0; p < of.summary.parameters.size() - of.report.scales; ++p) {
    const std::size_t f = p % names.size();
    const std::string &feature = names[f], &name = of.summary.parameters[p].name;
    const std::string classes = name.substr(std::min(name.size(), feature.size()));  // of a softmax: [b - a]
    if (const auto found = features.find(feature); found != features.end()) {
      const auto& [column, level] = found->second;
      if (level.empty())
        out.numbers.push_back({p, column->name + classes, column->scale});
      else
        add_level(column->name, {p, level + classes, 1.0});
      continue;
    }
    const auto found = made.find(of.encoding->terms_of_features()[f]);
    if (found == made.end()) continue;  // intercept, cut points, scale
    out.products = out.products || found->second->factors.size() > 1;
    if (found->second->coded())
      add_level(found->first, {p, feature + classes, 1.0});
    else
      out.numbers.push_back({p, feature + classes, of.encoding->scale()[static_cast<Index>(f)]});
  }
  return out;
}

// The terms that are shown if there are many, in their order.
template <class Rank>
std::vector<Term> chosen(const std::vector<Term>& terms, std::size_t most, const Rank& rank) {
  if (terms.size() <= most) return terms;
  std::vector<std::size_t> order(terms.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t i) { return rank(terms[i]); });
  order.resize(most);
  std::ranges::sort(order);
  std::vector<Term> out;
  for (const std::size_t i : order) out.push_back(terms[i]);
  return out;
}

std::string plot(const Shown& of, const std::vector<Term>& terms) {
  std::vector<IntervalLine> lines;
  for (const Term& term : terms) {
    const ParameterSummary& p = of.summary.parameters[term.parameter];
    const auto short_number = [&](double value) { return by_deviation(value * term.unit, p.sd * term.unit, 2); };
    lines.push_back({readable_name(term.rest), p.median * term.unit, p.lower * term.unit, p.upper * term.unit,
                     fmt::format("{} ({} to {})", short_number(p.median), short_number(p.lower), short_number(p.upper)),
                     false, std::numeric_limits<double>::quiet_NaN()});
  }
  return interval_plot(lines, {true, of.card.ratio.name});
}

std::string plots(const Shown& of) {
  const Terms terms = terms_of(of);
  std::string out;
  const auto surprise = [&](const Term& term) {
    const ParameterSummary& p = of.summary.parameters[term.parameter];
    return std::abs(p.median) / p.sd;
  };
  if (terms.products)
    out +=
        "<p class=\"note\">The formula has products (interactions): the effect of a column by itself is that where "
        "what "
        "it is multiplied with is 0, or at its reference level.</p>\n";
  if (!terms.numbers.empty()) {
    out += fmt::format(
        "<h3>Columns of numbers</h3>\n<p class=\"note\">The effect of one standard deviation of the column, so that "
        "columns "
        "in different units can be compared; of a column of 0 and 1, or true and false, of a step from 0 to 1. The "
        "table "
        "below is per unit.{}</p>\n",
        terms.numbers.size() > most_numbers
            ? fmt::format(" Of {} the {} are shown that lie the most posterior standard deviations from 0.",
                          terms.numbers.size(), most_numbers)
            : "");
    out += plot(of, chosen(terms.numbers, most_numbers, surprise));
  }
  for (std::size_t c = 0; c < terms.levels.size() && c < most_columns; ++c) {
    const auto& [column, levels] = terms.levels[c];
    const auto& known = of.encoding->columns();
    const auto found = std::ranges::find(known, column, &EncodedColumn::name);
    std::vector<double> medians;
    for (const Term& term : levels) medians.push_back(of.summary.parameters[term.parameter].median);
    std::ranges::sort(medians);
    const double middle = medians[medians.size() / 2];
    // The levels farthest from the median one are shown.
    const auto extreme = [&](const Term& term) {
      return std::abs(of.summary.parameters[term.parameter].median - middle);
    };
    std::vector<Term> some = chosen(levels, most_levels, extreme);
    if (levels.size() > most_levels)
      std::ranges::stable_sort(some, {}, [&](const Term& t) { return of.summary.parameters[t.parameter].median; });
    // Without an intercept the first level has a coefficient too, so there is no reference level.
    const bool compared = found != known.end() && levels.size() < found->levels.size();
    out += folded(fmt::format("<strong>{}</strong>{}{}", escaped(readable_name(column)),
                              compared ? ", compared with " + escaped(readable_name(found->levels.front())) : "",
                              levels.size() > most_levels
                                  ? fmt::format(": the {} of {} levels that lie farthest from the median one",
                                                most_levels, levels.size())
                                  : ""),
                  plot(of, some), c < open_columns);
  }
  if (terms.levels.size() > most_columns)
    out += fmt::format("<p class=\"note\">Of {} columns of levels the first {} are drawn; the table has all.</p>\n",
                       terms.levels.size(), most_columns);
  return out;
}

std::string table(const Shown& of) {
  const double interval = of.summary.options.interval;
  std::vector<std::string> heading = {"parameter", "mean",
                                      "sd",        fmt::format("{:.4g} %", 50.0 * (1.0 - interval)),
                                      "median",    fmt::format("{:.4g} %", 50.0 * (1.0 + interval))};
  const Ratio& ratio = of.summary.ratio;
  if (!ratio.name.empty()) heading.push_back(ratio.name);
  for (const char* name : {"ESS bulk", "ESS tail", "R-hat"}) heading.emplace_back(name);
  std::vector<std::vector<std::string>> lines;
  for (const ParameterSummary& p : of.summary.parameters) {
    std::vector<std::string> line = {escaped(readable_name(p.name)),
                                     by_deviation(p.mean, p.sd),
                                     std::isfinite(p.sd) ? fmt::format("{:.3g}", p.sd) : "not known",
                                     by_deviation(p.lower, p.sd),
                                     by_deviation(p.median, p.sd),
                                     by_deviation(p.upper, p.sd)};
    if (lines.size() < of.summary.with_ratio) {
      const RatioSummary by = ratio_of(p);
      // The coefficient's standard deviation is the ratio's relative one, and determines the number of digits.
      const double digits = p.sd > 0.0 ? std::clamp(1.0 - std::floor(std::log10(p.sd)), 3.0, 9.0) : 3.0;
      line.push_back(
          fmt::format("{0:.{3}g} ({1:.{3}g} to {2:.{3}g})", by.median, by.lower, by.upper, static_cast<int>(digits)));
    } else if (!ratio.name.empty()) {
      line.emplace_back();
    }
    line.push_back(known(p.ess_bulk, 0));
    line.push_back(known(p.ess_tail, 0));
    line.push_back(known(p.r_hat, 3));
    lines.push_back(std::move(line));
  }
  std::string out = html_table(heading, lines);
  if (!ratio.name.empty())
    out +=
        fmt::format("<p class=\"note\">{}</p>\n",
                    sentence(fmt::format("{} are exp of the median and of both ends: the factor of {} when the column "
                                         "grows by 1; {}",
                                         ratio.plural(), ratio.of, ratio.alone)));
  return out;
}

}  // namespace

std::string by_deviation(double value, double sd, int digits) {
  if (!std::isfinite(value)) return "not known";
  if (!(sd > 0.0) || !std::isfinite(sd) || std::abs(value) >= 1e9) return fmt::format("{:.4g}", value);
  const int places = static_cast<int>(digits - 1.0 - std::floor(std::log10(sd)));
  const std::string out =
      places > 8 ? fmt::format("{:.4g}", value) : fmt::format("{:.{}f}", value, std::max(0, places));
  // A number that is rounded to 0 has no sign.
  return out.starts_with('-') && out.find_first_not_of("-0.") == std::string::npos ? out.substr(1) : out;
}

std::string known(double value, int places) {
  return std::isfinite(value) ? fmt::format("{:.{}f}", value, places) : "not known";
}

std::string coefficients_section(const Shown& of) {
  std::string out = "<h2 id=\"coefficients\">Coefficients</h2>\n";
  out += fmt::format("<p>Points are posterior medians, lines {:.4g} % intervals.{}</p>\n",
                     100.0 * of.summary.options.interval,
                     of.summary.remark.empty() ? "" : " " + escaped(sentence(of.summary.remark)));
  if (of.encoding) out += plots(of);
  const std::size_t size = of.summary.parameters.size();
  return out + folded(fmt::format("all {} parameters, per unit of their columns", size), table(of), size <= open_lines);
}

}  // namespace flymc
