// Small tables with groups, for tests.
#pragma once

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "flymc/groups/group_sampler.hpp"
#include "flymc/model/logistic.hpp"
#include "flymc/model/poisson.hpp"

namespace flymc::grouped {

inline const Model logistic(Logistic{}, Prior::normal(0.0, 2.5)), poisson(Poisson{}, Prior::normal(0.0, 2.5));

struct Shape {
  RowId rows = 200;
  Group groups = 12, others = 0;  // others: the groups of a second, crossed factor; 0: there is none
  bool ordered = true;            // whether rows are in the order of the first factor
  double intercept = 0.0, sd = 0.7;
  Group regions = 0;   // the groups of a last factor, within which those of the first one lie
  bool sizes = false;  // whether rows have the size of a group
};

// A row has the features 1, x and t, where t is between -1 and 1, and perhaps the size of its group of the second factor,
// or of the first one, if there is no second. Targets are from the family, at predictors of effects
// with standard deviation sd.
inline Store table(const Model& model, const Shape& shape, std::uint64_t seed = 1) {
  const PhiloxRandom random(seed, 0, 0);
  std::uint64_t next = 0;
  const auto normal = [&] {
    double z = 0.0;
    random.normals(Purpose::simulate, next++, {&z, 1});
    return z;
  };
  std::vector<GroupFactor> factors = {{"first", shape.groups}};
  if (shape.others > 0) factors.push_back({"second", shape.others});
  std::vector<double> first(shape.groups), second(shape.others);
  for (double& u : first) u = shape.sd * normal();
  for (double& u : second) u = shape.sd * normal();
  std::vector<double> region(shape.regions), size(shape.sizes ? std::max(shape.groups, shape.others) : 0);
  for (double& u : region) u = shape.sd * normal();
  for (double& own : size) own = normal();
  if (shape.regions > 0) factors.push_back({"region", shape.regions});
  std::vector<std::string> features = {"intercept", "x", "t"};
  if (shape.sizes) features.emplace_back("size");
  StoreBuilder builder(Layout(features), {}, factors);
  for (RowId row = 0; row < shape.rows; ++row) {
    const double x = normal(), t = std::sin(static_cast<double>(row));
    std::vector<Group> groups = {shape.ordered ? static_cast<Group>(row * shape.groups / shape.rows)
                                               : static_cast<Group>(row * 7919 % shape.groups)};
    double eta = shape.intercept + 0.4 * x + first[groups[0]];
    if (shape.others > 0) {
      groups.push_back(static_cast<Group>(row * row % shape.others));
      eta += second[groups[1]];
    }
    std::vector<double> cells = {1.0, x, t};
    if (shape.sizes) {
      cells.push_back(size[groups.back()]);
      eta += 0.3 * cells.back();
    }
    if (shape.regions > 0) {
      groups.push_back(groups[0] % shape.regions);
      eta += region[groups.back()];
    }
    builder.append(cells, model.family().simulate({&eta, 1}, random, 1000000 + static_cast<std::uint64_t>(row)),
                   groups);
  }
  return builder.finish();
}

// The log posterior at theta, up to a constant, from all rows.
inline double log_posterior(const GroupedRows& rows, const Vector& theta) {
  const GroupLayout& layout = rows.layout();
  const Store& store = rows.store();
  const GroupModel& model = rows.model();
  const Effects at = effects_of(layout, theta);
  double sum = model.model.term().log_density(at.border);
  for (RowId row = 0; row < store.rows(); ++row) {
    double eta = store.facts(row).offset;
    for (Index j = 0; j < layout.border(); ++j) eta += at.border[j] * store.value(row, j);
    for (std::size_t f = 0; f < layout.factors(); ++f)
      for (Index j = 0; j < layout.width(f); ++j) {
        const Multiplied& by = model.effects[f].multiplies[static_cast<std::size_t>(j)];
        const double w = by.feature == Multiplied::constant ? 1.0 : by.scale * store.value(row, by.feature) + by.shift;
        eta += w * at.groups[f](static_cast<Index>(store.group(row, model.effects[f].factor)), j);
      }
    const RowFacts facts = store.facts(row);
    double value = 0.0;
    model.model.family().likelihood({{&facts.target, 1}, {&facts.weight, 1}}, {&eta, 1}, {&value, 1}, {}, {});
    sum += value;
  }
  for (std::size_t f = 0; f < layout.factors(); ++f)
    sum += log_density_of_scales(layout.scales(theta, f), layout.width(f), at.groups[f].transpose() * at.groups[f],
                                 static_cast<double>(layout.groups(f)), model.effects[f].prior,
                                 unit_of_effects(model.model, at.border));
  return sum;
}

}  // namespace flymc::grouped
