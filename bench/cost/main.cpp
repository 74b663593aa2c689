// What 1000 effective draws cost, in passes over the data, for flymc and for regular MCMC with the same move.
//
//   flymc_cost [ROWS ...]      default 10000 100000 1000000
//
// Logistic regression on an intercept and 20 normal features, coefficients of standard deviation 0.3, prior normal(0,
// 2), MALA in the anchor's metric, four chains. Effective draws are the least bulk ESS over the coefficients. Both
// posteriors are compared before anything is printed.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "flymc/flymc.hpp"

namespace {

using namespace flymc;

constexpr Index columns = 21;

Store simulate(RowId rows) {
  std::vector<std::string> names = {"intercept"};
  for (Index j = 1; j < columns; ++j) names.push_back(fmt::format("x{}", j));
  Vector theta(columns), x(columns);
  PhiloxRandom(1, 1, 0).normals(Purpose::simulate, 0, {theta.data(), columns});
  theta *= 0.3;
  StoreBuilder builder(names);
  for (RowId row = 0; row < rows; ++row) {
    const auto index = static_cast<std::uint64_t>(row);
    PhiloxRandom(1, 2, index).normals(Purpose::simulate, 0, {x.data(), columns});
    x[0] = 1.0;
    const double eta = theta.dot(x);
    builder.append({x.data(), columns}, Logistic{}.simulate({&eta, 1}, PhiloxRandom(1, 3, 0), index));
  }
  return builder.finish();
}

struct Outcome {
  std::vector<ParameterSummary> parameters;
  double ess, setup_passes, passes_per_1000, queries_per_iteration, seconds, bright;
};

Outcome measure(const Store& store, const Model& model, const FitOptions& options) {
  const auto began = std::chrono::steady_clock::now();
  const Fit fit = flymc::fit(store, model, options);
  Outcome out{};
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  out.parameters = fit.summary().parameters;
  out.ess = HUGE_VAL;
  for (const ParameterSummary& p : out.parameters) out.ess = std::min(out.ess, p.ess_bulk);
  double sampling = 0.0, iterations = 0.0;
  for (const ChainReport& chain : fit.chains) {
    sampling += static_cast<double>(chain.sampling_queries);
    iterations += static_cast<double>(chain.iterations);
    out.bright += chain.bright_mean / static_cast<double>(fit.chains.size());
  }
  const auto rows = static_cast<double>(store.rows());
  out.setup_passes = (static_cast<double>(fit.queries()) - sampling) / rows;
  out.passes_per_1000 = sampling / rows / out.ess * 1000.0;
  out.queries_per_iteration = sampling / iterations;
  return out;
}

}  // namespace

int main(int argc, char** argv) try {
  std::vector<RowId> sizes;
  for (int i = 1; i < argc; ++i) sizes.push_back(std::atoll(argv[i]));
  if (sizes.empty()) sizes = {10000, 100000, 1000000};
  fmt::print("{:>8}  {:8} {:>7} {:>13} {:>13} {:>8} {:>17} {:>21}\n", "rows", "", "bright", "queries/iter",
             "set-up passes", "min ESS", "passes/1000 ESS", "seconds, all together");
  for (const RowId rows : sizes) {
    const Store store = simulate(rows);
    const Model model(Logistic{}, Prior::normal(0.0, 2.0));
    const Outcome fly = measure(store, model, {.chains = 4, .warmup = 1000, .draws = 5000});
    const Outcome regular = measure(store, model, {.chains = 4, .warmup = 200, .draws = 300, .regular = true});
    // 21 comparisons at 4.8 standard errors: a false alarm in 30,000 runs.
    for (std::size_t j = 0; j < fly.parameters.size(); ++j) {
      const double error = std::hypot(fly.parameters[j].mcse_mean, regular.parameters[j].mcse_mean);
      if (!(std::abs(fly.parameters[j].mean - regular.parameters[j].mean) < 4.8 * error))
        throw std::runtime_error("the two posteriors differ in " + fly.parameters[j].name);
    }
    for (const auto& [name, o] : {std::pair{"flymc", fly}, std::pair{"regular", regular}})
      fmt::print("{:8}  {:8} {:7.1f} {:13.1f} {:13.1f} {:8.0f} {:17.3g} {:21.2f}\n", rows, name, o.bright,
                 o.queries_per_iteration, o.setup_passes, o.ess, o.passes_per_1000, o.seconds);
  }
} catch (const std::exception& error) {
  fmt::print(stderr, "flymc_cost: {}\n", error.what());
  return 1;
}
