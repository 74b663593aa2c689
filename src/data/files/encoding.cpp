// The features that columns become, and coefficients on the scale of either.
#include "flymc/data/files/encoding.hpp"

#include <fmt/format.h>

#include <set>

#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/core/names.hpp"

namespace flymc {

void Encoding::derive_features() {
  feature_names_.clear();
  cell_levels_.clear();
  std::vector<double> shift, scale;
  const auto add = [&](std::string name, double s, double d) {
    feature_names_.push_back(std::move(name));
    shift.push_back(s);
    scale.push_back(d);
  };
  if (intercept_) add("intercept", 0.0, 1.0);
  if (intercept_) cell_levels_.push_back(0);
  for (Index k = 0; k < cuts(); ++k) {
    const auto at = static_cast<std::size_t>(k);
    add(fmt::format("cutpoint[{}|{}]", classes_[at], classes_[at + 1]), 0.0, 1.0);
  }
  if (cuts() > 0) cell_levels_.push_back(cuts());
  for (const auto& column : columns_) {
    const Index features = column.kind == ColumnKind::text ? static_cast<Index>(column.levels.size()) - 1 : 1;
    if (features > 0) cell_levels_.push_back(features > 1 ? features : 0);
    if (column.kind != ColumnKind::text) add(column.name, column.shift, column.scale);
    for (std::size_t l = 1; l < column.levels.size(); ++l)
      add(fmt::format("{}[{}]", column.name, column.levels[l]), 0.0, 1.0);
  }
  if (ends_with_parameter()) {
    add(target_is_feature() ? scale_name_ : shape_name_, 0.0, 1.0);
    cell_levels_.push_back(0);
  }
  if (feature_names_.size() <= 2 * cell_levels_.size()) cell_levels_.assign(feature_names_.size(), 0);
  std::set<std::string_view> seen;
  for (const auto& name : feature_names_)
    if (!seen.insert(name).second)
      throw InputError(fmt::format("two features would be named '{}'; rename a column or leave it out ({})",
                                   on_one_line(name), mention("exclude")));
  shift_ = Eigen::Map<const Vector>(shift.data(), static_cast<Index>(shift.size()));
  scale_ = Eigen::Map<const Vector>(scale.data(), static_cast<Index>(scale.size()));
}

std::vector<std::string> Encoding::categorical() const {
  std::vector<std::string> names;
  for (const auto& column : columns_)
    if (column.kind == ColumnKind::text) names.push_back(column.name);
  if (target_column_ == ColumnKind::text) names.push_back(target_);
  return names;
}

namespace {

// Changes the coefficients of each predictor, which come block after block; what follows them stays.
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
    block.head(cuts()).array() += moved;
  });
}

Vector Encoding::from_original(const Vector& original, Index predictors) const {
  return with_blocks(original, predictors, shift_.size(), [&](auto block) {
    const double moved = centred() ? block.dot(shift_) : 0.0;
    if (intercept_) block[0] += moved;
    block.head(cuts()).array() -= moved;
    block = (block.array() * scale_.array()).matrix();
  });
}

}  // namespace flymc
