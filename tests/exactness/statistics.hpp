// Estimates with standard errors, their comparison, and tail probabilities for limits with a given false-alarm rate.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "flymc/diagnose/quantile_functions.hpp"

namespace flymc::exactness {

// The probability that a test case fails although the library is right. Seeds are fixed and no test is retried, so this
// is the probability of an unlucky choice of seed; a test that passes once always passes.
constexpr double false_alarm_per_case = 1e-4;

// The limits assume Student's t, the normal and the chi-square distribution, which scores have only approximately: a
// mean of n replicates with skewness s exceeds a limit of x more often, by a factor of about exp(s x^3 / (3 sqrt n)).
// So the statistics are bounded, which keeps s small, and the limits are for a tenth of the rate. (Geweke's most skewed
// cases exceed them with a probability of 0.9e-5 to 3.2e-5: 4000 replicates each, resampled 64 at a time.)
constexpr double rate_by_the_tables = false_alarm_per_case / 10.0;

// The t with P(|T| > t) = p for Student's t: P(|T| > t) = I_x(degrees / 2, 1 / 2) at x = degrees / (degrees + t^2).
inline double student_t_limit(double p, double degrees) {
  const double x = beta_quantile(p, degrees / 2.0, 0.5);
  return std::sqrt(degrees * (1.0 - x) / x);
}

// The z with P(|Z| > z) = p for the standard normal.
inline double normal_limit(double p) { return -normal_quantile(p / 2.0); }

// P(X > x) for a chi-square with an integer number of degrees: from erfc(sqrt(x / 2)) for one or exp(-x / 2) for two;
// two more degrees add (x / 2)^(degrees / 2) exp(-x / 2) / Gamma(degrees / 2 + 1).
inline double chi_square_tail(double x, int degrees) {
  if (!(x > 0.0)) return 1.0;
  const double half = x / 2.0;
  double tail = degrees % 2 == 1 ? std::erfc(std::sqrt(half)) : std::exp(-half);
  for (int d = degrees % 2 == 1 ? 1 : 2; d < degrees; d += 2)
    tail += std::exp(d / 2.0 * std::log(half) - half - std::lgamma(d / 2.0 + 1.0));
  return tail;
}

// "theta" and 3 give "theta3".
inline std::string numbered(std::string name, std::int64_t number) { return name += std::to_string(number); }

// A mean with its standard error.
struct Estimate {
  double mean = 0.0;
  double standard_error = 0.0;
  double degrees = std::numeric_limits<double>::infinity();  // degrees of freedom of the standard error
};

// A value known without error.
inline Estimate known(double value) { return {value, 0.0, std::numeric_limits<double>::infinity()}; }

// An estimate from independent replicates, each the mean of one chain. The standard error comes from their spread for
// any autocorrelation within a chain, which need not be estimated.
inline Estimate from_replicates(std::span<const double> means) {
  const auto n = static_cast<double>(means.size());
  double sum = 0.0, squares = 0.0;
  for (const double m : means) sum += m;
  for (const double m : means) squares += (m - sum / n) * (m - sum / n);
  return {sum / n, std::sqrt(squares / (n - 1.0) / n), n - 1.0};
}

// The scores of one test case, tested together: each of S gets the rate rate_by_the_tables / S (Bonferroni).
class Scores {
 public:
  // Two independent estimates of one number: the difference over its standard error against Student's t with the
  // smaller of both degrees of freedom (Welch's are at least that).
  void compare(const std::string& name, const Estimate& one, const Estimate& other) {
    const double difference = one.mean - other.mean;
    scores_.push_back({name + ": " + std::to_string(one.mean) + " against " + std::to_string(other.mean),
                       difference / std::hypot(one.standard_error, other.standard_error),
                       std::min(one.degrees, other.degrees)});
  }

  // A statistic that is standard normal if the library is right.
  void standard_normal(const std::string& name, double score) {
    scores_.push_back({name, score, std::numeric_limits<double>::infinity()});
  }

  // A statistic that is chi-square if the library is right, as the normal score of the same two-sided tail.
  void chi_square(const std::string& name, double statistic, int degrees) {
    const double tail = std::max(chi_square_tail(statistic, degrees), 1e-300);
    standard_normal(name + ": chi-square " + std::to_string(statistic) + " on " + std::to_string(degrees),
                    normal_limit(std::min(tail, 1.0)));
  }

  void expect_all_within_limits() const {
    const double share = rate_by_the_tables / static_cast<double>(scores_.size());
    double largest = 0.0;
    for (const Score& score : scores_) {
      const double limit = std::isfinite(score.degrees) ? student_t_limit(share, score.degrees) : normal_limit(share);
      largest = std::max(largest, std::abs(score.value) / limit);
      // Written so that a NaN score fails.
      EXPECT_TRUE(std::abs(score.value) <= limit) << score.name << ", score " << score.value << ", limit " << limit;
    }
    ::testing::Test::RecordProperty("largest_score_over_its_limit", std::to_string(largest));
  }

 private:
  struct Score {
    std::string name;
    double value;
    double degrees;
  };
  std::vector<Score> scores_;
};

}  // namespace flymc::exactness
