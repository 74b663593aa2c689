// The text of an audit.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "flymc/core/mention.hpp"
#include "flymc/run/audit.hpp"

namespace flymc {
namespace {

std::string direction(const Drift& of, const char* up, const char* down) { return of.mean > 0.0 ? up : down; }

// A sentence, and its drift in standard errors.
struct Finding {
  double strength;
  std::string sentence;
};

double strength(const Drift& of) { return std::abs(of.mean) / of.error; }

Finding centre_finding(const AuditedNumber& of) {
  return {strength(of.centre),
          fmt::format("{} moves {} by {:.2g} ({:.1g}) of its standard deviation: the draws lie too {}",
                      readable_name(of.name), direction(of.centre, "up", "down"), std::abs(of.centre.mean),
                      of.centre.error, direction(of.centre, "low", "high"))};
}

// The change of the mean square, minus the part that the change of the mean explains.
Finding spread_finding(const AuditedNumber& of) {
  const double wider = of.spread.mean - (of.centre.found ? of.centre.mean * of.centre.mean : 0.0);
  if (of.centre.found && std::abs(wider) < 3.0 * of.spread.error) return {0.0, ""};
  return {strength(of.spread),
          fmt::format("{} becomes {}: its variance {} by {:.2g} ({:.1g}) of itself: the draws are too {}",
                      readable_name(of.name), wider > 0.0 ? "wider" : "narrower", wider > 0.0 ? "grows" : "shrinks",
                      std::abs(wider), of.spread.error, wider > 0.0 ? "narrow" : "wide")};
}

}  // namespace

std::string Audit::subject() const {
  return fmt::format("audit: {} of {} draws, each moved by {} step{} of regular MCMC that read{} all {} rows", draws,
                     all_draws, options.steps, options.steps == 1 ? "" : "s", options.steps == 1 ? "s" : "", rows);
}

std::string Audit::verdict() const {
  if (!passed()) return fmt::format("the draws are probably not from the posterior: they drift (p = {:.1g})", p_value);
  constexpr double little = 1.5;
  if (!(sees <= little))
    return fmt::format("no drift was found (p = {:.2g}), but the moves were too short to see much: acceptance {:.2g}",
                       p_value, acceptance);
  return fmt::format("no drift was found (p = {:.2g}): the draws stay where they are", p_value);
}

std::string Audit::assurance() const {
  std::string out = fmt::format(
      "if the draws are right, an audit finds a drift with probability {:.2g} %: it tests the mean and the spread of "
      "{} "
      "number{} and the log posterior at once",
      100.0 * level, numbers.size(), numbers.size() == 1 ? "" : "s");
  if (passed())
    out +=
        std::isfinite(sees)
            ? fmt::format("\na mean that is wrong by {:.2g} standard deviations{} is found with probability 90 %", sees,
                          numbers.size() == 1
                              ? ""
                              : fmt::format(" or more (for {}; for the others less is enough)", readable_name(hardest)))
            : fmt::format("\n{} never moved", readable_name(hardest));
  if (passed()) out += "; a mode that neither the run nor these moves reach is not found";
  return out;
}

std::vector<std::string> Audit::findings(std::size_t most) const {
  std::vector<Finding> found;
  for (const AuditedNumber& number : numbers) {
    if (number.centre.found) found.push_back(centre_finding(number));
    if (number.spread.found) found.push_back(spread_finding(number));
  }
  std::erase_if(found, [](const Finding& one) { return one.sentence.empty(); });
  std::ranges::stable_sort(found, std::greater<>(), &Finding::strength);
  if (log_posterior.found)
    found.push_back({0.0, fmt::format("the log posterior {} by {:.2g} ({:.1g}): the draws lie too {} the mode",
                                      direction(log_posterior, "rises", "falls"), std::abs(log_posterior.mean),
                                      log_posterior.error, direction(log_posterior, "far from", "near"))});
  std::vector<std::string> out;
  for (const Finding& one : found)
    if (out.size() < most) out.push_back(one.sentence);
  if (found.size() > most) out.push_back(fmt::format("and {} more", found.size() - most));
  return out;
}

std::string Audit::advice() const {
  if (passed()) return "";
  return regular
             ? "do not use these draws; chains may not have reached the whole posterior: draw longer ones"
             : fmt::format("do not use these draws; compare them with those of regular MCMC ({}), and please report it",
                           mention("regular", "true"));
}

std::string Audit::text() const {
  const std::vector<std::string> found = findings();
  std::string out = subject() + "\n" + verdict() + (found.empty() ? "\n" : ":\n");
  for (const std::string& finding : found) out += "  " + finding + "\n";
  out += assurance() + "\n";
  if (const std::string help = advice(); !help.empty()) out += help + "\n";
  return out + fmt::format("cost: {:.0f} passes over the rows\n", passes());
}

}  // namespace flymc
