// Reads terms off the model and its encoding.
#include "flymc/run/files/settings/group_terms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "flymc/core/mention.hpp"
#include "flymc/core/names.hpp"
#include "flymc/run/files/settings/group_settings.hpp"

namespace flymc {
namespace {

// Whether each group of one factor is a group of the other, given that both have as many.
bool same_partition(const Store& store, std::size_t one, std::size_t other) {
  constexpr Group none = std::numeric_limits<Group>::max();
  const std::size_t groups = store.factors()[one].groups;
  std::vector<Group> forth(groups, none), back(groups, none);
  for (std::size_t b = 0; b < store.blocks(); ++b) {
    const std::span<const Group> here = store.block(b).groups(one), there = store.block(b).groups(other);
    for (std::size_t i = 0; i < here.size(); ++i) {
      Group &to = forth.at(here[i]), &from = back.at(there[i]);
      if (to == none && from == none) {
        to = there[i];
        from = here[i];
      }
      if (to != there[i] || from != here[i]) return false;
    }
  }
  return true;
}

}  // namespace

std::vector<GroupTerm> group_terms(const GroupModel& model, const Encoding& encoding) {
  const std::vector<std::string> names = scale_names(encoding);
  std::vector<GroupTerm> out;
  std::size_t at = 0;
  for (std::size_t of = 0; of < model.effects.size(); ++of) {
    const GroupEffects& own = model.effects[of];
    const EncodedFactor& factor = encoding.factors()[own.factor];
    GroupTerm& term = out.emplace_back(GroupTerm{.factor = factor.name,
                                                 .columns = {},
                                                 .groups = factor.groups(encoding.columns()),
                                                 .effects = effect_names(encoding, of),
                                                 .correlated = own.prior.correlated,
                                                 .priors = {}});
    for (const std::size_t column : factor.columns) term.columns.push_back(encoding.columns()[column].name);
    for (const ScalePrior& prior : own.prior.sd) term.priors.emplace_back(names[at++], prior.describe());
    if (own.prior.correlated)
      term.priors.emplace_back(fmt::format("cor({})", factor.name), fmt::format("lkj({:g})", own.prior.lkj));
    at += static_cast<std::size_t>(number_of_scales(own.width(), own.prior.correlated) - own.width());
  }
  return out;
}

std::string describe(std::span<const GroupTerm> terms) {
  std::vector<std::string> factors, priors;
  for (const GroupTerm& term : terms) {
    const std::string factor = fmt::format("{} ({} groups)", term.factor, term.groups);
    if (std::ranges::find(factors, factor) == factors.end()) factors.push_back(factor);
    for (const auto& [name, prior] : term.priors) priors.push_back(fmt::format("{} {}", name, prior));
  }
  return fmt::format("groups: {}\nprior of their effects: normal around 0, {}", joined(factors, ", "),
                     joined(priors, ", "));
}

std::vector<std::string> group_warnings(std::span<const GroupTerm> terms, const GroupModel& model, const Store& store) {
  constexpr std::uint64_t few = 5;
  std::vector<std::string> out;
  const std::vector<GroupFactor>& factors = store.factors();
  for (const GroupFactor& factor : factors) {
    if (factor.groups >= few) continue;
    const auto term = std::ranges::find(terms, factor.name, &GroupTerm::factor);
    const std::string& scale = term->priors.front().first;
    const double other = 0.4 * model.effects[static_cast<std::size_t>(term - terms.begin())].prior.of(0).scale();
    out.push_back(
        fmt::format("'{0}' has {1} groups, and with fewer than {2} the prior decides much of {3}: see how far "
                    "another prior moves it ({4}), or give each group a coefficient, C({0})",
                    factor.name, factor.groups, few, scale,
                    mention("prior", fmt::format("{}: half_normal({:.2g})", scale, other))));
  }
  for (std::size_t f = 0; f < factors.size(); ++f)
    for (std::size_t g = 0; g < f; ++g)
      if (factors[f].groups == factors[g].groups && same_partition(store, g, f))
        out.push_back(
            fmt::format("'{0}' and '{1}' divide the rows into the same groups, so the rows tell only the sum "
                        "of their effects: leave '{1}' out of the {2}",
                        factors[g].name, factors[f].name, mention("formula")));
  return out;
}

}  // namespace flymc
