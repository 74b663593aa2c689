// The cards.
#include "flymc/run/files/settings/families.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/core/names.hpp"
#include "flymc/model/binomial.hpp"
#include "flymc/model/cloglog.hpp"
#include "flymc/model/gamma.hpp"
#include "flymc/model/gaussian.hpp"
#include "flymc/model/logistic.hpp"
#include "flymc/model/negative_binomial.hpp"
#include "flymc/model/poisson.hpp"
#include "flymc/model/probit.hpp"
#include "flymc/model/residual.hpp"
#include "flymc/model/softmax.hpp"
#include "flymc/model/student_t.hpp"
#include "flymc/model/survival.hpp"
#include "flymc/model/truncated_poisson.hpp"

namespace flymc {

namespace {

Ratio ratio(const std::string& name, const std::string& of) {
  return {name, of, fmt::format("of the intercept: {} where all columns are 0", of)};
}
const Ratio odds_ratio = ratio("odds ratio", "the odds"), rate_ratio = ratio("rate ratio", "the rate"),
            time_ratio = ratio("time ratio", "the typical time"), ratio_of_means = ratio("ratio of means", "the mean");

constexpr double pi = std::numbers::pi;
const ResidualVariance of_logistic = {[](const Settings&) { return pi * pi / 3.0; },
                                      "pi^2 / 3, that of the standard logistic distribution"},
                       of_normal = {[](const Settings&) { return 1.0; }, "1, that of the standard normal distribution"},
                       of_gumbel = {[](const Settings&) { return pi * pi / 6.0; },
                                    "pi^2 / 6, that of the Gumbel distribution"};
// The same, for a drawn or given scale.
ResidualVariance scaled(const ResidualVariance& of, const char* words) { return {of.value, words}; }

FamilyCard survival(const char* name, const ResidualVariance& residual_variance, decltype(FamilyCard::make) make) {
  return {.name = name,
          .target = TargetKind::number,
          .ratio = time_ratio,
          .in_units_of_target = true,
          .scale = true,
          .times = true,
          .residual_variance = residual_variance,
          .make = make};
}

}  // namespace

// A list: a card for each family, however many there are.
const std::vector<FamilyCard>& all_families() {
  static const std::vector<FamilyCard> all = {
      {.name = "logistic",
       .target = TargetKind::two_classes,
       .ratio = odds_ratio,
       .residual_variance = of_logistic,
       .make = [](const Settings&, int, Prior prior,
                  const AboutTarget&) { return Model(Logistic{}, std::move(prior)); }},
      {.name = "softmax",
       .target = TargetKind::classes,
       .predictors = [](Index classes) { return classes; },
       .most_classes = Softmax::most_classes,
       .ratio = odds_ratio,
       .make = [](const Settings&, int classes, Prior prior,
                  const AboutTarget&) { return Model(Softmax(classes), std::move(prior)); }},
      {.name = "ordinal",
       .target = TargetKind::ordered,
       .most_classes = 100,
       .ratio = {"odds ratio", "the odds", "of a cut point: the odds of being at or below it where all columns are 0"},
       .make = [](const Settings&, int, Prior prior,
                  const AboutTarget& about) { return Model(Ordinal{}, prior, OrderedTarget{about.class_weights}); }},
      {.name = "gaussian",
       .target = TargetKind::number,
       .parameters = {{"sigma", &Settings::sigma}},
       .in_units_of_target = true,
       .scale = true,
       .residual_variance = scaled(of_normal, "sigma^2"),
       .make =
           [](const Settings& s, int, Prior prior, const AboutTarget& about) {
             return about.scaled ? Model(Residual(Gaussian(1.0)), prior, *about.scaled)
                                 : Model(Gaussian(s.sigma), std::move(prior));
           }},
      {.name = "student_t",
       .target = TargetKind::number,
       .parameters = {{"nu", &Settings::nu}, {"sigma", &Settings::sigma}},
       .in_units_of_target = true,
       .scale = true,
       .residual_variance = {[](const Settings& s) { return s.nu > 2.0 ? s.nu / (s.nu - 2.0) : HUGE_VAL; },
                             "sigma^2 nu / (nu - 2)"},
       .make =
           [](const Settings& s, int, Prior prior, const AboutTarget& about) {
             return about.scaled ? Model(Residual(StudentT(s.nu, 1.0)), prior, *about.scaled)
                                 : Model(StudentT(s.nu, s.sigma), std::move(prior));
           }},
      survival("weibull", scaled(of_gumbel, "sigma^2 pi^2 / 6, of the logarithm of the time"),
               [](const Settings&, int, Prior prior, const AboutTarget& about) {
                 return Model(weibull(), prior, *about.scaled);
               }),
      survival("lognormal", scaled(of_normal, "sigma^2, of the logarithm of the time"),
               [](const Settings&, int, Prior prior, const AboutTarget& about) {
                 return Model(lognormal(), prior, *about.scaled);
               }),
      survival("loglogistic", scaled(of_logistic, "sigma^2 pi^2 / 3, of the logarithm of the time"),
               [](const Settings&, int, Prior prior, const AboutTarget& about) {
                 return Model(loglogistic(), prior, *about.scaled);
               }),
      {.name = "probit",
       .target = TargetKind::two_classes,
       .residual_variance = of_normal,
       .make = [](const Settings&, int, Prior prior, const AboutTarget&) { return Model(Probit{}, std::move(prior)); }},
      {.name = "cloglog",
       .target = TargetKind::two_classes,
       .ratio = rate_ratio,
       .residual_variance = of_gumbel,
       .make = [](const Settings&, int, Prior prior,
                  const AboutTarget&) { return Model(Cloglog{}, std::move(prior)); }},
      {.name = "binomial",
       .target = TargetKind::number,
       .ratio = odds_ratio,
       .trials = true,
       .residual_variance = of_logistic,
       .make = [](const Settings&, int, Prior prior,
                  const AboutTarget&) { return Model(Binomial{}, std::move(prior)); }},
      {.name = "poisson",
       .target = TargetKind::number,
       .ratio = rate_ratio,
       .log_link = true,
       .counts = true,
       .make = [](const Settings&, int, Prior prior,
                  const AboutTarget&) { return Model(Poisson{}, std::move(prior)); }},
      {.name = "negative_binomial",
       .target = TargetKind::number,
       .ratio = rate_ratio,
       .log_link = true,
       .counts = true,
       .shape = true,
       .make = [](const Settings&, int, Prior prior,
                  const AboutTarget& about) { return Model(NegativeBinomial{}, prior, about.shaped); }},
      {.name = "gamma",
       .target = TargetKind::number,
       .ratio = ratio_of_means,
       .log_link = true,
       .shape = true,
       .make = [](const Settings&, int, Prior prior,
                  const AboutTarget& about) { return Model(Gamma{}, prior, about.shaped); }},
      {.name = "truncated_poisson",
       .target = TargetKind::number,
       .ratio = rate_ratio,
       .log_link = true,
       .counts = true,
       .make = [](const Settings&, int, Prior prior,
                  const AboutTarget&) { return Model(TruncatedPoisson{}, std::move(prior)); }},
  };
  return all;
}

const std::vector<CompositeCard>& all_composites() {
  static const std::vector<CompositeCard> all = {
      {.name = "hurdle_poisson",
       .parts = {{"zero", "logistic", CountPart::whether_positive, "whether {} is more than 0"},
                 {"count", "truncated_poisson", CountPart::positive, "{} where it is more than 0"}}}};
  return all;
}

const CompositeCard* find_composite(const std::string& family) {
  const auto found = std::ranges::find(all_composites(), family, &CompositeCard::name);
  return found == all_composites().end() ? nullptr : &*found;
}

PartOf part_of(const Settings& settings) {
  if (settings.part.empty()) return {};
  for (const CompositeCard& whole : all_composites())
    for (const PartCard& part : whole.parts)
      if (part.name == settings.part && part.family == settings.family) return {&whole, &part};
  throw InputError(fmt::format("{}: '{}' is no part that the {} family may be", mention(part_setting),
                               on_one_line(settings.part), on_one_line(settings.family)));
}

bool uses_offset(const Settings& settings) {
  const PartCard* const part = part_of(settings).part;
  return part == nullptr || part->part != CountPart::whether_positive;
}

const FamilyCard& family_card(const std::string& name) {
  const auto& all = all_families();
  const auto found = std::find_if(all.begin(), all.end(), [&](const FamilyCard& card) { return card.name == name; });
  if (const CompositeCard* const whole = found == all.end() ? find_composite(name) : nullptr) {
    std::string parts;
    for (const PartCard& part : whole->parts) parts += (parts.empty() ? "" : " and ") + part.family;
    throw InputError(fmt::format("{}: {} is {} fits, of the families {}; here one family is needed", mention("family"),
                                 name, whole->parts.size(), parts));
  }
  if (found == all.end())
    throw InputError(fmt::format("{}: '{}' is none of {}", mention("family"), on_one_line(name), family_names(", ")));
  return *found;
}

bool draws_scale(const Settings& settings) {
  const FamilyCard& card = family_card(settings.family);
  return card.scale && (card.times || settings.sigma == Settings().sigma);
}

std::vector<std::string> coefficient_names(const Encoding& encoding, const Settings& settings) {
  const auto& classes = encoding.target().classes;
  return coefficient_names(encoding.feature_names(),
                           family_card(settings.family).predictors(static_cast<Index>(classes.size())), classes);
}

std::string family_names(const std::string& between, std::optional<TargetKind> target) {
  std::string names;
  for (const FamilyCard& card : all_families())
    if (!target || card.target == *target) names += (names.empty() ? "" : between) + card.name;
  if (!target)
    for (const CompositeCard& card : all_composites()) names += between + card.name;
  return names;
}

}  // namespace flymc
