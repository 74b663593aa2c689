// Where the Laplace approximation is wrong, and the chains' diagnostics.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "flymc/core/names.hpp"
#include "flymc/run/reported.hpp"
#include "flymc/show/draws_plots.hpp"
#include "flymc/show/html.hpp"
#include "sections.hpp"

namespace flymc {
namespace {

constexpr double least_shift = 0.1, least_ratio = 0.1, errors = 3.0;

// Whether the difference exceeds the Monte Carlo error and is large enough to matter.
bool differs(const LaplaceCheck& check) {
  const auto beyond = [](double error, double mcse, double least) {
    return std::abs(error) > least && std::abs(error) > errors * mcse;
  };
  return beyond(check.shift, check.shift_mcse, least_shift) ||
         beyond(std::log(check.ratio), check.ratio_mcse / check.ratio, least_ratio);
}

double badness(const LaplaceCheck& check) { return std::abs(check.shift) + std::abs(std::log(check.ratio)); }

double least_ess(const ParameterSummary& p) {
  const double least = std::min(p.ess_bulk, p.ess_tail);
  return std::isfinite(least) ? least : 0.0;  // an unknown value counts as the worst
}

// The three parameters with the fewest effective draws, and the one with the largest R-hat.
std::vector<std::size_t> worst_of(const std::vector<ParameterSummary>& parameters) {
  constexpr std::size_t most = 3;
  std::vector<std::size_t> order(parameters.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return least_ess(parameters[i]); });
  const auto r_hat = [&](std::size_t i) { return std::isfinite(parameters[i].r_hat) ? parameters[i].r_hat : HUGE_VAL; };
  const std::size_t highest = *std::ranges::max_element(order, {}, r_hat);
  order.resize(std::min(order.size(), most));
  if (std::ranges::find(order, highest) == order.end()) order.push_back(highest);
  return order;
}

std::string chain_key(std::size_t chains) {
  std::string out = "<p class=\"key\">";
  for (std::size_t c = 0; c < std::min<std::size_t>(chains, 6); ++c)
    out += fmt::format(
        "<svg viewBox=\"0 0 14 14\"><path class=\"chain c{}\" style=\"stroke-width:3\" d=\"M1 7L13 7\"/></svg> chain "
        "{} ",
        c, c);
  return out + (chains > 6 ? "and so on, colours come again</p>\n" : "</p>\n");
}

}  // namespace

