// Formats numbers as cells and aligns cells in columns.
#include "flymc/diagnose/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace flymc {

namespace {

constexpr std::size_t max_name = 40;  // code points

// A line is written with exponents if its largest number lies outside these limits, or if it needs more decimals.
constexpr double min_fixed = 1e-4;
constexpr double max_fixed = 1e10;
constexpr int max_decimals = 12;

// The starts of code points, and the end of the text. Bytes 10xxxxxx continue a code point.
std::vector<std::size_t> code_points(std::string_view text) {
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < text.size(); ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) starts.push_back(i);
  starts.push_back(text.size());
  return starts;
}

int exponent_of(double x) { return static_cast<int>(std::floor(std::log10(std::abs(x)))); }

// The number of decimals that show `digits` significant digits of x, negative if all are before the point; 0 for zero
// and for numbers that are not finite.
int decimals_of(double x, int digits) { return std::isfinite(x) && x != 0.0 ? digits - 1 - exponent_of(x) : 0; }

std::string fixed(double x, int decimals) {
  if (std::isnan(x)) return "nan";  // regardless of its sign bit
  if (std::isinf(x)) return x > 0.0 ? "inf" : "-inf";
  std::string text = fmt::format("{:.{}f}", x, std::max(decimals, 0));
  if (text.find_first_not_of("-0.") == std::string::npos && text.front() == '-') text.erase(0, 1);  // no -0.00
  return text;
}

// A number above a limit with three decimals, or with as many as show that it is.
std::string beyond(double x, double limit) {
  int decimals = 3;
  while (decimals < 12 && std::stod(fixed(x, decimals)) <= limit) ++decimals;
  return fixed(x, decimals);
}

using Cells = std::array<std::string, 10>;

// Formats a probability: "5%" for 0.05.
std::string percent(double p) { return fmt::format("{:.10g}%", 100.0 * p); }
Cells header(double interval) {
  return {
      "parameter", "mean",     "sd",       "median", percent((1.0 - interval) / 2.0), percent((1.0 + interval) / 2.0),
      "mcse_mean", "ess_bulk", "ess_tail", "r_hat"};
}

Cells cells(const ParameterSummary& p) {
  const bool has_error = std::isfinite(p.mcse_mean) && p.mcse_mean > 0.0;
  const bool has_spread = std::isfinite(p.sd) && p.sd > 0.0;
  int decimals = has_spread ? decimals_of(p.sd, 3) : decimals_of(p.mean, 4);
  if (has_error) decimals = std::max(decimals, decimals_of(p.mcse_mean, 1));

  double largest = 0.0;
  for (const double x : {p.mean, p.sd, p.median, p.lower, p.upper})
    if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
  const bool exponents = largest > 0.0 && (largest < min_fixed || largest >= max_fixed || decimals > max_decimals);
  const int digits = exponents ? std::clamp(decimals + exponent_of(largest), 2, 15) : 0;  // after the first digit
  const auto number = [&](double x) {
    return exponents && std::isfinite(x) ? fmt::format("{:.{}e}", x, digits) : fixed(x, decimals);
  };
  const std::string error =
      exponents && has_error ? fmt::format("{:.1e}", p.mcse_mean) : fixed(p.mcse_mean, decimals_of(p.mcse_mean, 2));
  return {readable_name(p.name), number(p.mean), number(p.sd),         number(p.median),     number(p.lower),
          number(p.upper),       error,          fixed(p.ess_bulk, 0), fixed(p.ess_tail, 0), fixed(p.r_hat, 3)};
}

// A column of numbers: its width, and the number of characters before the decimal point.
struct Column {
  std::size_t integer = 0, total = 0;
};

std::size_t before_point(std::string_view cell) { return std::min(cell.find('.'), cell.size()); }

// nan and inf have no decimal point; they are aligned with the end of the column.
bool is_word(std::string_view cell) { return cell.find_first_of("0123456789") == std::string_view::npos; }

