// Checks of a model with groups, and its layout of theta.
#include "flymc/groups/group_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "flymc/core/error.hpp"

namespace flymc {

void GroupModel::check(const Store& store, const Execution& execution) const {
  if (execution.communicator.size() > 1)
    throw InputError("models with groups run on the threads of one machine, not on several ranks");
  model.check(store, execution);
  if (model.predictors() != 1 || model.arrangement().last_is_shared())
    throw InputError(
        fmt::format("the {} family has several linear predictors; effects of groups need a family with one",
                    model.family().name()));
  const Index features = store.features();
  if (intercept < -1 || intercept >= features) throw InputError("the intercept is none of the features");
  constexpr std::size_t most_factors = 200, most_effects = 256;
  if (effects.size() > most_factors)
    throw InputError(fmt::format("a model may have {} terms of groups at most", most_factors));
  for (const GroupEffects& own : effects) {
    if (own.multiplies.size() > most_effects)
      throw InputError(fmt::format("a group may have {} effects in one term at most", most_effects));
    if (own.factor >= store.factors().size())
      throw InputError("the effects of groups name a factor that is not stored");
    if (own.multiplies.empty()) throw InputError("a group needs at least one effect");
    for (const Multiplied& by : own.multiplies) {
      if (by.feature < Multiplied::constant || by.feature >= features)
        throw InputError("a group's slope multiplies a feature that is not stored");
      if (!std::isfinite(by.scale) || by.scale == 0.0 || !std::isfinite(by.shift))
        throw InputError("a group's slope multiplies a feature in no usable unit");
      if (by.shift != 0.0 && (intercept < 0 || by.feature == Multiplied::constant))
        throw InputError(
            "a group's slope multiplies a shifted feature, and there is no intercept to take the shift up");
    }
  }
}

GroupLayout::GroupLayout(const GroupModel& model, const Store& store) : border_(model.model.coefficients(store)) {
  Index at = border_;
  const auto add_scales = [&](Index width, const EffectsPrior& prior) {
    const Index count = number_of_scales(width, prior.correlated);
    scales_.push_back({at, count});
    at += count;
  };
  for (const GroupEffects& own : model.effects) add_scales(own.width(), own.prior);
  head_ = at;
  for (const GroupEffects& own : model.effects) {
    groups_.push_back(static_cast<Index>(store.factors()[own.factor].groups));
    widths_.push_back(own.width());
    effects_.push_back(at);
    at += groups_.back() * widths_.back();
  }
  size_ = at;
}

Vector effects_at(const GroupModel& model, const GroupLayout& layout, const Vector& theta) {
  const double unit = unit_of_effects(model.model, layout.coefficients(theta));
  return (model.model.scales_coefficients() ? -unit : unit) * theta.tail(layout.size() - layout.head());
}

Vector scales_at(const GroupModel& model, const GroupLayout& layout, const Vector& theta) {
  Vector out = theta.segment(layout.border(), layout.head() - layout.border());
  const double unit = unit_of_effects(model.model, layout.coefficients(theta));
  Index at = 0;
  for (std::size_t f = 0; f < layout.factors(); ++f) {
    out.segment(at, layout.width(f)) *= unit;
    at += static_cast<Index>(layout.scales(theta, f).size());
  }
  return out;
}

std::vector<std::string> scale_names(const std::vector<GroupEffects>& effects, const std::vector<std::string>& factors,
                                     const std::vector<std::string>& features) {
  std::vector<std::string> out;
  for (const GroupEffects& own : effects) {
    const std::string& factor = factors[own.factor];
    const auto effect = [&](Index j) {
      const Index feature = own.multiplies[static_cast<std::size_t>(j)].feature;
      return feature == Multiplied::constant ? std::string("intercept") : features[static_cast<std::size_t>(feature)];
    };
    const bool alone = own.width() == 1 && own.multiplies[0].feature == Multiplied::constant &&
                       std::ranges::count(effects, own.factor, &GroupEffects::factor) == 1;
    for (Index j = 0; j < own.width(); ++j)
      out.push_back(alone ? fmt::format("sd({})", factor) : fmt::format("sd({}, {})", factor, effect(j)));
    for (Index i = 1; own.prior.correlated && i < own.width(); ++i)
      for (Index j = 0; j < i; ++j) out.push_back(fmt::format("cor({}, {}, {})", factor, effect(j), effect(i)));
  }
  return out;
}

double unit_of_effects(const Model& model, const Vector& coefficients) {
  if (!model.scales_coefficients()) return 1.0;
  return model.parameters(coefficients)[model.before_block(coefficients.size())];
}

}  // namespace flymc
