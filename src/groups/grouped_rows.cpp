// Copies of rows with their groups and slopes.
#include "flymc/groups/grouped_rows.hpp"

#include <algorithm>

namespace flymc {

Effects effects_of(const GroupLayout& layout, const Vector& theta) {
  Effects out{layout.coefficients(theta), {}};
  for (std::size_t f = 0; f < layout.factors(); ++f) out.groups.emplace_back(layout.effects(theta, f));
  return out;
}

GroupedRows::GroupedRows(const Store& store, const GroupModel& model, const Execution& execution)
    : store_(&store), model_(&model), layout_(model, store), index_(model.effects.size()) {
  for (std::size_t f = 0; f < model.effects.size(); ++f) {
    for (std::size_t other = 0; other < f; ++other)
      if (model.effects[other].factor == model.effects[f].factor) index_[f] = index_[other];
    if (!index_[f]) index_[f] = std::make_shared<const GroupIndex>(store, model.effects[f].factor, execution);
    if (layout_.groups(f) > layout_.groups(leading_)) leading_ = f;
    std::vector<Index>& places = slope_of_.emplace_back();
    for (const Multiplied& by : model.effects[f].multiplies) {
      if (by.feature == Multiplied::constant) {
        places.push_back(-1);
        continue;
      }
      auto found = std::ranges::find(slopes_, by);
      if (found == slopes_.end()) found = slopes_.insert(slopes_.end(), by);
      places.push_back(found - slopes_.begin());
    }
  }
}

Matrix GroupedRows::weights_of(const Vector& border) const {
  Matrix out = Matrix::Zero(border.size(), 1 + static_cast<Index>(slopes_.size()));
  out.col(0) = border;
  for (std::size_t s = 0; s < slopes_.size(); ++s) {
    const Index column = static_cast<Index>(s) + 1;
    out(slopes_[s].feature, column) = slopes_[s].scale;
    if (slopes_[s].shift != 0.0) out(model_->intercept, column) += slopes_[s].shift;
  }
  return out;
}

void GroupedRows::fetch(std::span<const RowId> rows, BoundRows& out) const {
  out.fetch(*store_, rows);
  out.group.clear();
  for (const RowId row : rows)
    for (const GroupEffects& own : model_->effects) out.group.push_back(store_->group(row, own.factor));
  out.slopes.clear();
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (const Multiplied& by : slopes_) out.slopes.push_back(by.scale * out.x.value(i, by.feature) + by.shift);
}

double GroupedRows::effect(const BoundRows& rows, std::size_t i, std::size_t f, const RowMatrix& groups) const {
  const Index g = static_cast<Index>(rows.group[i * factors() + f]);
  const double* const slopes = rows.slopes.data() + i * slopes_.size();
  double sum = 0.0;
  for (Index j = 0; j < groups.cols(); ++j) sum += multiplied(f, j, slopes) * groups(g, j);
  return sum;
}

double GroupedRows::effect(const BoundRows& rows, std::size_t i, const Effects& at) const {
  double sum = 0.0;
  for (std::size_t f = 0; f < factors(); ++f) sum += effect(rows, i, f, at.groups[f]);
  return sum;
}

void GroupedRows::project(const BoundRows& rows, const Effects& at, std::span<double> out) const {
  rows.x.project(at.border, out);
  for (std::size_t i = 0; i < rows.size(); ++i) out[i] += effect(rows, i, at);
}

}  // namespace flymc
