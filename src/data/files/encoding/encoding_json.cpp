// An encoding as JSON. Doubles are written with the fewest digits that read back to the same bits.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "flymc/core/error.hpp"
#include "flymc/core/nesting.hpp"
#include "flymc/data/files/encoding/encoding.hpp"

namespace flymc {

NLOHMANN_JSON_SERIALIZE_ENUM(ColumnKind, {{ColumnKind::other, "other"},
                                          {ColumnKind::numeric, "numeric"},
                                          {ColumnKind::boolean, "boolean"},
                                          {ColumnKind::text, "text"}})
NLOHMANN_JSON_SERIALIZE_ENUM(TargetKind, {{TargetKind::two_classes, "two_classes"},
                                          {TargetKind::classes, "classes"},
                                          {TargetKind::ordered, "ordered"},
                                          {TargetKind::number, "number"}})
NLOHMANN_JSON_SERIALIZE_ENUM(NumberFunction, {{NumberFunction::identity, "identity"},
                                              {NumberFunction::log, "log"},
                                              {NumberFunction::log2, "log2"},
                                              {NumberFunction::log10, "log10"},
                                              {NumberFunction::log1p, "log1p"},
                                              {NumberFunction::exp, "exp"},
                                              {NumberFunction::sqrt, "sqrt"},
                                              {NumberFunction::power, "power"}})
NLOHMANN_JSON_SERIALIZE_ENUM(TermFactor::Coding, {{TermFactor::Coding::number, "number"},
                                                  {TermFactor::Coding::but_reference, "but_reference"},
                                                  {TermFactor::Coding::all_levels, "all_levels"}})
NLOHMANN_JSON_SERIALIZE_ENUM(CountPart, {{CountPart::all, "none"},
                                         {CountPart::whether_positive, "zero"},
                                         {CountPart::positive, "count"}})
NLOHMANN_JSON_SERIALIZE_ENUM(Missing, {{Missing::error, "error"}, {Missing::drop, "drop"}})

namespace {

nlohmann::ordered_json to_json_of(const EncodedTerm& term) {
  nlohmann::ordered_json factors = nlohmann::ordered_json::array();
  for (const TermFactor& factor : term.factors)
    factors.push_back(
        {{"column", factor.column}, {"coding", factor.coding}, {"function", factor.function}, {"power", factor.power}});
  return {{"name", term.name},     {"factors", std::move(factors)}, {"but_first", term.but_first},
          {"levels", term.levels}, {"shift", term.shift},           {"scale", term.scale}};
}

EncodedTerm term_of(const nlohmann::json& entry) {
  EncodedTerm term;
  entry.at("name").get_to(term.name);
  for (const auto& kept : entry.at("factors")) {
    TermFactor factor;
    kept.at("column").get_to(factor.column);
    kept.at("coding").get_to(factor.coding);
    kept.at("function").get_to(factor.function);
    kept.at("power").get_to(factor.power);
    term.factors.push_back(factor);
  }
  entry.at("but_first").get_to(term.but_first);
  entry.at("levels").get_to(term.levels);
  entry.at("shift").get_to(term.shift);
  entry.at("scale").get_to(term.scale);
  return term;
}

}  // namespace

std::string Encoding::to_json() const {
  nlohmann::ordered_json columns = nlohmann::ordered_json::array();
  for (const auto& column : columns_) {
    nlohmann::ordered_json entry = {{"name", column.name}, {"kind", column.kind}};
    if (column.kind == ColumnKind::text)
      entry.update({{"levels", column.levels}, {"merged", column.merged}, {"rare", column.rare}});
    else
      entry.update({{"minimum", column.minimum},
                    {"maximum", column.maximum},
                    {"mean", column.mean},
                    {"deviation", column.deviation},
                    {"shift", column.shift},
                    {"scale", column.scale}});
    columns.push_back(std::move(entry));
  }
  nlohmann::ordered_json facts = nlohmann::ordered_json::object();
  if (!weights_.empty()) facts["weights"] = weights_;
  if (!weights_.empty()) facts["total"] = total_weight_, facts["whole"] = whole_weights_;
  if (trials_) facts["trials"] = true;
  if (!offset_.empty()) facts["offset"] = offset_;
  if (exposure_) facts["exposure"] = true;
  if (mean_exposure_ != 1.0) facts["mean_exposure"] = mean_exposure_;
  if (target_is_feature()) facts["scale"] = scale_name_;
  if (has_shape()) facts["shape"] = shape_name_;
  if (!target_values_.empty()) facts["target_values"] = target_values_, facts["target_weights"] = target_weights_;
  if (times_) facts["times"] = true;
  if (!event_.empty()) facts["event"] = event_, facts["events"] = event_weight_;
  if (cuts() > 0) facts["class_weights"] = class_weights_, facts["stored_rows"] = stored_rows_;
  if (count_part_ != CountPart::all) facts["hurdle"] = count_part_, facts["zeros"] = zeros_;
  nlohmann::ordered_json all = {{"version", version_},
                                {"facts", std::move(facts)},
                                {"target",
                                 {{"name", target_},
                                  {"kind", target_kind_},
                                  {"column", target_column_},
                                  {"classes", classes_},
                                  {"values", class_values_},
                                  {"mean", target_mean_},
                                  {"deviation", target_deviation_}}},
                                {"intercept", intercept_},
                                {"missing", missing_},
                                {"rows", rows_},
                                {"dropped", dropped_},
                                {"columns", std::move(columns)}};
  if (by_formula_)
    for (const EncodedTerm& term : terms_) all["terms"].push_back(to_json_of(term));
  if (by_formula_ && terms_.empty()) all["terms"] = nlohmann::ordered_json::array();
  return all.dump(2);
}

Encoding Encoding::from_json(const std::string& text) {
  try {
    if (too_deep(text)) throw InputError("the encoding is nested too deep; make it again from the table");
    const auto json = nlohmann::json::parse(text);
    const int version = json.at("version").get<int>();
    if (version > present_version) throw InputError("the encoding is of a later version of flymc");
    // Version 1 had a setting for standardising, which later versions always do.
    const bool standardised = version > 1 || json.at("standardise").get<bool>();
    Encoding encoding;
    encoding.version_ = version;
    const auto& target = json.at("target");
    target.at("name").get_to(encoding.target_);
    target.at("kind").get_to(encoding.target_kind_);
    target.at("column").get_to(encoding.target_column_);
    target.at("classes").get_to(encoding.classes_);
    target.at("values").get_to(encoding.class_values_);
    encoding.target_mean_ = target.value("mean", 0.0);
    encoding.target_deviation_ = target.value("deviation", 0.0);
    const auto facts = json.value("facts", nlohmann::json::object());  // missing in earlier versions
    encoding.weights_ = facts.value("weights", "");
    encoding.trials_ = facts.value("trials", false);
    encoding.offset_ = facts.value("offset", "");
    encoding.exposure_ = facts.value("exposure", false);
    encoding.mean_exposure_ = facts.value("mean_exposure", 1.0);
    encoding.scale_name_ = facts.value("scale", "");
    encoding.shape_name_ = facts.value("shape", "");
    encoding.target_values_ = facts.value("target_values", std::vector<double>());
    encoding.target_weights_ = facts.value("target_weights", std::vector<double>());
    encoding.times_ = facts.value("times", false);
    encoding.event_ = facts.value("event", "");
    encoding.event_weight_ = facts.value("events", 0.0);
    encoding.class_weights_ = facts.value("class_weights", std::vector<double>());
    encoding.stored_rows_ = facts.value("stored_rows", RowId{0});
    encoding.count_part_ = facts.value("hurdle", CountPart::all);
    encoding.zeros_ = facts.value("zeros", RowId{0});
    encoding.total_weight_ = facts.value("total", json.at("rows").get<double>());
    encoding.whole_weights_ = facts.value("whole", true);
    json.at("intercept").get_to(encoding.intercept_);
    json.at("missing").get_to(encoding.missing_);
    json.at("rows").get_to(encoding.rows_);
    json.at("dropped").get_to(encoding.dropped_);
    for (const auto& entry : json.at("columns")) {
      EncodedColumn column;
      entry.at("name").get_to(column.name);
      entry.at("kind").get_to(column.kind);
      if (column.kind == ColumnKind::text) {
        entry.at("levels").get_to(column.levels);
        column.merged = entry.value("merged", "");
        column.rare = entry.value("rare", std::vector<std::string>());
      } else {
        entry.at("minimum").get_to(column.minimum);
        entry.at("maximum").get_to(column.maximum);
        entry.at("mean").get_to(column.mean);
        entry.at("deviation").get_to(column.deviation);
        if (standardised && column.kind == ColumnKind::numeric) {
          column.shift = entry.value("shift", column.mean);
          column.scale = entry.value("scale", column.deviation);
        }
      }
      encoding.columns_.push_back(std::move(column));
    }
    encoding.by_formula_ = json.contains("terms");
    if (encoding.by_formula_)
      for (const auto& entry : json.at("terms")) encoding.terms_.push_back(term_of(entry));
    encoding.check();
    encoding.derive_features();
    return encoding;
  } catch (const nlohmann::json::exception& error) {
    throw InputError(fmt::format("the encoding cannot be read ({}); make it again from the table", error.what()));
  }
}

}  // namespace flymc
