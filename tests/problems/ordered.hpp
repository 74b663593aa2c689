// Rows of ordered categories, drawn at given cut points and coefficients.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "flymc/data/cut_rows.hpp"
#include "problems/problems.hpp"

namespace flymc::problems {

// The first parameters are the `cuts` cut points; x has no intercept. Each row's category is that of x'beta plus an
// error of the logistic distribution. Empty if a category has no rows.
inline std::optional<Problem> ordered_problem(const Prior& prior, const RowMatrix& x, Index cuts,
                                              const Vector& parameters, std::uint64_t seed) {
  const PhiloxRandom random(seed, 1001, 0);
  std::vector<std::string> columns;
  for (Index j = 0; j < cuts + x.cols(); ++j) columns.push_back(std::to_string(j));
  StoreBuilder builder(columns);
  OrderedTarget target{std::vector<double>(static_cast<std::size_t>(cuts + 1), 0.0)};
  for (Index i = 0; i < x.rows(); ++i) {
    const double u = random.uniform(Purpose::simulate, static_cast<std::uint64_t>(i));
    const double latent = x.row(i).dot(parameters.tail(x.cols())) + std::log(u) - std::log1p(-u);
    Index category = 0;
    while (category < cuts && latent > parameters[category]) ++category;
    target.category_weights[static_cast<std::size_t>(category)] += 1.0;
    append_cut_rows(category, cuts + 1, {x.row(i).data(), static_cast<std::size_t>(x.cols())},
                    [&](const std::vector<double>& cells, double above) { builder.append(cells, above); });
  }
  if (std::ranges::find(target.category_weights, 0.0) != target.category_weights.end()) return std::nullopt;
  return Problem{Model(Ordinal{}, prior, std::move(target)), builder.finish(), parameters};
}

}  // namespace flymc::problems
