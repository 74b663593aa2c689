// Two tests of a run from counts that its chains made.
#include "flymc/run/self_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/poisson.hpp>
#include <cmath>

#include "flymc/core/mention.hpp"

namespace flymc {
namespace {

const std::string remedy =
    "the draws may not be from the posterior. Compare with regular MCMC (" + mention("regular", "true") + ")";

// If z has the right distribution, the excess of bright rows has mean zero, and a variance of at least about the
// expected number of bright rows. Checks are 64 draws apart and nearly independent; twice the plain standard error
// allows for the remaining dependence. The test fails if the excess is beyond 5 of these errors, more than a tenth of
// the expected number, and more than ten rows in all.
std::string z_problem(std::span<const ChainReport> chains) {
  double n = 0.0, expected = 0.0, excess = 0.0, squares = 0.0;
  for (const ChainReport& chain : chains) {
    n += static_cast<double>(chain.checks);
    expected += chain.check_expected;
    excess += chain.check_excess;
    squares += chain.check_squares;
  }
  if (n < 20.0) return "";
  const double mean = excess / n, should = expected / n;
  const double error = 2.0 * std::sqrt(std::max(should, squares / n - mean * mean) / n);
  if (std::abs(mean) <= 5.0 * error || std::abs(mean) <= 0.1 * should || std::abs(excess) <= 10.0) return "";
  return fmt::format("{:.3g} rows were bright on average where {:.3g} should have been: {}", should + mean, should,
                     remedy);
}

// For a normal posterior, draws beyond the radius are at least a known proportion of those just inside it (more if it
// is skewed or has heavier tails). If there are none where many are expected, something keeps the chains inside.
// Because draws are dependent, their effective number is used.
std::string radius_problem(std::span<const ChainReport> chains, std::span<const ParameterSummary> parameters,
                           std::int64_t draws_per_chain, Index coefficients, double radius) {
  double near = 0.0, beyond = 0.0, least = HUGE_VAL;
  for (const ChainReport& chain : chains) {
    near += static_cast<double>(chain.draws_near);
    beyond += static_cast<double>(chain.draws_beyond);
  }
  const double draws = static_cast<double>(draws_per_chain) * static_cast<double>(chains.size());
  for (const ParameterSummary& p : parameters)
    if (std::isfinite(p.ess_tail)) least = std::min(least, p.ess_tail);
  if (near == 0.0 || !std::isfinite(radius) || !std::isfinite(least)) return "";
  const boost::math::chi_squared squared(static_cast<double>(coefficients));
  const auto outside = [&](double r) { return boost::math::cdf(boost::math::complement(squared, r * r)); };
  const double share = outside(radius) / (outside(radius - near_radius) - outside(radius));
  const double due = share * near * std::min(1.0, least / draws);
  constexpr double rare = 1e-4;
  if (!(due > 0.0) || boost::math::cdf(boost::math::poisson(due), beyond * std::min(1.0, least / draws)) > rare)
    return "";
  return fmt::format("{:.0f} draws lie just inside the bound's radius and {:.0f} beyond it, where more are due: {}",
                     near, beyond, remedy);
}

}  // namespace

std::vector<std::string> self_check_warnings(std::span<const ChainReport> chains,
                                             std::span<const ParameterSummary> parameters, std::int64_t draws_per_chain,
                                             Index coefficients, double radius) {
  std::vector<std::string> out;
  for (std::string problem :
       {z_problem(chains), radius_problem(chains, parameters, draws_per_chain, coefficients, radius)})
    if (!problem.empty()) out.push_back(std::move(problem));
  return out;
}

}  // namespace flymc
