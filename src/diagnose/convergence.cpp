// Rank normalisation, Geyer's initial monotone sequence, and the diagnostics based on them.
#include "flymc/diagnose/convergence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>

#include "flymc/core/error.hpp"
#include "flymc/core/linear.hpp"
#include "flymc/diagnose/autocovariance.hpp"
#include "flymc/diagnose/quantile_functions.hpp"

namespace flymc {

namespace {

constexpr std::size_t min_draws = 4;  // of a chain: two halves that each have a variance
constexpr Index min_half = 5;         // of a half: one pair of lags beyond the first

void check_probability(double prob) {
  if (!(prob >= 0.0 && prob <= 1.0))
    throw InputError(fmt::format("a quantile's probability must lie in [0, 1]: {}", prob));
}

// One chain per column; empty if there are too few draws or one is not finite.
std::optional<Matrix> usable(ChainDraws draws) {
  if (draws.empty()) return std::nullopt;
  const std::size_t n = draws.front().size();
  for (std::size_t chain = 1; chain < draws.size(); ++chain)
    if (draws[chain].size() != n)
      throw InputError(fmt::format("chains must have the same number of draws: chain 1 has {}, chain {} has {}", n,
                                   chain + 1, draws[chain].size()));
  if (n < min_draws) return std::nullopt;
  Matrix chains(static_cast<Index>(n), static_cast<Index>(draws.size()));
  for (Index chain = 0; chain < chains.cols(); ++chain)
    chains.col(chain) = Vector::Map(draws[static_cast<std::size_t>(chain)].data(), chains.rows());
  if (!chains.allFinite()) return std::nullopt;
  return chains;
}

std::vector<double> sorted(const Matrix& chains) {
  std::vector<double> values(chains.data(), chains.data() + chains.size());
  std::sort(values.begin(), values.end());
  return values;
}

// The value at position 1 + (n - 1) prob among the order statistics. Equal neighbours are returned unchanged: an
// average that rounds below them would make the indicator x <= quantile all zero.
double sorted_quantile(const std::vector<double>& values, double prob) {
  const double position = static_cast<double>(values.size() - 1) * prob;
  const double below = std::floor(position), weight = position - below;
  const double low = values[static_cast<std::size_t>(below)];
  const double high = values[static_cast<std::size_t>(std::ceil(position))];
  return weight == 0.0 || low == high ? low : (1.0 - weight) * low + weight * high;
}

// Twice as many chains of half the length; an odd length loses its middle draw.
Matrix split(const Matrix& chains) {
  const Index half = chains.rows() / 2;
  Matrix halves(half, 2 * chains.cols());
  halves << chains.topRows(half), chains.bottomRows(half);
  return halves;
}

// Normal scores Phi^-1((r - 3/8) / (n + 1/4)) of the ranks r among all draws; ties share their average rank.
Matrix rank_normalised(const Matrix& chains) {
  const double* x = chains.data();
  std::vector<Index> order(static_cast<std::size_t>(chains.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(), [x](Index i, Index j) { return x[i] < x[j]; });
  Matrix scores(chains.rows(), chains.cols());
  const double n = static_cast<double>(order.size());
  for (std::size_t first = 0, last = 0; first < order.size(); first = last) {
    while (last < order.size() && x[order[last]] == x[order[first]]) ++last;
    const double rank = 0.5 * static_cast<double>(first + 1 + last);  // of first + 1, ..., last
    const double score = normal_quantile((rank - 0.375) / (n + 0.25));
    for (std::size_t i = first; i < last; ++i) scores.data()[order[i]] = score;
  }
  return scores;
}

bool is_constant(const Matrix& chains) { return chains.maxCoeff() == chains.minCoeff(); }

double variance(const Eigen::Ref<const Vector>& x) {
  return (x.array() - x.mean()).square().sum() / static_cast<double>(x.size() - 1);
}

// sqrt((W (n - 1) / n + B / n) / W), with B / n the variance between chains and W the mean variance within chains.
double potential_scale_reduction(const Matrix& chains) {
  if (is_constant(chains)) return NAN;
  const double n = static_cast<double>(chains.rows());
  double within = 0.0;
  for (Index chain = 0; chain < chains.cols(); ++chain)
    if (!is_constant(chains.col(chain))) within += variance(chains.col(chain)) / static_cast<double>(chains.cols());
  const double between = variance(chains.colwise().mean().transpose());
  return std::sqrt(between / within + (n - 1.0) / n);
}

// n / tau of chains that are already split, with tau = -1 + 2 sum_t rho_t truncated as in Geyer (1992): for a
// reversible chain the sums of pairs P_k = rho_2k + rho_2k+1 are positive and decrease, so the sum ends before the
// first pair that is not positive, and each pair is at most the one before it. The correlations
//   rho_t = 1 - (W - gamma_t) / V,   V = W (n - 1) / n + variance of the chains' means,
// use the chains together: chains that disagree make V large and every rho_t close to 1.
double effective_size(const Matrix& chains) {
  const Index n = chains.rows();
  if (n < min_half || is_constant(chains)) return NAN;
  MeanAutocovariance gamma(chains);
  const double within = gamma(0) * static_cast<double>(n) / static_cast<double>(n - 1);
  const double total = gamma(0) + variance(chains.colwise().mean().transpose());
  const auto correlation = [&](Index lag) { return 1.0 - (within - gamma(lag)) / total; };

  double even = 1.0, odd = correlation(1);
  std::vector<double> rho{even, odd};
  Index t = 0;
  while (t < n - 4 && even + odd > 0.0) {
    t += 2;
    even = correlation(t);
    odd = correlation(t + 1);
    const bool positive = even + odd >= 0.0;
    rho.push_back(positive ? even : std::max(even, 0.0));
    rho.push_back(positive ? odd : 0.0);
  }

  const auto cut = static_cast<std::size_t>(t);
  for (std::size_t i = 2; i + 2 <= cut; i += 2)
    if (rho[i] + rho[i + 1] > rho[i - 2] + rho[i - 1]) rho[i] = rho[i + 1] = 0.5 * (rho[i - 2] + rho[i - 1]);

  // The first correlation after the cut counts once: it makes the estimate for alternating draws less noisy.
  // Alternating draws can bring tau down to 0, hence the floor.
  double tau = rho[cut] - 1.0;
  for (std::size_t i = 0; i < cut; ++i) tau += 2.0 * rho[i];
  const double size = static_cast<double>(chains.size());
  return size / std::max(tau, 1.0 / std::log10(size));
}

double effective_size_of_quantile(const Matrix& chains, const std::vector<double>& values, double prob) {
  // All draws are at most the largest, so the indicator of the 100% quantile is constant; half a draw lower it varies.
  const double n = static_cast<double>(values.size());
  const double limit = sorted_quantile(values, prob == 1.0 ? (n - 0.5) / n : prob);
  return effective_size(split((chains.array() <= limit).cast<double>().matrix()));
}

}  // namespace

double r_hat(ChainDraws draws) {
  const std::optional<Matrix> chains = usable(draws);
  if (!chains) return NAN;
  const double median = sorted_quantile(sorted(*chains), 0.5);
  const Matrix folded = (chains->array() - median).abs().matrix();
  // fmax ignores NaN: draws with two values fold to a constant, which must not hide the R-hat of the location.
  return std::fmax(potential_scale_reduction(rank_normalised(split(*chains))),
                   potential_scale_reduction(rank_normalised(split(folded))));
}

double ess_bulk(ChainDraws draws) {
  const std::optional<Matrix> chains = usable(draws);
  return chains ? effective_size(rank_normalised(split(*chains))) : NAN;
}

double ess_tail(ChainDraws draws) {
  const std::optional<Matrix> chains = usable(draws);
  if (!chains) return NAN;
  const std::vector<double> values = sorted(*chains);
  const double lower = effective_size_of_quantile(*chains, values, 0.05);
  const double upper = effective_size_of_quantile(*chains, values, 0.95);
  return std::isnan(lower) || std::isnan(upper) ? NAN : std::min(lower, upper);
}

double ess_mean(ChainDraws draws) {
  const std::optional<Matrix> chains = usable(draws);
  return chains ? effective_size(split(*chains)) : NAN;
}

double ess_quantile(ChainDraws draws, double prob) {
  check_probability(prob);
  const std::optional<Matrix> chains = usable(draws);
  return chains ? effective_size_of_quantile(*chains, sorted(*chains), prob) : NAN;
}

double mcse_mean(ChainDraws draws) {
  const std::optional<Matrix> chains = usable(draws);
  if (!chains) return NAN;
  return std::sqrt(variance(chains->reshaped()) / effective_size(split(*chains)));
}

// The delta method: with s = (x - mean)^2, Var(sd) = Var(mean of s) / (4 E s).
double mcse_sd(ChainDraws draws) {
  const std::optional<Matrix> chains = usable(draws);
  if (!chains) return NAN;
  const Matrix squares = (chains->array() - chains->mean()).square().matrix();
  const double mean_square = squares.mean();
  const double spread = (squares.array() - mean_square).square().mean();
  return std::sqrt(spread / effective_size(split(squares)) / mean_square / 4.0);
}

// With S effective draws, about S prob lie below the quantile; given their order statistics, the probability at the
// quantile is Beta(S prob + 1, S (1 - prob) + 1). The error is half the distance of the order statistics at its central
// 68%. Tail areas have the seven digits of the reference packages, so that the same order statistics are chosen.
double mcse_quantile(ChainDraws draws, double prob) {
  check_probability(prob);
  const std::optional<Matrix> chains = usable(draws);
  if (!chains) return NAN;
  const std::vector<double> values = sorted(*chains);
  const double effective = effective_size_of_quantile(*chains, values, prob);
  if (std::isnan(effective)) return NAN;
  const double a = effective * prob + 1.0, b = effective * (1.0 - prob) + 1.0, n = static_cast<double>(values.size());
  const double low = std::max(std::floor(beta_quantile(0.1586553, a, b) * n), 1.0);
  const double high = std::min(std::ceil(beta_quantile(0.8413447, a, b) * n), n);
  return 0.5 * (values[static_cast<std::size_t>(high) - 1] - values[static_cast<std::size_t>(low) - 1]);
}

double quantile(ChainDraws draws, double prob) {
  check_probability(prob);
  std::vector<double> values;
  for (const std::vector<double>& chain : draws) values.insert(values.end(), chain.begin(), chain.end());
  if (values.empty() || std::any_of(values.begin(), values.end(), [](double x) { return std::isnan(x); })) return NAN;
  std::sort(values.begin(), values.end());
  return sorted_quantile(values, prob);
}

}  // namespace flymc
