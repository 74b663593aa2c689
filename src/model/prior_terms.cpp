// Terms are separated by semicolons; the last colon of one ends its name.
#include "flymc/model/prior_terms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "flymc/core/error.hpp"
#include "flymc/core/names.hpp"
#include "prior_error.hpp"

namespace flymc {
namespace {

std::string trimmed(std::string text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.back())) text.pop_back();
  text.erase(0, static_cast<std::size_t>(std::ranges::find_if_not(text, blank) - text.begin()));
  return text;
}

constexpr const char* by_default = "default";

std::optional<Prior> parse_one(const std::string& text) {
  if (trimmed(text) == by_default) return std::nullopt;
  return Prior::parse(text);
}

std::string describe_one(const std::optional<Prior>& prior) { return prior ? prior->describe() : by_default; }

// How specifically a name means a coefficient; 0 if it does not.
int closeness(const std::string& name, const NamedCoefficient& of) {
  return name == of.name ? 3 : name == of.feature ? 2 : name == of.term ? 1 : 0;
}

}  // namespace

PriorTerms PriorTerms::parse(const std::string& text) {
  const std::string others = text.substr(0, text.find(';'));
  if (others.find(':') != std::string::npos)
    throw prior_error(fmt::format("'{}' is of one term; begin with that of all others, as in 'default; {}'",
                                  trimmed(others), trimmed(others)));
  PriorTerms all(parse_one(others));
  for (std::size_t at = text.find(';'); at != std::string::npos;) {
    const std::size_t next = text.find(';', at + 1);
    const std::string part = text.substr(at + 1, next == std::string::npos ? next : next - at - 1);
    const std::size_t colon = part.rfind(':');
    const std::string name = trimmed(part.substr(0, colon == std::string::npos ? 0 : colon));
    if (name.empty())
      throw prior_error(fmt::format("'{}' is not a term and its prior, as in 'default; age: normal(0, 1)'", part));
    if (std::ranges::any_of(all.terms_, [&](const auto& term) { return term.first == name; }))
      throw prior_error(fmt::format("the term '{}' is there twice; name it once", name));
    all.terms_.emplace_back(name, parse_one(part.substr(colon + 1)));
    at = next;
  }
  return all;
}

std::string PriorTerms::describe() const {
  std::string text = describe_one(others_);
  for (const auto& [name, prior] : terms_) text += fmt::format("; {}: {}", name, describe_one(prior));
  return text;
}

bool PriorTerms::proper() const {
  const auto proper = [](const Said& said) { return !said || said->proper(); };
  return proper(others_) && std::ranges::all_of(terms_, [&](const NamedPrior& term) { return proper(term.second); });
}

bool PriorTerms::has_default() const {
  return !others_ || std::ranges::any_of(terms_, [](const NamedPrior& term) { return !term.second; });
}

std::vector<std::pair<std::string, Prior>> PriorTerms::given() const {
  std::vector<std::pair<std::string, Prior>> out;
  if (others_) out.emplace_back("", *others_);
  for (const auto& [name, prior] : terms_)
    if (prior) out.emplace_back(name, *prior);
  return out;
}

const PriorTerms::NamedPrior* PriorTerms::term_about(const NamedCoefficient& coefficient) const {
  const NamedPrior* best = nullptr;
  int closest = 0;
  for (const NamedPrior& term : terms_)
    if (const int close = closeness(term.first, coefficient); close > closest) {
      best = &term;
      closest = close;
    }
  return best;
}

Prior PriorTerms::of(std::span<const NamedCoefficient> coefficients, const Prior& usual, const Vector& scale,
                     std::size_t apart) const {
  for (const auto& [name, prior] : terms_) {
    if (std::ranges::any_of(coefficients, [&](const NamedCoefficient& c) { return closeness(name, c) > 0; })) continue;
    std::vector<std::string> known;
    std::set<std::string> there;
    for (const NamedCoefficient& c : coefficients)
      for (const std::string& of : {c.term, c.feature, c.name})
        if (there.insert(of).second) known.push_back(of);
    throw prior_error(fmt::format("'{}' is the name of no coefficient{}", name, did_you_mean(name, known)));
  }
  std::vector<Prior> priors;
  for (std::size_t j = 0; j < coefficients.size(); ++j) {
    const NamedPrior* const term = term_about(coefficients[j]);
    const Said said = term != nullptr ? term->second : j + apart < coefficients.size() ? others_ : std::nullopt;
    const auto at = static_cast<Index>(j);
    priors.push_back(said ? said->scaled(scale.segment(at, 1)) : usual.one(at));
  }
  return Prior::each(priors);
}

}  // namespace flymc
