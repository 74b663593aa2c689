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
    if (layout_.groups(f) >= layout_.groups(leading_)) leading_ = f;
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
    exchanges_.emplace_back(model, f, layout_, store, *index_[f]);
  }
  nestings_ = find_nestings(model, layout_, store);
  carrier_.resize(factors());
  carried_.resize(factors());
  for (std::size_t n = 0; n < nestings_.size(); ++n) {
    std::optional<std::size_t>& carrier = carrier_[nestings_[n].outer];
    if (!carrier || layout_.groups(nestings_[n].inner) >= layout_.groups(nestings_[*carrier].inner)) carrier = n;
  }
  for (std::size_t f = 0; f < factors(); ++f)
    if (is_carried(f)) carried_[carrier(f).inner].push_back(f);
}

void GroupedRows::seen(const Effects& at, std::size_t f, Index group, double* out) const {
  const RowMatrix& own = at.groups[f];
  for (Index j = 0; j < own.cols(); ++j) out[j] = own(group, j);
  for (const std::size_t outer : carried_[f]) {
    const Nesting& nesting = carrier(outer);
    const Group parent = nesting.parent[static_cast<std::size_t>(group)];
    for (std::size_t l = 0; l < nesting.effect.size(); ++l)
      out[nesting.effect[l]] += at.groups[outer](static_cast<Index>(parent), static_cast<Index>(l));
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
