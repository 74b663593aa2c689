// Plots of traces, ranks and histograms.
#include "flymc/show/draws_plots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "flymc/show/svg.hpp"

namespace flymc {
namespace {

constexpr std::size_t most_points = 250;

// Colours repeat after six chains.
std::string chain_style(std::size_t chain) { return fmt::format("chain c{}", chain % 6); }

struct Range {
  double lower = HUGE_VAL, upper = -HUGE_VAL;
  void add(double x) {
    if (!std::isfinite(x)) return;
    lower = std::min(lower, x);
    upper = std::max(upper, x);
  }
  std::pair<double, double> widened(double share) const {
    const double more = share * (upper - lower);
    return {lower - more, upper + more};
  }
};

std::vector<double> pooled(ChainDraws draws) {
  std::vector<double> out;
  for (const auto& chain : draws) out.insert(out.end(), chain.begin(), chain.end());
  return out;
}

}  // namespace

std::string trace_plot(std::string_view name, ChainDraws draws) {
  Range range;
  std::size_t longest = 1;
  for (const auto& chain : draws) {
    for (const double x : chain) range.add(x);
    longest = std::max(longest, chain.size());
  }
  Plot plot(fmt::format("trace of {}", name), {1.0, static_cast<double>(longest)}, range.widened(0.03), "draw", "");
  for (std::size_t c = 0; c < draws.size(); ++c) {
    const std::size_t step = std::max<std::size_t>(1, (draws[c].size() + most_points - 1) / most_points);
    std::vector<std::pair<double, double>> points;
    for (std::size_t i = 0; i < draws[c].size(); i += step)
      points.emplace_back(plot.x(static_cast<double>(i + 1)), plot.y(draws[c][i]));
    plot.svg().path(points, chain_style(c));
  }
  return plot.finish();
}

std::string rank_plot(std::string_view name, ChainDraws draws) {
  constexpr std::size_t bins = 20;
  std::vector<std::pair<double, std::size_t>> all;  // a draw, and its chain
  for (std::size_t c = 0; c < draws.size(); ++c)
    for (const double x : draws[c]) all.emplace_back(x, c);
  std::ranges::stable_sort(all, {}, [](const auto& draw) { return draw.first; });
  std::vector<std::vector<double>> counts(draws.size(), std::vector<double>(bins, 0.0));
  for (std::size_t i = 0; i < all.size(); ++i) counts[all[i].second][i * bins / all.size()] += 1.0;
  double largest = 0.0;
  std::vector<double> expected;
  for (std::size_t c = 0; c < draws.size(); ++c) {
    expected.push_back(static_cast<double>(draws[c].size()) / static_cast<double>(bins));
    for (double& count : counts[c]) largest = std::max(largest, count /= std::max(expected[c], 1e-300));
  }
  Plot plot(fmt::format("ranks of {}", name), {0.0, 100.0}, {0.0, std::max(1.5, 1.05 * largest)},
            "rank among all draws, in per cent", "");
  plot.svg().line(plot.x(0.0), plot.y(1.0), plot.x(100.0), plot.y(1.0), "reference");
  for (std::size_t c = 0; c < draws.size(); ++c) {
    std::vector<std::pair<double, double>> steps;
    for (std::size_t b = 0; b < bins; ++b)
      for (const std::size_t end : {b, b + 1})
        steps.emplace_back(plot.x(100.0 * static_cast<double>(end) / bins), plot.y(counts[c][b]));
    plot.svg().path(steps, chain_style(c));
  }
  return plot.finish();
}

std::string laplace_plot(std::string_view name, ChainDraws draws, double mean, double sd) {
  constexpr std::size_t bins = 40;
  const std::vector<double> all = pooled(draws);
  Range range;
  // Leaves out the outermost thousandths, which would compress the rest.
  range.add(quantile(draws, 0.001));
  range.add(quantile(draws, 0.999));
  range.add(mean - 3.0 * sd);
  range.add(mean + 3.0 * sd);
  if (!(range.upper > range.lower)) range = {range.lower - 1.0, range.lower + 1.0};
  std::vector<double> density(bins, 0.0);
  const double width = (range.upper - range.lower) / bins;
  for (const double x : all)
    if (x >= range.lower && x < range.upper)
      density[static_cast<std::size_t>((x - range.lower) / width)] += 1.0 / (width * static_cast<double>(all.size()));
  const auto normal = [&](double x) {
    const double z = (x - mean) / sd;
    return std::exp(-0.5 * z * z) / (sd * std::sqrt(2.0 * std::numbers::pi));
  };
  const double highest = std::max(*std::ranges::max_element(density), normal(mean));
  Plot plot(fmt::format("posterior of {} and its Laplace approximation", name), {range.lower, range.upper},
            {0.0, 1.05 * highest}, "", "");
  for (std::size_t b = 0; b < bins; ++b) {
    const double x = plot.x(range.lower + static_cast<double>(b) * width), y = plot.y(density[b]);
    plot.svg().rectangle(x, y, plot.x(range.lower + width) - plot.x(range.lower), plot.floor() - y, "bar");
  }
  std::vector<std::pair<double, double>> curve;
  for (int i = 0; i <= 100; ++i) {
    const double x = range.lower + (range.upper - range.lower) * i / 100.0;
    curve.emplace_back(plot.x(x), plot.y(normal(x)));
  }
  plot.svg().path(curve, "curve");
  return plot.finish();
}

}  // namespace flymc
