// Rejects settings that are invalid alone or in combination.
#include <fmt/format.h>

#include <algorithm>

#include "encoding_options.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/core/names.hpp"
#include "flymc/model/prior_terms.hpp"
#include "flymc/run/files/settings/families.hpp"
#include "flymc/run/files/settings/group_settings.hpp"
#include "flymc/run/files/settings/priors.hpp"
#include "flymc/run/files/settings/settings.hpp"

namespace flymc {
namespace {

// Rejects parameters that belong to other families.
void check_parameters(const Settings& settings, const FamilyCard& own) {
  const Settings usual;
  const auto has = [](const FamilyCard& card, const FamilyParameter& p) {
    return std::ranges::any_of(card.parameters, [&](const FamilyParameter& q) { return q.name == p.name; });
  };
  for (const FamilyCard& card : all_families())
    for (const FamilyParameter& parameter : card.parameters) {
      if (settings.*parameter.value == usual.*parameter.value || has(own, parameter)) continue;
      std::string names;
      for (const FamilyCard& other : all_families())
        if (has(other, parameter)) names += (names.empty() ? "" : " or ") + other.name;
      throw InputError(
          fmt::format("{}: only for the {} family, and this is {}", mention(parameter.name), names, own.name));
    }
}

std::string names_of(bool FamilyCard::*has) {
  std::string names;
  for (const FamilyCard& card : all_families())
    if (card.*has) names += (names.empty() ? "" : " or ") + card.name;
  return names;
}

// Rejects columns that the family cannot use, such as an exposure.
void check_facts(const Settings& settings, const FamilyCard& card) {
  if (!settings.exposure.empty() && !card.log_link && uses_offset(settings))
    throw InputError(fmt::format(
        "{}: only for counts and amounts ({}); other families take a column of its logarithms as offset ({})",
        mention("exposure"), names_of(&FamilyCard::log_link), mention("offset")));
  if (!settings.exposure.empty() && !settings.offset.empty())
    throw InputError(
        fmt::format("{}: the logarithm of the exposure is the offset already; add what the offset has to "
                    "it, and name one of them",
                    mention("offset")));
  if (!settings.event.empty() && !card.times)
    throw InputError(
        fmt::format("{}: only for times until an event ({})", mention("event"), names_of(&FamilyCard::times)));
  if (!settings.trials.empty() && !card.trials)
    throw InputError(fmt::format("{}: only for the {} family, and this is {}", mention("trials"),
                                 names_of(&FamilyCard::trials), card.name));
  if (settings.trials.empty() && card.trials)
    throw InputError(
        fmt::format("{}: the {} family needs the column that says how many trials a row has; for a target "
                    "of 0 and 1 choose {}",
                    mention("trials"), card.name, mention_families(TargetKind::two_classes)));
  if (!settings.trials.empty() && !settings.weights.empty())
    throw InputError(
        fmt::format("{}: a row counts as many times as it has trials already; leave it out", mention("weights")));
}

// Rejects settings that a formula already determines.
void check_formula(const Settings& settings) {
  if (settings.formula.empty()) return;
  const Formula formula = parse_formula(settings.formula);
  if (settings.target != formula.target)
    throw InputError(fmt::format("{}: the formula names the target, '{}'; leave one of them out", mention("target"),
                                 formula.target));
  if (!settings.columns.empty())
    throw InputError(fmt::format("{}: the formula names the columns; leave one of them out", mention("columns")));
  if (!settings.exclude.empty())
    throw InputError(fmt::format("{}: a formula says this itself; write '{} ~ . - {}'", mention("exclude"),
                                 formula.target, joined(settings.exclude, " - ")));
  if (settings.no_intercept && formula.intercept)
    throw InputError(fmt::format("{}: a formula says this itself; write '0 +' after the ~", mention("no-intercept")));
}

}  // namespace

void check(const Settings& settings) {
  check(settings.fit);
  check_formula(settings);
  const FamilyCard& card = family_card(settings.family);
  if (settings.missing != "error" && settings.missing != "drop")
    throw InputError(fmt::format("{}: '{}' is neither error nor drop", mention("missing"), settings.missing));
  if (settings.delimiter.size() > 1 && settings.delimiter != "\\t")
    throw InputError(fmt::format("{}: '{}' is not one character", mention("delimiter"), settings.delimiter));
  if (settings.merge_levels < 0) throw InputError(mention("merge-levels") + " must be 0 or more");
  if (!settings.positive.empty() && card.target != TargetKind::two_classes)
    throw InputError(fmt::format("{}: only the {} family has a level that counts as 1", mention("positive"),
                                 family_names(" or ", TargetKind::two_classes)));
  if (!settings.order.empty() && card.target != TargetKind::ordered)
    throw InputError(fmt::format("{}: only the {} family has ordered levels", mention("order"),
                                 family_names(" or ", TargetKind::ordered)));
  if (settings.no_intercept && card.target == TargetKind::ordered)
    throw InputError(
        fmt::format("{}: the cut points are the intercepts of the {} family, and cannot be left out; leave {} out",
                    mention(settings.formula.empty() ? "no-intercept" : "formula"), card.name,
                    settings.formula.empty() ? "it" : "'0 +' or '- 1'"));
  part_of(settings);
  check_facts(settings, card);
  check_parameters(settings, card);
  if (!(settings.target_ess >= 0.0)) throw InputError(mention("target-ess") + " must be 0 or more");
  if (!(settings.checkpoint_seconds >= 0.0)) throw InputError(mention("checkpoint-seconds") + " must be 0 or more");
  const GivenPrior given = GivenPrior::of(settings);
  const PriorTerms& prior = given.coefficients;
  if (has_groups(settings) && given.has_student_t())
    throw InputError(fmt::format(
        "{}: student_t priors of coefficients are refused in models with groups, where a second mode that a "
        "narrow one may give is not looked for yet; write normal or laplace",
        mention("prior")));
  const Model model = make_model(settings, 2);
  const bool only_differences = model.family().only_differences();
  if (settings.fit.bound && *settings.fit.bound != BoundKind::sharp && !settings.fit.regular &&
      !model.family().has_global_curvature())
    throw InputError(fmt::format("{}: no quadratic stays below the likelihood of the {} family everywhere; use {}",
                                 mention("bound"), card.name, mention("bound", "sharp")));
  if (settings.fit.regular && (settings.fit.bound || settings.fit.sweep || !settings.fit.lit.automatic))
    throw InputError(fmt::format("{} has no bound, and so neither a sweep nor lit rows; leave {} out",
                                 mention("regular"),
                                 settings.fit.bound   ? mention("bound")
                                 : settings.fit.sweep ? mention("sweep")
                                                      : mention("lit")));
  if (only_differences && !settings.offset.empty())
    throw InputError(
        fmt::format("{}: {} depends on differences between classes alone, and an offset that all of "
                    "them have changes nothing; leave it out",
                    mention("offset"), card.name));
  if (only_differences && !prior.proper())
    throw InputError(
        fmt::format("{}: {} has no posterior under a flat prior, since adding a number to all classes "
                    "changes nothing; use a proper one, such as the default",
                    mention("prior"), card.name));
}

}  // namespace flymc
