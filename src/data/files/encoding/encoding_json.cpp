// An encoding as JSON. Doubles are written with the fewest digits that read back to the same bits.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "flymc/core/error.hpp"
#include "flymc/core/nesting.hpp"
#include "flymc/data/files/encoding/encoding.hpp"
#include "group_columns.hpp"

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

// Most of what is known of the target is among the facts.
TargetEncoding target_of(const nlohmann::json& entry, const nlohmann::json& facts) {
  TargetEncoding target;
  entry.at("name").get_to(target.name);
  entry.at("kind").get_to(target.kind);
  entry.at("column").get_to(target.column);
  entry.at("classes").get_to(target.classes);
  entry.at("values").get_to(target.class_values);
  target.mean = entry.value("mean", 0.0);
  target.deviation = entry.value("deviation", 0.0);
  target.trials = facts.value("trials", false);
  target.scale = facts.value("scale", "");
  target.shape = facts.value("shape", "");
  target.values = facts.value("target_values", std::vector<double>());
  target.weights = facts.value("target_weights", std::vector<double>());
  target.times = facts.value("times", false);
  target.event = facts.value("event", "");
  target.seen_weight = facts.value("events", 0.0);
  target.class_weights = facts.value("class_weights", std::vector<double>());
  target.part = facts.value("hurdle", CountPart::all);
  target.zeros = facts.value("zeros", RowId{0});
  return target;
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
  if (target_.trials) facts["trials"] = true;
  if (!offset_.empty()) facts["offset"] = offset_;
  if (exposure_) facts["exposure"] = true;
  if (mean_exposure_ != 1.0) facts["mean_exposure"] = mean_exposure_;
  if (target_.is_feature()) facts["scale"] = target_.scale;
  if (target_.has_shape()) facts["shape"] = target_.shape;
  if (!target_.values.empty()) facts["target_values"] = target_.values, facts["target_weights"] = target_.weights;
  if (target_.times) facts["times"] = true;
  if (!target_.event.empty()) facts["event"] = target_.event, facts["events"] = target_.seen_weight;
  if (target_.cuts() > 0) facts["class_weights"] = target_.class_weights, facts["stored_rows"] = stored_rows_;
  if (target_.part != CountPart::all) facts["hurdle"] = target_.part, facts["zeros"] = target_.zeros;
  nlohmann::ordered_json all = {{"version", version_},
                                {"facts", std::move(facts)},
                                {"target",
                                 {{"name", target_.name},
                                  {"kind", target_.kind},
                                  {"column", target_.column},
                                  {"classes", target_.classes},
                                  {"values", target_.class_values},
                                  {"mean", target_.mean},
                                  {"deviation", target_.deviation}}},
                                {"intercept", intercept_},
                                {"missing", missing_},
                                {"rows", rows_},
                                {"dropped", dropped_},
                                {"columns", std::move(columns)}};
  if (by_formula_)
    for (const EncodedTerm& term : terms_) all["terms"].push_back(to_json_of(term));
  if (by_formula_ && terms_.empty()) all["terms"] = nlohmann::ordered_json::array();
  if (!factors_.empty()) all["factors"] = factors_, all["effects"] = effects_;
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
    const auto facts = json.value("facts", nlohmann::json::object());  // missing in earlier versions
    encoding.weights_ = facts.value("weights", "");
    encoding.offset_ = facts.value("offset", "");
    encoding.exposure_ = facts.value("exposure", false);
    encoding.mean_exposure_ = facts.value("mean_exposure", 1.0);
    encoding.stored_rows_ = facts.value("stored_rows", RowId{0});
    encoding.total_weight_ = facts.value("total", json.at("rows").get<double>());
    encoding.whole_weights_ = facts.value("whole", true);
    json.at("intercept").get_to(encoding.intercept_);
    encoding.target_ = target_of(json.at("target"), facts);
    encoding.target_.has_intercept = encoding.intercept_;
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
    encoding.factors_ = json.value("factors", std::vector<EncodedFactor>());
    encoding.effects_ = json.value("effects", std::vector<EncodedEffects>());
    encoding.check();
    mark_columns_of_groups(encoding.terms_, encoding.factors_, encoding.columns_);
    encoding.derive_features();
    return encoding;
  } catch (const nlohmann::json::exception& error) {
    throw InputError(fmt::format("the encoding cannot be read ({}); make it again from the table", error.what()));
  }
}

}  // namespace flymc
