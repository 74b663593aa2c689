// Settings as the data layer wants them.
#pragma once

#include <fmt/format.h>

#include "flymc/core/mention.hpp"
#include "flymc/data/files/encoding.hpp"
#include "flymc/data/files/table.hpp"
#include "flymc/run/files/families.hpp"

namespace flymc {

// "\t" may be written as a backslash and a t.
inline std::optional<char> delimiter_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  return text == "\\t" ? '\t' : text[0];
}

inline TableOptions table_options(const Settings& settings) {
  return {settings.categorical, delimiter_of(settings.delimiter)};
}

inline EncodingOptions encoding_options(const Settings& settings) {
  EncodingOptions options;
  options.target = settings.target;
  options.columns = settings.columns;
  options.exclude = settings.exclude;
  options.weights = settings.weights;
  options.offset = settings.offset;
  options.categorical = settings.categorical;
  options.reference = settings.reference;
  options.merge_levels = settings.merge_levels;
  options.intercept = !settings.no_intercept;
  options.standardise = true;
  options.missing = settings.missing == "drop" ? Missing::drop : Missing::error;
  options.target_kind = family_card(settings.family).target;
  options.other_kinds = fmt::format("choose a family for more classes ({}) or for numbers ({})",
                                    mention("family", family_names("|", TargetKind::classes)),
                                    mention("family", family_names("|", TargetKind::number)));
  options.positive = settings.positive;
  return options;
}

}  // namespace flymc
