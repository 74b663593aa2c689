// Medians of residuals, of the table and of targets that the family draws.
#include "flymc/run/residuals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "flymc/core/random.hpp"

namespace flymc {
namespace {

double median_size(std::vector<double> residuals) {
  const auto middle = residuals.begin() + static_cast<std::ptrdiff_t>(residuals.size() / 2);
  std::nth_element(residuals.begin(), middle, residuals.end(),
                   [](double a, double b) { return std::abs(a) < std::abs(b); });
  return std::abs(*middle);
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
  const RowId count = std::min(store.rows(), most_rows);
  std::vector<double> found, expected;
  for (RowId i = 0; i < count; ++i) {
    const RowId row = i * store.rows() / count;
    if (store.facts(row).weight == 0.0) continue;
    double eta = 0.0, mean = 0.0;
    store.predict({&row, 1}, by_predictor(theta, 1), {&eta, 1});
    family.mean({&eta, 1}, {&mean, 1});
    found.push_back(store.target(row) - mean);
    expected.push_back(family.simulate({&eta, 1}, PhiloxRandom(1, 0, static_cast<std::uint64_t>(i)), 0) - mean);
  }
  if (found.size() < static_cast<std::size_t>(fewest_rows)) return {};
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