std::string laplace_section(const Shown& of) {
  if (of.summary.laplace.empty()) return "";
  constexpr std::size_t most = 6;
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < of.summary.laplace.size(); ++i)
    if (differs(of.summary.laplace[i])) found.push_back(i);
  std::string out = "<h2 id=\"laplace\">Against the Laplace approximation</h2>\n";
  const std::vector<std::string>& endless = of.report.without_moments;
  if (!endless.empty())
    out += fmt::format(
        "<p>The posterior of {} has no standard deviation, and no normal distribution can stand for it.{}</p>\n",
        escaped(quoted_list(endless, 5)), endless.size() < of.summary.laplace.size() ? " The others:" : "");
  if (endless.size() >= of.summary.laplace.size()) return out;
  if (found.empty())
    return out +
           "<p>An estimate with its standard error (the Laplace approximation, a normal distribution at the mode) "
           "would have "
           "been as good: no mean differs from its by more than a tenth of a standard deviation, and no standard "
           "deviation by "
           "more than a tenth, as far as these draws can tell.</p>\n";
  std::ranges::stable_sort(found, std::greater<>(), [&](std::size_t i) { return badness(of.summary.laplace[i]); });
  out += fmt::format(
      "<p>For {} of {} parameters an estimate with its standard error (the Laplace approximation, a normal "
      "distribution at the "
      "mode) would have been wrong: the mean by more than a tenth of a standard deviation, or the standard deviation "
      "by more "
      "than a tenth, and by more than {:.0f} Monte Carlo errors.{} Bars are the posterior, the line is the "
      "approximation.</p>\n",
      found.size(), of.summary.laplace.size(), errors,
      found.size() > most ? fmt::format(" The {} farthest off are drawn.", most) : "");
  const Reported reported = of.report.reported(of.summary.options.reference_class);
  const auto [mean, sd] = of.report.laplace(reported);
  out += "<div class=\"cards\">\n";
  for (std::size_t k = 0; k < found.size() && k < most; ++k) {
    const std::size_t i = found[k];
    const LaplaceCheck& check = of.summary.laplace[i];
    const std::string name = readable_name(of.summary.parameters[i].name);
    const auto draws = reported.draws(of.draws, static_cast<Index>(i));
    out += fmt::format(
        "<figure class=\"card\"><h3>{}</h3><p class=\"note\">mean off by {:.2f} sd, sd {:.2f} times "
        "Laplace's</p>\n{}</figure>\n",
        escaped(name), check.shift, check.ratio,
        laplace_plot(name, draws, mean[static_cast<Index>(i)], sd[static_cast<Index>(i)]));
  }
  out += "</div>\n";
  if (found.size() > most) {
    std::vector<std::vector<std::string>> lines;
    for (const std::size_t i : found) {
      const LaplaceCheck& c = of.summary.laplace[i];
      lines.push_back({escaped(readable_name(of.summary.parameters[i].name)), fmt::format("{:.2f}", c.shift),
                       fmt::format("{:.2f}", c.shift_mcse), fmt::format("{:.2f}", c.ratio),
                       fmt::format("{:.2f}", c.ratio_mcse)});
    }
    out += folded(fmt::format("all {}", found.size()),
                  html_table({"parameter", "shift", "mcse", "sd ratio", "mcse"}, lines));
  }
  return out;
}

std::string chains_section(const Shown& of) {
  const std::vector<ParameterSummary>& parameters = of.summary.parameters;
  const std::size_t chains = of.report.chains.size();
  double r_hat = 0.0, ess = HUGE_VAL;
  for (const ParameterSummary& p : parameters) {
    r_hat = std::max(r_hat, std::isfinite(p.r_hat) ? p.r_hat : HUGE_VAL);
    ess = std::min(ess, least_ess(p));
  }
  std::string out = fmt::format(
      "<h2 id=\"chains\">Chains</h2>\n<p>{} chains of {} draws. The largest R-hat is {} (it should be below {}), "
      "the "
      "smallest effective sample size {} (it should be {:.0f} or more). Drawn are the three parameters with the "
      "fewest "
      "effective draws, and the one with the largest R-hat: a trace of at most 250 draws of each chain, evenly spaced, "
      "and "
      "below it how often each chain has the lowest twentieth of all draws, the next one, and so on, in units of its "
      "share: "
      "each line should be level, around 1.</p>\n",
      chains, with_commas(of.report.draws_per_chain), known(r_hat, 3), enough_r_hat,
      ess > 0.0 ? known(ess, 0) : "not known", of.summary.enough_ess);
  out += chain_key(chains);
  const Reported reported = of.report.reported(of.summary.options.reference_class);
  out += "<div class=\"cards\">\n";
  for (const std::size_t i : worst_of(parameters)) {
    const ParameterSummary& p = parameters[i];
    const std::string name = readable_name(p.name);
    const auto draws = reported.draws(of.draws, static_cast<Index>(i));
    const std::string note = fmt::format("ESS {} in bulk, {} in the tails, R-hat {}", known(p.ess_bulk, 0),
                                         known(p.ess_tail, 0), known(p.r_hat, 3));
    out += fmt::format("<figure class=\"card\"><h3>{}</h3><p class=\"note\">{}</p>\n{}{}</figure>\n", escaped(name),
                       note, trace_plot(name, draws), rank_plot(name, draws));
  }
  return out + "</div>\n";
}

}  // namespace flymc
