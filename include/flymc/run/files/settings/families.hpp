// The families that have a name. Each has a card with the facts that the rest of the program needs before a model
// exists; afterwards it asks the model that the card makes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "flymc/data/files/encoding/encoding.hpp"
#include "flymc/diagnose/summary.hpp"
#include "flymc/model/model.hpp"
#include "flymc/run/files/settings/settings.hpp"

namespace flymc {

// A setting that belongs to a family.
struct FamilyParameter {
  std::string name;  // the name of the setting
  double Settings::*value = nullptr;
};

// The facts about the target that a model needs in addition to the rows.
struct AboutTarget {
  std::optional<ScaledTarget> scaled = {};  // for a drawn scale: the target at the end of the rows
  std::vector<double> class_weights = {};   // for an ordered target
  ShapedTarget shaped = {};                 // for a drawn shape
};

// How a target, or the latent number behind it, varies around its linear predictor.
struct ResidualVariance {
  // Per square of the residual scale, if the family has one; infinite if there is none. Null: the target's variance
  // depends on its mean, and nothing latent is behind it.
  double (*value)(const Settings& settings) = nullptr;
  const char* words = "";  // "pi^2 / 3, that of the standard logistic distribution"
};

struct FamilyCard {
  std::string name;  // the family's own name
  // The kind of target. It decides how the target becomes numbers, and what is predicted (predict.hpp).
  TargetKind target = TargetKind::number;
  // The number of linear predictors per row, given the number of classes.
  Index (*predictors)(Index classes) = [](Index) { return Index{1}; };
  int most_classes = 0;  // 0: no limit
  Ratio ratio = {};      // the name of exp(coefficient) in a summary (run/reported.hpp), if it has one
  std::vector<FamilyParameter> parameters = {};
  bool trials = false;              // whether the target counts the successes of trials
  bool log_link = false;            // whether exp(linear predictor) is the mean of the target: exposures multiply it
  bool in_units_of_target = false;  // whether coefficients are in units of the target, and so the default prior
  bool scale = false;               // whether it has a residual scale; it is drawn unless the setting sigma fixes it
  bool counts = false;              // whether the target is a count
  bool shape = false;               // whether it has a shape, which is drawn
  // Whether the target is a time until an event, or an amount. The logarithm of the target then has a location and a
  // scale.
  bool times = false;
  ResidualVariance residual_variance = {};
  Model (*make)(const Settings& settings, int classes, Prior prior, const AboutTarget& about) = nullptr;
};

const std::vector<FamilyCard>& all_families();

// A family that is composed of several fits in one folder (study.hpp), each of a part of the target. The likelihood is a
// product of one factor per part, so with independent priors the posteriors of the parts are independent, too. The first
// part has all rows, each other part the rows in which the part before it is positive.
struct PartCard {
  std::string name;  // of the part and of its folder
  std::string family;
  CountPart part = CountPart::all;
  std::string question;  // what the part explains; {} stands for the target
};
struct CompositeCard {
  std::string name;
  std::vector<PartCard> parts;
};
const std::vector<CompositeCard>& all_composites();
// Null if the family is not composed of several fits.
const CompositeCard* find_composite(const std::string& family);
// The part that these settings are of, and the card that has it; nulls if they are of a whole target. Throws InputError
// if no family has such a part.
struct PartOf {
  const CompositeCard* whole = nullptr;
  const PartCard* part = nullptr;
};
PartOf part_of(const Settings& settings);
// Whether the offset or the exposure, if there is one, is for this fit.
bool uses_offset(const Settings& settings);

// Throws InputError, with the known names, if there is no such family.
const FamilyCard& family_card(const std::string& name);

// The name of the parameter for a drawn residual scale.
inline constexpr const char* scale_name = "sigma";
bool draws_scale(const Settings& settings);
// The name of the parameter for a shape.
inline constexpr const char* shape_name = "shape";

// Names of the parameters. For several classes they include the target's levels.
std::vector<std::string> coefficient_names(const Encoding& encoding, const Settings& settings);

// Names of the families, for a message; only those with this kind of target, if it is given.
std::string family_names(const std::string& between, std::optional<TargetKind> target = std::nullopt);

}  // namespace flymc
