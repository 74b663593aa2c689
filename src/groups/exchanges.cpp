// Which columns are constant within groups, and which groups lie within others.
#include "flymc/groups/exchanges.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "small_matrices.hpp"

namespace flymc {
namespace {

// The features that do not vary within a few of the groups.
std::vector<Index> perhaps_constant(const GroupModel& model, const Store& store, const GroupIndex& index) {
  constexpr Group looked_at = 200;
  std::vector<Index> out;
  for (Index j = 0; j < store.features(); ++j)
    if (j != model.intercept) out.push_back(j);
  const Group step = std::max<Group>(1, index.groups() / looked_at);
  for (Group g = 0; g < index.groups() && !out.empty(); g += step) {
    const GroupRows rows = index.rows(g);
    if (rows.size() < 2) continue;
    const RowId first = rows[0], last = rows[rows.size() - 1];
    std::erase_if(out, [&](Index j) { return store.value(first, j) != store.value(last, j); });
  }
  return out;
}

// The value of a feature in every group, if it is constant within each of them; 0 in groups without rows.
std::vector<std::optional<std::vector<double>>> values_within(const std::vector<Index>& features, std::size_t factor,
                                                              const Store& store) {
  const Group groups = store.factors()[factor].groups;
  std::vector<std::optional<std::vector<double>>> out(features.size(), std::vector<double>(groups));
  std::vector<bool> seen(groups, false);
  // The first column is 0, because it gets the offsets of the rows.
  Matrix units = Matrix::Zero(store.features(), 1 + static_cast<Index>(features.size()));
  for (std::size_t c = 0; c < features.size(); ++c) units(features[c], static_cast<Index>(c) + 1) = 1.0;
  RowMatrix values;
  for (std::size_t b = 0; b < store.blocks(); ++b) {
    const Block& block = store.block(b);
    const auto group = block.groups(factor);
    block.predict(units, values);
    bool varies = true;  // every feature
    for (Index i = 0; i < block.rows(); ++i) {
      const Group g = group[static_cast<std::size_t>(i)];
      for (std::size_t c = 0; c < features.size(); ++c) {
        if (!out[c]) continue;
        varies = false;
        double& own = (*out[c])[g];
        const double value = values(i, static_cast<Index>(c) + 1);
        if (!seen[g])
          own = value;
        else if (own != value)
          out[c].reset();
      }
      seen[g] = true;
    }
    if (varies) break;
  }
  return out;
}

}  // namespace

Exchanges::Exchanges(const GroupModel& model, std::size_t f, const GroupLayout& layout, const Store& store,
                     const GroupIndex& index)
    : groups_(layout.groups(f)), coefficients_(layout.border(), 0), products_(0, 0) {
  const GroupEffects& own = model.effects[f];
  const auto unit = [&](Index feature) { return Vector(Vector::Unit(layout.border(), feature)); };
  for (Index j = 0; j < own.width(); ++j) {
    const Multiplied& by = own.multiplies[static_cast<std::size_t>(j)];
    if (by.feature == Multiplied::constant) {
      if (model.intercept >= 0) add({j}, unit(model.intercept));
      continue;
    }
    Vector taken = by.scale * unit(by.feature);
    if (by.shift != 0.0) taken += by.shift * unit(model.intercept);
    add({j}, taken);
  }
  const auto constant = std::ranges::find(own.multiplies, Multiplied::constant, &Multiplied::feature);
  if (constant == own.multiplies.end()) return;
  // Exchanges are drawn together, and keep a number for each group: too many would cost more than they are worth.
  constexpr std::size_t most = 64, most_numbers = std::size_t{1} << 26;
  std::vector<Index> features = perhaps_constant(model, store, index);
  features.resize(std::min({features.size(), most, most_numbers / std::max<std::size_t>(1, index.groups())}));
  if (features.empty()) return;
  auto values = values_within(features, own.factor, store);
  for (std::size_t c = 0; c < features.size(); ++c)
    if (values[c]) add({constant - own.multiplies.begin(), std::move(*values[c])}, unit(features[c]));
}

// Leaves out an exchange that others of the same effect can make together.
void Exchanges::add(One exchange, const Vector& coefficients) {
  const Index m = size();
  each_.push_back(std::move(exchange));
  Matrix products = Matrix::Zero(m + 1, m + 1);
  products.topLeftCorner(m, m) = products_;
  std::vector<Index> same;
  for (Index e = 0; e <= m; ++e) {
    double sum = 0.0;
    for (Index g = 0; g < groups_; ++g) sum += share(e, g) * share(m, g);
    products(e, m) = products(m, e) = sum;
    if (effect(e) == effect(m)) same.push_back(e);
  }
  constexpr double least = 1e-5;  // of what others leave of an exchange
  const Vector lengths = products(same, same).diagonal().cwiseSqrt();
  const Matrix scaled =
      lengths.cwiseInverse().asDiagonal() * products(same, same) * lengths.cwiseInverse().asDiagonal();
  const Eigen::LLT<Matrix> factor(scaled);
  if (!(lengths.minCoeff() > 0.0) || factor.info() != Eigen::Success ||
      factor.matrixLLT().diagonal().minCoeff() < least) {
    each_.pop_back();
    return;
  }
  products_ = std::move(products);
  coefficients_.conservativeResize(Eigen::NoChange, m + 1);
  coefficients_.col(m) = coefficients;
}

Vector Exchanges::sums(const RowMatrix& effects) const {
  Vector out = Vector::Zero(size());
  for (Index e = 0; e < size(); ++e)
    for (Index g = 0; g < groups_; ++g) out[e] += share(e, g) * effects(g, effect(e));
  return out;
}

namespace {

// For each group of `inner` the group of `outer` that has its rows; none if some group's rows are in several.
std::optional<std::vector<Group>> parents(const Store& store, std::size_t outer, std::size_t inner) {
  constexpr Group none = std::numeric_limits<Group>::max();
  std::vector<Group> out(store.factors()[inner].groups, none);
  for (std::size_t b = 0; b < store.blocks(); ++b) {
    const auto above = store.block(b).groups(outer), own = store.block(b).groups(inner);
    for (std::size_t i = 0; i < own.size(); ++i) {
      Group& parent = out[own[i]];
      if (parent == none) parent = above[i];
      if (parent != above[i]) return std::nullopt;
    }
  }
  // No row tells where a group without rows belongs, and it does not matter.
  std::ranges::replace(out, none, Group{0});
  return out;
}

// The effect of `inner` that multiplies the same number, for each effect of `outer`.
std::optional<std::vector<Index>> same_effects(const GroupEffects& outer, const GroupEffects& inner) {
  std::vector<Index> out;
  for (const Multiplied& by : outer.multiplies) {
    const auto found = std::ranges::find(inner.multiplies, by);
    if (found == inner.multiplies.end()) return std::nullopt;
    out.push_back(found - inner.multiplies.begin());
  }
  return out;
}

}  // namespace

std::vector<Nesting> find_nestings(const GroupModel& model, const GroupLayout& layout, const Store& store) {
  std::vector<Nesting> out;
  for (std::size_t outer = 0; outer < layout.factors(); ++outer)
    for (std::size_t inner = 0; inner < layout.factors(); ++inner) {
      const Index fewer = layout.groups(outer), more = layout.groups(inner);
      if (inner == outer || fewer > more || (fewer == more && outer > inner)) continue;
      auto effect = same_effects(model.effects[outer], model.effects[inner]);
      if (!effect) continue;
      auto parent = parents(store, model.effects[outer].factor, model.effects[inner].factor);
      if (!parent) continue;
      Nesting found{outer, inner, std::move(*parent), std::move(*effect), {}, {}};
      found.begin.assign(static_cast<std::size_t>(fewer) + 1, 0);
      for (const Group g : found.parent) ++found.begin[g + 1];
      std::partial_sum(found.begin.begin(), found.begin.end(), found.begin.begin());
      found.children.resize(found.parent.size());
      std::vector<std::size_t> next(found.begin.begin(), found.begin.end() - 1);
      for (Group g = 0; g < found.parent.size(); ++g) found.children[next[found.parent[g]]++] = g;
      out.push_back(std::move(found));
    }
  return out;
}

OuterShift::OuterShift(const Nesting& nesting, const Matrix& outer_covariance, const Matrix& inner_covariance)
    : nesting_(nesting),
      outer_(inverse_of(outer_covariance)),
      inner_(inverse_of(inner_covariance)),
      seen_(inner_(nesting.effect, nesting.effect)) {}

Matrix OuterShift::precision(Index group) const {
  return outer_ + static_cast<double>(nesting_.of(group).size()) * seen_;
}

Vector OuterShift::mean(Index group, const Eigen::Ref<const RowMatrix>& outer,
                        const Eigen::Ref<const RowMatrix>& inner) const {
  Vector sum = Vector::Zero(inner.cols());
  for (const Group g : nesting_.of(group)) sum += inner.row(static_cast<Index>(g)).transpose();
  const Vector slope = Vector((inner_ * sum)(nesting_.effect)) - outer_ * outer.row(group).transpose();
  return precision(group).llt().solve(slope);
}

Vector OuterShift::draw(Index group, const Vector& mean, Vector normals) const {
  precision(group).llt().matrixU().solveInPlace(normals);
  return mean + normals;
}

}  // namespace flymc
