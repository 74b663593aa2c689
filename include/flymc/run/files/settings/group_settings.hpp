// The models with groups that settings and an encoding describe.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "flymc/data/files/encoding/encoding.hpp"
#include "flymc/draws/files/effects_file.hpp"
#include "flymc/groups/group_model.hpp"
#include "flymc/model/prior_terms.hpp"
#include "flymc/run/files/settings/settings.hpp"

namespace flymc {

// The setting `prior`, which is for coefficients and for the scales of effects:
//
//   default; age: normal(0, 1); sd: half_normal(1); sd(carrier, hour): exponential(2); cor(carrier): lkj(2)
//
// The most specific name applies. Without groups all names are of coefficients.
struct GivenPrior {
  // Throws InputError if the text cannot be parsed.
  static GivenPrior of(const Settings& settings);
  std::string describe() const;
  // Whether a coefficient has a Student-t prior. That of a residual scale is no matter.
  bool has_student_t() const;

  PriorTerms coefficients;
  std::vector<std::pair<std::string, ScalePrior>> scales;    // by name: sd, sd(carrier), sd(carrier, hour)
  std::vector<std::pair<std::string, double>> correlations;  // lkj by name: cor, cor(carrier)
};

// Whether a formula has groups. Throws InputError if these settings do not go with groups.
bool has_groups(const Settings& settings);

// The effects and the numbers that they multiply, with default priors.
std::vector<GroupEffects> effects_in(const Encoding& encoding);
// The model with groups, whose coefficients are those of `model`. A standard deviation has the prior half_student_t(3,
// 2.5 u / sd) unless another is given, as coefficients have (priors.hpp). Throws InputError if a prior names no scale.
GroupModel make_group_model(const Settings& settings, const Encoding& encoding, Model model);
// The names of the scales: sd(carrier), or sd(carrier, intercept), sd(carrier, hour) and cor(carrier, intercept, hour).
std::vector<std::string> scale_names(const Encoding& encoding);
// The names of all parameters of a run's draws: the coefficients, and the scales of effects.
std::vector<std::string> parameter_names(const Encoding& encoding, const Settings& settings);
// The columns of a file of effects: one for each term of groups, named as in the formula, "1 + hour | carrier".
EffectsColumns effects_columns(const Encoding& encoding);
// The names of the effects of each group: intercept, hour.
std::vector<std::string> effect_names(const Encoding& encoding, std::size_t of);

}  // namespace flymc
