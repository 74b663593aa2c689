// Compares the median size of the residuals with that of targets that the family draws.
#include "flymc/run/residuals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "flymc/core/mention.hpp"
#include "flymc/core/random.hpp"

namespace flymc {
namespace {

struct Sized {
  double size, weight;
};

// The weighted median: half of the weight has larger residuals.
double median_size(std::vector<Sized> residuals) {
  std::ranges::sort(residuals, {}, &Sized::size);
  double half = 0.0;
  for (const Sized& r : residuals) half += 0.5 * r.weight;
  for (const Sized& r : residuals)
    if ((half -= r.weight) <= 0.0) return r.size;
  return residuals.back().size;
}

constexpr RowId fewest_rows = 400;

// Evenly spaced rows with positive weight; the spacing is reduced if many rows have weight 0.
std::vector<RowId> rows_to_look_at(const Store& store, RowId most_rows) {
  std::vector<RowId> rows;
  for (RowId count = std::min(store.rows(), most_rows); rows.size() < static_cast<std::size_t>(fewest_rows);
       count = std::min(store.rows(), 8 * count)) {
    rows.clear();
    for (RowId i = 0; i < count && rows.size() < static_cast<std::size_t>(most_rows); ++i)
      if (const RowId row = i * store.rows() / count; store.facts(row).weight > 0.0) rows.push_back(row);
    if (count == store.rows()) break;
  }
  return rows;
}

struct Fitted {
  RowFacts facts;
  double eta, mean;
};

Fitted fitted(const BatchedFamily& family, const Store& store, const Vector& theta, RowId row) {
  Fitted out{store.facts(row), 0.0, 0.0};
  store.predict({&row, 1}, Arrangement(1).columns(theta), {&out.eta, 1});
  family.mean({&out.eta, 1}, {&out.mean, 1});
  return out;
}

// Pearson's statistic: the mean of (y - mean)^2 / variance, which is 1 if the family is right. For a count of variance
// v the ratio has variance 2 + 1 / v or less; this term keeps single events among many zeros from causing a warning.
std::vector<std::string> dispersion_warnings(const BatchedFamily& family, const Store& store, const Vector& theta) {
  constexpr RowId most_rows = 20000;
  constexpr double limit = 1.2, errors = 5.0;
  const bool trials = family.weight_is_trials();
  double sum = 0.0, square_errors = 0.0, weights = 0.0;
  for (const RowId row : rows_to_look_at(store, most_rows)) {
    const Fitted at = fitted(family, store, theta, row);
    // The number of times the row was observed, its trials each time, and the variance of their sum.
    const double times = trials ? 1.0 : at.facts.weight, tries = trials ? at.facts.weight : 1.0;
    const double variance = tries * *family.variance({&at.eta, 1}), residual = tries * (at.facts.target - at.mean);
    if (!(variance > 0.0) || !std::isfinite(variance)) continue;
    sum += times * residual * residual / variance;
    square_errors += times * times * (2.0 + 1.0 / variance);
    weights += times;
  }
  if (!(weights > 0.0)) return {};
  const double shrinkage = 1.0 - static_cast<double>(theta.size()) / static_cast<double>(store.rows());
  const double ratio = sum / weights / shrinkage, error = std::sqrt(square_errors) / weights;
  if ((ratio < limit && ratio > 1.0 / limit) || std::abs(ratio - 1.0) < errors * error) return {};
  return {fmt::format(
      "targets vary {:.2g} times as much around their means as those of the {} family do, so that intervals "
      "are too {}, by a factor of about {:.2g}; {}",
      ratio, family.name(), ratio > 1.0 ? "narrow" : "wide", ratio > 1.0 ? std::sqrt(ratio) : 1.0 / std::sqrt(ratio),
      ratio < 1.0 ? "the family may not be theirs"
      : family.wider().empty()
          ? "columns that explain more of them would help, and widening the intervals by that "
            "factor is a rough remedy"
          : fmt::format("choose a family that allows for it ({})", mention("family", family.wider())))};
}

// A drawn scale fits the residuals as a whole, but not their shape: a few huge residuals determine it, and most are
// then much smaller than expected. (Most residuals being larger means little, because targets may be rounded.)
std::vector<std::string> shape_warnings(const BatchedFamily& family, double size, double usual) {
  constexpr double limit = 1.0 / 1.5;
  if (size > limit * usual) return {};
  return {fmt::format(
      "the residuals do not look like those of the {} family: half of them are smaller than {:.3g} sigma, where {:.3g} "
      "is to be expected, so that a few large ones set the width of intervals; find these, or choose a family with "
      "heavier tails",
      family.name(), size, usual)};
}

}  // namespace

// The median of |y - mean| of n rows has a relative error of about 1.2 / sqrt(n), 3 % for 2,000 rows and 6 % for 400.
// The limit is five standard errors of the ratio away. Residuals at the mode are smaller by sqrt(1 - D / N) than around
// the true theta.
std::vector<std::string> residual_warnings(const Model& model, const Store& store, const Vector& theta) {
  constexpr RowId most_rows = 2000, rows_per_coefficient = 10;
  constexpr double limit = 1.5;
  const BatchedFamily& family = model.family();
  const auto coefficients = static_cast<RowId>(theta.size());
  if (model.arrangement().last_is_shared()) return {};  // a drawn shape fits the residuals
  if (family.target_classes() > 0 || store.rows() < std::max(fewest_rows, rows_per_coefficient * coefficients))
    return {};
  const double origin = 0.0;
  if (family.predictors() == 1 && family.variance({&origin, 1})) return dispersion_warnings(family, store, theta);
  const std::vector<RowId> rows = rows_to_look_at(store, most_rows);
  // A censored row would have had a larger residual.
  if (model.censored() && std::ranges::any_of(rows, [&](RowId row) { return store.target(row) == 0.0; })) return {};
  double weights = 0.0, squares = 0.0;
  std::vector<Sized> found, expected;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    auto [facts, eta, mean] = fitted(family, store, theta, rows[i]);
    if (model.scales_coefficients()) facts.target = std::exchange(eta, mean = 0.0);
    const double drawn = family.simulate({&eta, 1}, PhiloxRandom(1, 0, static_cast<std::uint64_t>(i)), 0);
    found.push_back({std::abs(facts.target - mean), facts.weight});
    expected.push_back({std::abs(drawn - mean), facts.weight});
    weights += facts.weight;
    squares += facts.weight * facts.weight;
  }
  // Requires as much information as from `fewest_rows` rows of equal weight.
  if (!(weights * weights >= static_cast<double>(fewest_rows) * squares)) return {};
  const double shrinkage = std::sqrt(1.0 - static_cast<double>(coefficients) / static_cast<double>(store.rows()));
  const double size = median_size(std::move(found)), usual = shrinkage * median_size(std::move(expected)),
               ratio = size / usual;
  if (model.scales_coefficients()) return shape_warnings(family, size, usual);
  if (ratio < limit && ratio > 1.0 / limit) return {};
  return {
      fmt::format("the scale of the residuals does not fit: half of them are larger than {:.3g}, where {:.3g} is to be "
                  "expected, so "
                  "that intervals are too {}; give a sigma that is {:.2g} times as large{}",
                  size, usual, ratio > 1.0 ? "narrow" : "wide", ratio,
                  ratio > 1.0 ? ", or a wider prior if that keeps the coefficients from explaining the target" : "")};
}

}  // namespace flymc
