// Derives features from columns, and converts coefficients between the two scales.
#include "flymc/data/files/encoding/encoding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "column_checks.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/names.hpp"

namespace flymc {

bool EncodedTerm::coded() const { return std::ranges::any_of(factors, &TermFactor::coded); }
bool EncodedTerm::number() const { return !std::ranges::all_of(factors, &TermFactor::coded); }

void Encoding::make_terms_of_columns() {
  terms_.clear();
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    const EncodedColumn& column = columns_[j];
    EncodedTerm term{column.name, {{j}}};
    if (column.kind == ColumnKind::text) {
      term.factors[0].coding = TermFactor::Coding::but_reference;
      for (std::uint32_t l = 1; l < column.levels.size(); ++l) term.levels.push_back({l});
      term.shift.assign(term.levels.size(), 0.0);
      term.scale.assign(term.levels.size(), 1.0);
    } else {
      term.levels = {{}};
      term.shift = {column.shift};
      term.scale = {column.scale};
    }
    terms_.push_back(std::move(term));
  }
}

// Such as origin[JFK]:log(distance).
std::string Encoding::feature_name(const EncodedTerm& term, std::span<const std::uint32_t> levels) const {
  std::string name;
  std::size_t at = 0;
  for (const TermFactor& factor : term.factors) {
    const EncodedColumn& column = columns_[factor.column];
    if (!name.empty()) name += ":";
    if (!factor.coded())
      name += FormulaFactor{column.name, factor.function, factor.power}.text();
    else
      name += fmt::format("{}[{}]", column.name, column.levels[levels[at++]]);
  }
  return name;
}

void Encoding::derive_features() {
  if (!by_formula_) make_terms_of_columns();
  feature_names_.clear();
  terms_of_features_.clear();
  cell_levels_.clear();
  std::vector<double> shift, scale;
  const auto add = [&](std::string name, const std::string& term, double s, double d) {
    feature_names_.push_back(std::move(name));
    terms_of_features_.push_back(term);
    shift.push_back(s);
    scale.push_back(d);
  };
  if (intercept_) add("intercept", "intercept", 0.0, 1.0);
  if (intercept_) cell_levels_.push_back(0);
  for (Index k = 0; k < target_.cuts(); ++k) {
    const auto at = static_cast<std::size_t>(k);
    add(fmt::format("cutpoint[{}|{}]", target_.classes[at], target_.classes[at + 1]), "cutpoint", 0.0, 1.0);
  }
  if (target_.cuts() > 0) cell_levels_.push_back(target_.cuts());
  for (const EncodedTerm& term : terms_) {
    const std::size_t first = term.but_first ? 1 : 0;
    const auto features = static_cast<Index>(term.levels.size() - std::min(first, term.levels.size()));
    // Negative for a code with a number of its own, 0 for a number.
    if (features > 0) cell_levels_.push_back(features == 1 ? 0 : term.number() ? -features : features);
    for (std::size_t l = first; l < term.levels.size(); ++l)
      add(feature_name(term, term.levels[l]), term.name, term.shift[l - first], term.scale[l - first]);
  }
  if (target_.ends_rows()) {
    const std::string& name = target_.is_feature() ? target_.scale : target_.shape;
    add(name, name, 0.0, 1.0);
    cell_levels_.push_back(0);
  }
  if (feature_names_.size() <= 2 * cell_levels_.size()) cell_levels_.assign(feature_names_.size(), 0);
  std::set<std::string_view> seen;
  for (const auto& name : feature_names_)
    if (!seen.insert(name).second)
      throw InputError(fmt::format("two features would be named '{}'; rename a column or leave it out {}",
                                   on_one_line(name), how_to_leave_out(by_formula_)));
  shift_ = Eigen::Map<const Vector>(shift.data(), static_cast<Index>(shift.size()));
  scale_ = Eigen::Map<const Vector>(scale.data(), static_cast<Index>(scale.size()));
}

std::vector<std::string> Encoding::categorical() const {
  std::vector<std::string> names;
  for (const auto& column : columns_)
    if (column.kind == ColumnKind::text) names.push_back(column.name);
  if (target_.column == ColumnKind::text) names.push_back(target_.name);
  return names;
}

namespace {

// Changes the coefficients of each predictor, which are in blocks; the rest of theta is unchanged.
template <class Change>
Vector with_blocks(Vector theta, Index predictors, Index features, const Change& change) {
  if (predictors < 0 || theta.size() < predictors * features)
    throw InputError(fmt::format("{} coefficients are not {} blocks of {}", theta.size(), predictors, features));
  for (Index k = 0; k < predictors; ++k) change(theta.segment(k * features, features));
  return theta;
}

}  // namespace

// Shifts are zero without an intercept.
Vector Encoding::to_original(const Vector& theta, Index predictors) const {
  return with_blocks(theta, predictors, shift_.size(), [&](auto block) {
    block = (block.array() / scale_.array()).matrix();
    const double moved = centred() ? block.dot(shift_) : 0.0;
    if (intercept_) block[0] -= moved;
    block.head(target_.cuts()).array() += moved;
  });
}

Vector Encoding::from_original(const Vector& original, Index predictors) const {
  return with_blocks(original, predictors, shift_.size(), [&](auto block) {
    const double moved = centred() ? block.dot(shift_) : 0.0;
    if (intercept_) block[0] += moved;
    block.head(target_.cuts()).array() -= moved;
    block = (block.array() * scale_.array()).matrix();
  });
}

}  // namespace flymc
