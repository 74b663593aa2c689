// The families that can be named: a card each, and on it all that the rest of the program may ask about a family by its
// name. What can be asked of the family itself is asked of the model that the card makes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "flymc/data/files/encoding.hpp"
#include "flymc/diagnose/summary.hpp"
#include "flymc/model/model.hpp"
#include "flymc/run/files/settings.hpp"

namespace flymc {

// A setting that belongs to a family.
struct FamilyParameter {
  std::string name;  // of the setting
  double Settings::*value = nullptr;
};

// What a model needs to know of the target besides the rows.
struct AboutTarget {
  std::optional<ScaledTarget> scaled = {};  // where a scale is drawn: of the target that ends the rows
  std::vector<double> class_weights = {};   // of an ordered one
  ShapedTarget shaped = {};                 // where a shape is drawn
};

struct FamilyCard {
  std::string name;  // as the family itself says it
  // What it explains: it decides how the target becomes numbers, and what is predicted (predict.hpp).
  TargetKind target = TargetKind::number;
  // Linear predictors per row for targets of so many classes.
  Index (*predictors)(Index classes) = [](Index) { return Index{1}; };
  int most_classes = 0;  // 0: as many as there are
  Ratio ratio = {};      // what exp of a number is that a summary reports (run/reported.hpp), if it has a name
  std::vector<FamilyParameter> parameters = {};
  bool trials = false;              // whether the target counts the successes of trials
  bool log_link = false;            // whether exp(linear predictor) is the mean of the target: exposures multiply it
  bool in_units_of_target = false;  // whether coefficients are: then the default prior is scaled by the target's
  bool scale = false;               // whether it has a residual scale: drawn, unless the setting sigma gives it
  bool counts = false;              // whether the target is a count
  bool shape = false;               // whether it has a shape, which is drawn
  // Whether the target is a time until an event, or an amount: its logarithm has location and scale.
  bool times = false;
  Model (*make)(const Settings& settings, int classes, Prior prior, const AboutTarget& about) = nullptr;
};

const std::vector<FamilyCard>& all_families();

// A count whose zeros are a question of their own: two fits of one target, of whether it is more than 0 and of how large it
// is where it is (hurdle.hpp), by a family each.
struct HurdleCard {
  std::string name;
  std::string zero, count;
};
const std::vector<HurdleCard>& all_hurdles();
// Null if the family is not one.
const HurdleCard* find_hurdle(const std::string& family);

// Throws InputError, with the names that there are, if there is no such family.
const FamilyCard& family_card(const std::string& name);

// The parameter that a drawn residual scale is.
inline constexpr const char* scale_name = "sigma";
bool draws_scale(const Settings& settings);
// The parameter that a shape is.
inline constexpr const char* shape_name = "shape";

// Names of the parameters, with the target's levels for classes.
std::vector<std::string> coefficient_names(const Encoding& encoding, const Settings& settings);

// Names of the families, for a message; those of one kind of target, if it is given.
std::string family_names(const std::string& between, std::optional<TargetKind> target = std::nullopt);

}  // namespace flymc
