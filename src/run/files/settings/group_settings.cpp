// Names and priors of the scales of effects.
#include "flymc/run/files/settings/group_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/core/names.hpp"
#include "flymc/run/files/settings/families.hpp"
#include "flymc/run/files/settings/priors.hpp"

namespace flymc {
namespace {

std::string trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t"), last = text.find_last_not_of(" \t");
  return first == text.npos ? "" : std::string(text.substr(first, last - first + 1));
}

bool is_or_begins(const std::string& name, const std::string& word) {
  return name == word || name.starts_with(word + "(");
}

// sd(carrier,hour) and sd(carrier, hour) are the same.
std::string spaced(const std::string& name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == ' ' && (out.ends_with(", ") || out.ends_with('(') || (i + 1 < name.size() && name[i + 1] == ')')))
      continue;
    out += name[i];
    if (name[i] == ',' && i + 1 < name.size() && name[i + 1] != ' ') out += ' ';
  }
  return out;
}

double lkj_of(const std::string& text) {
  double shape = 0.0;
  const bool begins = text.starts_with("lkj(") && text.ends_with(")");
  const std::string number = begins ? trimmed(std::string_view(text).substr(4, text.size() - 5)) : "";
  const auto [stop, error] = std::from_chars(number.data(), number.data() + number.size(), shape);
  if (!begins || error != std::errc() || stop != number.data() + number.size() || !(shape > 0.0) || shape > 1e6)
    throw InputError(fmt::format("{}: '{}' is no prior of correlations; write lkj(S) with S above 0, such as lkj(2)",
                                 mention("prior"), on_one_line(text)));
  return shape;
}

ScalePrior scale_prior_of(const std::string& text) {
  try {
    return ScalePrior::parse(text);
  } catch (const InputError& error) {
    throw error.saying(fmt::format("{}: {}", mention("prior"), error.what()));
  }
}

// A column may be called sd or cor.
void check_not_columns(const GivenPrior& given, const Encoding& encoding) {
  const auto check = [&](const std::string& name) {
    for (const auto* names : {&encoding.feature_names(), &encoding.terms_of_features()})
      if (std::ranges::find(*names, name) != names->end())
        throw InputError(fmt::format(
            "{}: '{}' is a coefficient, and stands for scales of effects too; write {}(carrier) for those of a "
            "factor, or rename the column",
            mention("prior"), name, name.substr(0, name.find('('))));
  };
  for (const auto& [name, prior] : given.scales) check(name);
  for (const auto& [name, shape] : given.correlations) check(name);
}

template <class Value>
void add(std::vector<std::pair<std::string, Value>>& to, const std::string& name, Value value) {
  if (std::ranges::any_of(to, [&](const auto& other) { return other.first == name; }))
    throw InputError(fmt::format("{}: the term '{}' is there twice; name it once", mention("prior"), name));
  to.emplace_back(name, std::move(value));
}

// Families with one linear predictor, and no shape.
bool takes_groups(const FamilyCard& card) {
  return card.target != TargetKind::ordered && card.target != TargetKind::classes && !card.shape;
}

}  // namespace

GivenPrior GivenPrior::of(const Settings& settings) {
  const std::string& text = settings.prior;
  const bool groups = has_groups(settings);
  std::string coefficients;
  std::vector<std::pair<std::string, ScalePrior>> scales;
  std::vector<std::pair<std::string, double>> correlations;
  bool first = true;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t next = std::min(text.find(';', at), text.size());
    const std::string part = text.substr(at, next - at);
    at = next + 1;
    const std::size_t colon = part.rfind(':');
    const std::string name = spaced(trimmed(part.substr(0, colon == part.npos ? 0 : colon)));
    const std::string value = colon == part.npos ? "" : trimmed(part.substr(colon + 1));
    const bool of_sd = groups && is_or_begins(name, "sd"), of_cor = groups && is_or_begins(name, "cor");
    if (of_sd) add(scales, name, scale_prior_of(value));
    if (of_cor) add(correlations, name, lkj_of(value));
    if (!of_sd && !of_cor)
      for (const std::string_view word : {"half_student_t(", "half_normal(", "exponential(", "lkj("})
        if ((colon == part.npos ? trimmed(part) : value).starts_with(word))
          throw InputError(
              fmt::format("{}: '{}' is a prior of the effects of groups, of their standard deviations or correlations: "
                          "write 'default; sd: half_normal(1); cor: lkj(2)', or sd(carrier) for those of one factor",
                          mention("prior"), on_one_line(trimmed(part))));
    if (of_sd || of_cor) {
      if (first) coefficients = "default";
    } else {
      coefficients += first ? part : ";" + part;
    }
    first = false;
  }
  return {PriorTerms::parse(coefficients), std::move(scales), std::move(correlations)};
}

std::string GivenPrior::describe() const {
  std::string out = coefficients.describe();
  for (const auto& [name, prior] : scales) out += fmt::format("; {}: {}", name, prior.describe());
  for (const auto& [name, shape] : correlations) out += fmt::format("; {}: lkj({:g})", name, shape);
  return out;
}

bool GivenPrior::has_student_t() const {
  return std::ranges::any_of(coefficients.given(), [](const auto& term) {
    return term.first != scale_name && term.second.student_t_of(0).has_value();
  });
}

