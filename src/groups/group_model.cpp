// Checks of a model with groups, and its layout of theta.
#include "flymc/groups/group_model.hpp"

#include <fmt/format.h>

#include <cmath>

#include "flymc/core/error.hpp"
#include "small_matrices.hpp"

namespace flymc {

void PooledEffects::add_precision(const Matrix& covariance, Matrix& out) const {
  const Matrix inverse = inverse_of(covariance);
  for (Index g = 0; g < groups; ++g)
    for (Index i = 0; i < width(); ++i)
      for (Index j = 0; j < width(); ++j) out(feature(g, i), feature(g, j)) += inverse(i, j);
}

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
  for (const GroupEffects& own : effects) {
    if (own.factor >= store.factors().size())
      throw InputError("the effects of groups name a factor that is not stored");
    if (own.multiplies.empty()) throw InputError("a group needs at least one effect");
    for (const Index feature : own.multiplies)
      if (feature < GroupEffects::constant || feature >= features)
        throw InputError("a group's slope multiplies a feature that is not stored");
  }
  for (const PooledEffects& own : pooled) {
    if (own.groups < 1 || own.first.empty()) throw InputError("a factor needs at least one group and one effect");
    for (const Index feature : own.first)
      if (feature < 0 || feature + own.groups > features)
        throw InputError(fmt::format("the effects of '{}' are none of the features", own.name));
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
  for (const PooledEffects& own : model.pooled) add_scales(own.width(), own.prior);
  head_ = at;
  for (const GroupEffects& own : model.effects) {
    groups_.push_back(static_cast<Index>(store.factors()[own.factor].groups));
    widths_.push_back(own.width());
    effects_.push_back(at);
    at += groups_.back() * widths_.back();
  }
  size_ = at;
}

double unit_of_effects(const Model& model, const Vector& coefficients) {
  if (!model.scales_coefficients()) return 1.0;
  return model.parameters(coefficients)[model.before_block(coefficients.size())];
}

}  // namespace flymc
