// Finds, fits and replaces the tail of the ratios.
#include "flymc/diagnose/pareto_smoothing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "flymc/diagnose/generalised_pareto.hpp"

namespace flymc {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::size_t fewest_in_tail = 5;

std::size_t longest_tail(std::size_t draws, double relative_efficiency) {
  const auto s = static_cast<double>(draws);
  return static_cast<std::size_t>(std::ceil(std::min(s / 5.0, 3.0 * std::sqrt(s / relative_efficiency))));
}

// Replaces the tail of the log ratios, whose largest is `top`, and returns k.
double smooth(std::vector<double>& log_ratios, double top, std::size_t longest) {
  if (log_ratios.size() <= longest) return infinity;
  // The tail consists of the ratios above the largest one that is not in it; ratios below `negligible` do not count
  // relative to the largest.
  const double negligible = top + std::log(std::numeric_limits<double>::min());
  std::vector<double> sorted = log_ratios;
  const auto next = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() - longest - 1);
  std::ranges::nth_element(sorted, next);
  const double cutoff = std::max(*next, negligible);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < log_ratios.size(); ++i)
    if (log_ratios[i] > cutoff) order.push_back(i);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return log_ratios[i]; });
  if (order.size() < fewest_in_tail) return infinity;

  // The relative excess of a ratio over the cutoff, computed so that small differences keep their digits.
  std::vector<double> excess;
  for (const std::size_t i : order) excess.push_back(std::expm1(log_ratios[i] - cutoff));
  GeneralisedPareto tail = fit_generalised_pareto(excess);
  // A weak prior, worth ten values of a tail with k = 1/2: estimates from short tails vary less.
  const auto n = static_cast<double>(order.size());
  tail.k = (n * tail.k + 10.0 * 0.5) / (n + 10.0);
  if (!std::isfinite(tail.k) || !(tail.sigma > 0.0)) return infinity;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double of_order = tail.quantile((static_cast<double>(i) + 0.5) / n);
    log_ratios[order[i]] = std::min(cutoff + std::log1p(of_order), top);
  }
  return tail.k;
}

}  // namespace

double log_sum_exp(std::span<const double> x) {
  const double top = x.empty() ? -infinity : *std::ranges::max_element(x);
  if (!std::isfinite(top)) return top;
  double sum = 0.0;
  for (const double value : x) sum += std::exp(value - top);
  return top + std::log(sum);
}

SmoothedWeights smoothed_weights(std::span<const double> log_ratios, double relative_efficiency) {
  SmoothedWeights out{{log_ratios.begin(), log_ratios.end()}, infinity};
  std::vector<double>& x = out.log_weights;
  if (x.empty()) return out;
  if (std::ranges::any_of(x, [](double value) { return std::isnan(value); })) {
    std::ranges::fill(x, std::numeric_limits<double>::quiet_NaN());
    return out;
  }
  const std::size_t longest = longest_tail(x.size(), relative_efficiency);
  const auto [least, most] = std::ranges::minmax(x);
  if (least == most) {
    std::ranges::fill(x, -std::log(static_cast<double>(x.size())));
    if (std::isfinite(most) && longest >= fewest_in_tail) out.pareto_k = -infinity;
    return out;
  }
  if (most == infinity) {  // these draws get all of the weight
    for (double& value : x) value = value == infinity ? 0.0 : -infinity;
  } else {
    out.pareto_k = smooth(x, most, longest);
  }
  const double sum = log_sum_exp(x);
  for (double& value : x) value -= sum;
  return out;
}

double good_pareto_k(std::size_t draws) {
  return std::min(1.0 - 1.0 / std::log10(static_cast<double>(std::max<std::size_t>(draws, 2))), 0.7);
}

}  // namespace flymc
