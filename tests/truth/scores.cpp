// Scores of draws against quadrature, and the scores that exact draws would have.
#include "scores.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "flymc/diagnose/quantile_functions.hpp"

namespace flymc::truth {
namespace {

constexpr int replicates_wanted = 500, most_tries = 2000;

// The quantiles of the truth as a function of a normal score: a table, linear between points from -6 to 6.
class ScoreQuantiles {
 public:
  explicit ScoreQuantiles(const Marginal& truth) {
    for (int i = 0; i <= steps; ++i) {
      const double u = -limit + i * (2.0 * limit / steps);
      values_.push_back(truth.quantile(0.5 * std::erfc(-u / std::numbers::sqrt2)));
    }
  }
  double operator()(double u) const {
    const double at = (std::clamp(u, -limit, limit) + limit) * (steps / (2.0 * limit));
    const auto below = std::min(static_cast<std::size_t>(at), static_cast<std::size_t>(steps - 1));
    const double w = at - static_cast<double>(below);
    return (1.0 - w) * values_[below] + w * values_[below + 1];
  }

 private:
  static constexpr int steps = 1200;
  static constexpr double limit = 6.0;
  std::vector<double> values_;
};

}  // namespace

Score score(ChainDraws draws, const Marginal& truth, bool quantiles) {
  Score out;
  double count = 0.0, sum = 0.0, squares = 0.0;
  for (const auto& chain : draws)
    for (const double x : chain) {
      sum += x;
      ++count;
    }
  out.mean = sum / count;
  for (const auto& chain : draws)
    for (const double x : chain) squares += (x - out.mean) * (x - out.mean);
  out.sd = std::sqrt(squares / (count - 1.0));
  out.r_hat = r_hat(draws);
  out.ess_bulk = ess_bulk(draws);
  out.ess_tail = ess_tail(draws);
  out.z_mean = (out.mean - truth.mean()) / mcse_mean(draws);
  out.z_sd = (out.sd - truth.sd()) / mcse_sd(draws);
  if (quantiles) {
    out.z_q5 = (quantile(draws, 0.05) - truth.quantile(0.05)) / mcse_quantile(draws, 0.05);
    out.z_q95 = (quantile(draws, 0.95) - truth.quantile(0.95)) / mcse_quantile(draws, 0.95);
  }
  return out;
}

Expected expect(const Marginal& truth, int chains, int draws, double effective_size, std::uint64_t seed) {
  // n / ess = (1 + r) / (1 - r).
  const double tau = std::max(static_cast<double>(chains) * draws / effective_size, 0.5);
  const double r = (tau - 1.0) / (tau + 1.0), fresh = std::sqrt(1.0 - r * r);
  const ScoreQuantiles quantiles(truth);
  std::mt19937_64 bits(seed);
  const auto uniform = [&] { return (static_cast<double>(bits() >> 11) + 0.5) * 0x1p-53; };
  const auto normal = [&] { return normal_quantile(uniform()); };

  Expected out{0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0};
  std::vector<std::vector<double>> sample(static_cast<std::size_t>(chains));
  std::vector<double> mean_squares, sd_squares;
  for (int tried = 0; tried < most_tries && out.replicates < replicates_wanted; ++tried) {
    for (std::vector<double>& chain : sample) {
      chain.clear();
      double u = normal();
      for (int i = 0; i < draws; ++i) {
        chain.push_back(quantiles(u));
        u = r * u + fresh * normal();
      }
    }
    const Score s = score(sample, truth, false);
    if (!s.trustworthy()) continue;
    ++out.replicates;
    mean_squares.push_back(s.z_mean * s.z_mean);
    sd_squares.push_back(s.z_sd * s.z_sd);
  }
  const auto collect = [&](const std::vector<double>& z, double& square, double& variance, double& share) {
    const auto n = static_cast<double>(z.size());
    for (const double v : z) square += v / n;
    for (const double v : z) variance += (v - square) * (v - square) / (n - 1.0);
    // One more than observed: none among 500 does not mean probability zero.
    share = (1.0 +
             static_cast<double>(std::count_if(z.begin(), z.end(), [](double v) { return v > outlying * outlying; }))) /
            n;
  };
  if (out.replicates < 50) return Expected{};  // chains so slow that hardly any run is trustworthy
  collect(mean_squares, out.mean_square, out.mean_variance, out.mean_outlying);
  collect(sd_squares, out.sd_square, out.sd_variance, out.sd_outlying);
  return out;
}

double rms_limit(double square, double variance, std::size_t runs, double rate) {
  const double degrees = 2.0 * square * square * static_cast<double>(runs) / variance;
  const double h = 2.0 / (9.0 * degrees), root = 1.0 - h - normal_quantile(rate) * std::sqrt(h);
  return 1.1 * std::sqrt(square * root * root * root);
}

int outlier_limit(double share, std::size_t count, double rate) {
  const double expected = share * static_cast<double>(count);
  double term = std::exp(-expected), tail = 1.0 - term;
  int k = 0;
  while (tail > rate) {
    ++k;
    term *= expected / k;
    tail -= term;
  }
  return k;
}

}  // namespace flymc::truth
