// Medians of residuals, of the table and of targets that the family draws.
#include "flymc/run/residuals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "flymc/core/random.hpp"

namespace flymc {
namespace {

struct Residual {
  double size, weight;
};

// Half of the weight has larger residuals.
double median_size(std::vector<Residual> residuals) {
  std::ranges::sort(residuals, {}, &Residual::size);
  double half = 0.0;
  for (const Residual& r : residuals) half += 0.5 * r.weight;
  for (const Residual& r : residuals)
    if ((half -= r.weight) <= 0.0) return r.size;
  return residuals.back().size;
}

}  // namespace

// The median of |y - mean| of n rows is good to about 1.2 / sqrt(n), 3 % of 2,000 and 6 % of 400, and the limit lies
// five standard errors of the ratio away. Residuals at the mode are smaller by sqrt(1 - D / N) than around the true
// theta.
std::vector<std::string> residual_warnings(const Model& model, const Store& store, const Vector& theta) {
  constexpr RowId most_rows = 2000, fewest_rows = 400, rows_per_coefficient = 10;
  constexpr double limit = 1.5;
  const BatchedFamily& family = model.family();
  const auto coefficients = static_cast<RowId>(theta.size());
  if (family.target_classes() > 0 || store.rows() < std::max(fewest_rows, rows_per_coefficient * coefficients))
    return {};
  // Evenly spaced rows, closer together where many do not count.
  std::vector<RowId> rows;
  for (RowId count = std::min(store.rows(), most_rows); rows.size() < static_cast<std::size_t>(fewest_rows);
       count = std::min(store.rows(), 8 * count)) {
    rows.clear();
    for (RowId i = 0; i < count && rows.size() < static_cast<std::size_t>(most_rows); ++i)
      if (const RowId row = i * store.rows() / count; store.facts(row).weight > 0.0) rows.push_back(row);
    if (count == store.rows()) break;
  }
  double weights = 0.0, squares = 0.0;
  std::vector<Residual> found, expected;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const RowFacts facts = store.facts(rows[i]);
    double eta = 0.0, mean = 0.0;
    store.predict({&rows[i], 1}, by_predictor(theta, 1), {&eta, 1});
    family.mean({&eta, 1}, {&mean, 1});
    const double drawn = family.simulate({&eta, 1}, PhiloxRandom(1, 0, static_cast<std::uint64_t>(i)), 0);
    found.push_back({std::abs(facts.target - mean), facts.weight});
    expected.push_back({std::abs(drawn - mean), facts.weight});
    weights += facts.weight;
    squares += facts.weight * facts.weight;
  }
  // As many rows of equal weight would know as much.
  if (!(weights * weights >= static_cast<double>(fewest_rows) * squares)) return {};
  const double shrinkage = std::sqrt(1.0 - static_cast<double>(coefficients) / static_cast<double>(store.rows()));
  const double size = median_size(std::move(found)), usual = shrinkage * median_size(std::move(expected)),
               ratio = size / usual;
  if (ratio < limit && ratio > 1.0 / limit) return {};
  return {
      fmt::format("the scale of the residuals does not fit: half of them are larger than {:.3g}, where {:.3g} is to be "
                  "expected, so "
                  "that intervals are too {}; give a sigma that is {:.2g} times as large{}",
                  size, usual, ratio > 1.0 ? "narrow" : "wide", ratio,
                  ratio > 1.0 ? ", or a wider prior if that keeps the coefficients from explaining the target" : "")};
}

}  // namespace flymc
