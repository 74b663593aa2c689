// Converts settings to the options of the data layer.
#pragma once

#include <fmt/format.h>

#include <algorithm>

#include "flymc/core/mention.hpp"
#include "flymc/data/files/encoding/encoding.hpp"
#include "flymc/data/files/table/table.hpp"
#include "flymc/run/files/settings/families.hpp"

namespace flymc {

// "\t" may be written as a backslash and a t.
inline std::optional<char> delimiter_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return text == "\\t" ? '\t' : text[0];
}

// The columns that the setting names, and those inside C() in the formula.
inline std::vector<std::string> categorical_columns(const Settings& settings) {
  std::vector<std::string> names = settings.categorical;
  if (settings.formula.empty()) return names;
  for (const std::string& name : parse_formula(settings.formula).categorical)
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  return names;
}

inline TableOptions table_options(const Settings& settings) {
  return {categorical_columns(settings), delimiter_of(settings.delimiter)};
}

// The families for this kind of target that need no further column.
inline std::string mention_families(TargetKind target) {
  std::string out;
  for (const FamilyCard& card : all_families())
    if (card.target == target && !card.trials) out += (out.empty() ? "" : " or ") + mention("family", card.name);
  return out;
}

inline EncodingOptions encoding_options(const Settings& settings) {
  EncodingOptions options;
  options.target.name = settings.target;
  options.columns = settings.columns;
  options.exclude = settings.exclude;
  options.formula = settings.formula;
  options.target.trials = !settings.trials.empty();
  options.weights = options.target.trials ? settings.trials : settings.weights;
  options.exposure = !settings.exposure.empty();
  options.offset = options.exposure ? settings.exposure : settings.offset;
  options.log_link = family_card(settings.family).log_link;
  if (draws_scale(settings)) options.target.scale = scale_name;
  if (family_card(settings.family).shape) options.target.shape = shape_name;
  options.target.distinct = family_card(settings.family).shape && family_card(settings.family).counts;
  options.target.times = family_card(settings.family).times;
  options.target.event = settings.event;
  options.categorical = categorical_columns(settings);
  options.reference = settings.reference;
  options.merge_levels = settings.merge_levels;
  options.intercept = settings.formula.empty() ? !settings.no_intercept : parse_formula(settings.formula).intercept;
  options.standardise = true;
  options.missing = settings.missing == "drop" ? Missing::drop : Missing::error;
  options.target.kind = family_card(settings.family).target;
  options.target.other_kinds =
      options.target.kind == TargetKind::ordered
          ? mention_families(TargetKind::two_classes)
          : fmt::format("choose a family for more classes ({}, in an order: {}) or for numbers ({})",
                        mention_families(TargetKind::classes), mention_families(TargetKind::ordered),
                        mention_families(TargetKind::number));
  if (const auto [whole, part] = part_of(settings); part != nullptr) {
    options.target.part = part->part;
    if (part->part == CountPart::whether_positive)
      options.target.other_kinds = mention("family", whole->parts.back().family);
  }
  options.target.positive = settings.positive;
  options.target.order = settings.order;
  return options;
}

}  // namespace flymc
