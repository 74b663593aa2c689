// A regression with groups: coefficients of the columns, and effects of groups whose scales are drawn with them.
//
//   eta_n = x_n'beta + sum over factors f of w_nf'u_f,g(n),   u_f,g ~ normal(0, covariance_f)
//
// w_nf has 1 for an intercept of each group, and numbers of the row for slopes.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "flymc/data/store.hpp"
#include "flymc/groups/effect_scales.hpp"
#include "flymc/model/model.hpp"

namespace flymc {

// The number of a row that an effect multiplies: 1 for an intercept, or scale x + shift of a feature x. So effects are
// those of the table's own column where the feature is a standardised one.
struct Multiplied {
  static constexpr Index constant = -1;
  Index feature = constant;
  double scale = 1.0, shift = 0.0;
  bool operator==(const Multiplied&) const = default;
};

// The effects of the groups of one of the store's factors.
struct GroupEffects {
  std::size_t factor = 0;
  std::vector<Multiplied> multiplies = {{}};  // for each effect of a group
  EffectsPrior prior = {};
  Index width() const { return static_cast<Index>(multiplies.size()); }
};

struct GroupModel {
  // The family, and the prior of the coefficients.
  Model model;
  std::vector<GroupEffects> effects = {};
  // The feature that is 1 in every row, or -1 if there is none.
  Index intercept = 0;

  // Throws InputError if the model does not fit the store, or the family has several predictors.
  void check(const Store& store, const Execution& execution) const;
};

// The places of a model's numbers in theta: the coefficients of the features, the scales of each
// factor, and the effects of each factor, group by group.
class GroupLayout {
  struct Part {
    Index first, count;
    template <class V>
    auto of(V& theta) const {
      return std::span(theta.data() + first, static_cast<std::size_t>(count));
    }
  };

 public:
  GroupLayout(const GroupModel& model, const Store& store);

  // The border: the coefficients, which all groups share.
  Index border() const { return border_; }
  Index size() const { return size_; }
  // The numbers before the effects: coefficients and scales.
  Index head() const { return head_; }
  // The number of the model's `effects`, each of which counts as a factor: two of them may have the same factor of the
  // store.
  std::size_t factors() const { return groups_.size(); }
  Index groups(std::size_t f) const { return groups_[f]; }
  Index width(std::size_t f) const { return widths_[f]; }

  auto coefficients(Vector& theta) const { return theta.head(border_); }
  auto coefficients(const Vector& theta) const { return theta.head(border_); }
  std::span<double> scales(Vector& theta, std::size_t of) const { return scales_[of].of(theta); }
  std::span<const double> scales(const Vector& theta, std::size_t of) const { return scales_[of].of(theta); }
  // A line for each group.
  Eigen::Map<RowMatrix> effects(Vector& theta, std::size_t f) const {
    return {theta.data() + effects_[f], groups_[f], widths_[f]};
  }
  Eigen::Map<const RowMatrix> effects(const Vector& theta, std::size_t f) const {
    return {theta.data() + effects_[f], groups_[f], widths_[f]};
  }

 private:
  Index border_, head_ = 0, size_ = 0;
  std::vector<Index> groups_, widths_, effects_;
  std::vector<Part> scales_;
};

// The effects of all factors at theta, in the target's unit: group by group, as in theta. With a drawn residual scale
// theta has them with the opposite sign, as it has coefficients (model/sampled_scale.hpp).
Vector effects_at(const GroupModel& model, const GroupLayout& layout, const Vector& theta);
// The standard deviations and correlations of all factors at theta, in the target's unit.
Vector scales_at(const GroupModel& model, const GroupLayout& layout, const Vector& theta);
// Their names, given those of the factors and of the features: sd(carrier) if a factor has intercepts alone, else
// sd(carrier, intercept), sd(carrier, hour) and cor(carrier, intercept, hour).
std::vector<std::string> scale_names(const std::vector<GroupEffects>& effects, const std::vector<std::string>& factors,
                                     const std::vector<std::string>& features);

// The unit of the effects: the residual scale, if the model draws one, else 1. In theta, effects and their
// scales are divided by it, as coefficients are.
double unit_of_effects(const Model& model, const Vector& coefficients);

}  // namespace flymc