Column measure(std::string_view header, std::span<const Cells> lines, std::size_t index) {
  std::size_t integer = 0, fraction = 0, total = header.size();
  for (const Cells& line : lines) {
    const std::string& cell = line[index];
    total = std::max(total, cell.size());
    if (is_word(cell)) continue;
    integer = std::max(integer, before_point(cell));
    fraction = std::max(fraction, cell.size() - before_point(cell));
  }
  total = std::max(total, integer + fraction);
  return {.integer = total - fraction, .total = total};
}

}  // namespace

std::size_t display_width(std::string_view text) { return code_points(text).size() - 1; }

// Shortens a long name in the middle, because its beginning identifies the column and its end the level or class.
// Replaces line breaks and other control characters, which would break the table.
std::string readable_name(std::string name) {
  for (char& c : name)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  const std::vector<std::size_t> starts = code_points(name);
  const std::size_t count = starts.size() - 1;
  if (count <= max_name) return name;
  const std::size_t head = max_name / 2, tail = max_name - head - 1;
  return name.substr(0, starts[head]) + "…" + name.substr(starts[count - tail]);
}

ParameterSummary summarise(std::string name, ChainDraws draws, double interval) {
  // Sums are relative to the first draw, so that equal draws have a standard deviation of exactly 0.
  const double origin = draws.empty() || draws.front().empty() ? 0.0 : draws.front().front();
  double sum = 0.0, count = 0.0, squares = 0.0;
  for (const std::vector<double>& chain : draws) {
    for (const double x : chain) sum += x - origin;
    count += static_cast<double>(chain.size());
  }
  const double mean = count > 0.0 ? origin + sum / count : NAN;
  for (const std::vector<double>& chain : draws)
    for (const double x : chain) squares += (x - mean) * (x - mean);
  const double sd = count > 1.0 ? std::sqrt(squares / (count - 1.0)) : NAN;
  return {.name = std::move(name),
          .mean = mean,
          .sd = sd,
          .median = quantile(draws, 0.5),
          .lower = quantile(draws, (1.0 - interval) / 2.0),
          .upper = quantile(draws, (1.0 + interval) / 2.0),
          .mcse_mean = mcse_mean(draws),
          .ess_bulk = ess_bulk(draws),
          .ess_tail = ess_tail(draws),
          .r_hat = r_hat(draws),
          .mcse_sd = mcse_sd(draws),
          .q5 = quantile(draws, 0.05),
          .q95 = quantile(draws, 0.95)};
}

std::string Ratio::plural() const {
  constexpr std::string_view one = "ratio";
  std::string out = name;
  if (const std::size_t at = out.find(one); at != std::string::npos) out.insert(at + one.size(), "s");
  return out;
}

RatioSummary ratio_of(const ParameterSummary& p) { return {std::exp(p.median), std::exp(p.lower), std::exp(p.upper)}; }

std::string format_table(std::span<const ParameterSummary> parameters, double interval) {
  const Cells header_words = header(interval);
  std::vector<Cells> lines;
  lines.reserve(parameters.size());
  for (const ParameterSummary& p : parameters) lines.push_back(cells(p));

  std::size_t name_width = header_words[0].size();
  for (const Cells& line : lines) name_width = std::max(name_width, display_width(line[0]));
  std::array<Column, std::tuple_size_v<Cells>> columns;
  for (std::size_t i = 1; i < header_words.size(); ++i) columns[i] = measure(header_words[i], lines, i);

  std::string table = header_words[0];
  table.append(name_width - header_words[0].size(), ' ');
  for (std::size_t i = 1; i < header_words.size(); ++i)
    table += fmt::format("  {:>{}}", header_words[i], columns[i].total);
  table += '\n';
  for (const Cells& line : lines) {
    table += line[0];
    table.append(name_width - display_width(line[0]), ' ');
    for (std::size_t i = 1; i < header_words.size(); ++i) {
      const std::string& cell = line[i];
      const std::size_t left = is_word(cell) ? columns[i].total - cell.size() : columns[i].integer - before_point(cell);
      table.append(2 + left, ' ');
      table += cell;
      if (i + 1 < header_words.size()) table.append(columns[i].total - left - cell.size(), ' ');
    }
    table += '\n';
  }
  return table;
}