bool has_groups(const Settings& settings) {
  if (settings.formula.empty() || parse_formula(settings.formula).groups.empty()) return false;
  const auto refuse = [](const std::string& what) {
    throw InputError(fmt::format("{}: {}; leave the groups out of the formula", mention("formula"), what));
  };
  const FamilyCard& card = family_card(settings.family);
  if (!takes_groups(card)) {
    std::vector<std::string> others;
    for (const FamilyCard& other : all_families())
      if (takes_groups(other)) others.push_back(other.name);
    for (const CompositeCard& other : all_composites())
      if (std::ranges::all_of(other.parts, [](const PartCard& part) { return takes_groups(family_card(part.family)); }))
        others.push_back(other.name);
    refuse(fmt::format("groups are not fitted by the {} family yet; those that fit them are {}", card.name,
                       joined(others, ", ")));
  }
  for (const auto& [given, name] : {std::pair(settings.fit.regular, "regular"),
                                    {settings.fit.bound.has_value(), "bound"},
                                    {settings.fit.sweep.has_value(), "sweep"},
                                    {settings.fit.move.has_value(), "move"},
                                    {!settings.fit.lit.automatic, "lit"}})
    if (given)
      throw InputError(
          fmt::format("{}: a model with groups chooses its bound, its moves and its lit rows by itself; leave it out",
                      mention(name)));
  return true;
}

std::vector<GroupEffects> effects_in(const Encoding& encoding) {
  std::vector<GroupEffects> out;
  for (const EncodedEffects& own : encoding.effects()) {
    GroupEffects& effects = out.emplace_back();
    effects.factor = own.factor;
    effects.multiplies.clear();
    if (own.intercept) effects.multiplies.push_back({});
    for (const std::size_t term : own.slopes)
      for (std::size_t i = 0; i < encoding.terms()[term].shift.size(); ++i) {
        const auto feature = static_cast<Index>(encoding.first_feature(term) + i);
        effects.multiplies.push_back({feature, encoding.scale()[feature], encoding.shift()[feature]});
      }
    effects.prior.correlated = own.correlated && effects.width() > 1;
  }
  return out;
}

std::vector<std::string> scale_names(const Encoding& encoding) {
  std::vector<std::string> factors;
  for (const EncodedFactor& factor : encoding.factors()) factors.push_back(factor.name);
  return scale_names(effects_in(encoding), factors, encoding.feature_names());
}

std::vector<std::string> parameter_names(const Encoding& encoding, const Settings& settings) {
  std::vector<std::string> out = coefficient_names(encoding, settings);
  for (std::string& name : scale_names(encoding)) out.push_back(std::move(name));
  return out;
}

std::vector<std::string> effect_names(const Encoding& encoding, std::size_t of) {
  const GroupEffects own = effects_in(encoding)[of];
  std::vector<std::string> out;
  for (const Multiplied& by : own.multiplies)
    out.push_back(by.feature == Multiplied::constant ? "intercept"
                                                     : encoding.feature_names()[static_cast<std::size_t>(by.feature)]);
  return out;
}

EffectsColumns effects_columns(const Encoding& encoding) {
  EffectsColumns out;
  for (std::size_t of = 0; of < encoding.effects().size(); ++of) {
    const EncodedEffects& own = encoding.effects()[of];
    const EncodedFactor& factor = encoding.factors()[own.factor];
    std::vector<std::string> names = effect_names(encoding, of);
    if (own.intercept) names.front() = "1";
    if (static_cast<double>(names.size()) * factor.groups(encoding.columns()) > 2147483647.0)
      throw InputError(fmt::format("the groups of '{}' have too many effects; name fewer slopes", factor.name));
    out.emplace_back(fmt::format("{} {} {}", joined(names, " + "), own.correlated ? "|" : "||", factor.name),
                     static_cast<Index>(names.size()) * static_cast<Index>(factor.groups(encoding.columns())));
  }
  return out;
}

GroupModel make_group_model(const Settings& settings, const Encoding& encoding, Model model) {
  GroupModel out{std::move(model), effects_in(encoding), encoding.intercept() ? 0 : -1};
  const GivenPrior given = GivenPrior::of(settings);
  check_not_columns(given, encoding);
  const double width = usual_width_of(settings, encoding);
  std::set<std::string> known;
  for (std::size_t of = 0; of < out.effects.size(); ++of) {
    GroupEffects& own = out.effects[of];
    const std::string& factor = encoding.factors()[own.factor].name;
    const std::vector<std::string> effects = effect_names(encoding, of);
    own.prior.sd.clear();
    for (std::size_t j = 0; j < effects.size(); ++j) {
      own.prior.sd.push_back(ScalePrior::half_student_t(3.0, width / own.multiplies[j].scale));
      for (const std::string& name :
           {std::string("sd"), fmt::format("sd({})", factor), fmt::format("sd({}, {})", factor, effects[j])}) {
        known.insert(name);
        for (const auto& [its, prior] : given.scales)
          if (its == name) own.prior.sd.back() = prior;
      }
    }
    if (!own.prior.correlated) continue;
    for (const std::string& name : {std::string("cor"), fmt::format("cor({})", factor)}) {
      known.insert(name);
      for (const auto& [its, shape] : given.correlations)
        if (its == name) own.prior.lkj = shape;
    }
  }
  const auto check = [&](const std::string& name) {
    if (known.contains(name)) return;
    std::vector<std::string> alike;
    for (const std::string& one : known)
      if (is_or_begins(one, name.substr(0, std::min(name.find('('), name.size())))) alike.push_back(one);
    throw InputError(fmt::format("{}: the effects of groups have no '{}'{}", mention("prior"), name,
                                 alike.empty() ? ", because none of them are correlated" : did_you_mean(name, alike)));
  };
  for (const auto& [name, prior] : given.scales) check(name);
  for (const auto& [name, shape] : given.correlations) check(name);
  return out;
}

}  // namespace flymc