std::string format_ratios(std::span<const ParameterSummary> parameters, const Ratio& ratio_name, double interval) {
  const Cells words = header(interval);
  std::vector<std::array<std::string, 4>> lines = {{words[0], ratio_name.name, words[4], words[5]}};
  for (const ParameterSummary& p : parameters) {
    const RatioSummary ratio = ratio_of(p);
    // The coefficient's standard deviation is about the ratio's relative one: shows three digits of it.
    const int digits = std::clamp(std::isfinite(p.sd) && p.sd > 0.0 ? 2 - exponent_of(p.sd) : 0, 4, 15);
    const auto number = [&](double x) { return fmt::format("{:#.{}g}", x, digits); };
    lines.push_back({readable_name(p.name), number(ratio.median), number(ratio.lower), number(ratio.upper)});
  }
  std::array<std::size_t, 4> widths = {};
  for (const auto& line : lines)
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], display_width(line[i]));
  std::string table;
  for (const auto& line : lines) {
    table += line[0] + std::string(widths[0] - display_width(line[0]), ' ');
    for (std::size_t i = 1; i < line.size(); ++i) table += fmt::format("  {:>{}}", line[i], widths[i]);
    table += '\n';
  }
  return table;
}

std::vector<std::string> convergence_warnings(std::span<const ParameterSummary> parameters, double ess) {
  std::vector<std::string> out;
  // Reports how many parameters break a rule, and the worst; an undefined value breaks every rule.
  const auto rule = [&](const auto& badness, double limit, const auto& describe) {
    std::size_t broken = 0;
    const ParameterSummary* worst = nullptr;
    for (const ParameterSummary& p : parameters) {
      if (badness(p) <= limit) continue;
      ++broken;
      if (!worst || !(badness(p) <= badness(*worst))) worst = &p;
    }
    if (worst) out.push_back(describe(*worst) + fmt::format(" ({} of {} coefficients)", broken, parameters.size()));
  };
  rule([](const auto& p) { return p.r_hat; }, enough_r_hat,
       [](const auto& p) {
         return std::isnan(p.r_hat) ? fmt::format("too few draws to tell whether '{}' has converged", p.name)
                                    : fmt::format("chains disagree: R-hat of '{}' is {}, should be below {}", p.name,
                                                  beyond(p.r_hat, enough_r_hat), enough_r_hat);
       });
  rule([](const auto& p) { return -std::min(p.ess_bulk, p.ess_tail); }, -ess,
       [&](const auto& p) {
         return fmt::format("few effective draws: {:.0f} in bulk and {:.0f} in the tails of '{}', below {:.0f}",
                            p.ess_bulk, p.ess_tail, p.name, ess);
       });
  return out;
}

std::int64_t draws_that_should_do(std::span<const ParameterSummary> parameters, double ess, std::int64_t draws) {
  double factor = 1.0;
  for (const ParameterSummary& p : parameters) {
    const double of_ess = ess / std::min(p.ess_bulk, p.ess_tail);
    const double of_r_hat = (p.r_hat - 1.0) / (enough_r_hat - 1.0);
    constexpr double undefined = 10.0;  // for too few draws, or a chain that did not move
    for (const double more : {of_ess, of_r_hat}) factor = std::max(factor, std::isfinite(more) ? more : undefined);
  }
  const double wanted = 1.25 * factor * static_cast<double>(draws);
  const double last = std::pow(10.0, std::floor(std::log10(wanted)) - 1.0);  // unit of the second digit
  return static_cast<std::int64_t>(std::ceil(std::ceil(wanted / last) * last));
}

}  // namespace flymc
