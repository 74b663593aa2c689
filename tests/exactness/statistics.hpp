// Estimates with standard errors, their comparison, and the tails that turn a limit into a false-alarm rate.
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

// What a test case may fail with if the library is right. Seeds are fixed and no test is retried, so this is the
// probability that the choice of a seed was unlucky, not that of a test which fails now and then.
constexpr double false_alarm_per_case = 1e-4;

// Limits come from Student's t, the normal and the chi-square, which scores have about and not exactly: a mean of n
// replicates with skewness s passes a limit of x more often, by about exp(s x^3 / (3 sqrt n)). So statistics are chosen
// that are bounded, which keeps s small, and limits are those of a tenth of the rate. (Geweke's most skewed cases pass
// them with a probability of 0.9e-5 to 3.2e-5: 4000 replicates each, resampled 64 at a time.)
constexpr double rate_by_the_tables = false_alarm_per_case / 10.0;

// The t with P(|T| > t) = p for Student's t: P(|T| > t) = I_x(degrees / 2, 1 / 2) at x = degrees / (degrees + t^2).
inline double student_t_limit(double p, double degrees) {
  const double x = beta_quantile(p, degrees / 2.0, 0.5);
  return std::sqrt(degrees * (1.0 - x) / x);
}

// The z with P(|Z| > z) = p for the standard normal.
inline double normal_limit(double p) { return -normal_quantile(p / 2.0); }

// P(X > x) for a chi-square with a whole number of degrees: from erfc(sqrt(x / 2)) for one or exp(-x / 2) for two, two
// more degrees add (x / 2)^(degrees / 2) exp(-x / 2) / Gamma(degrees / 2 + 1).
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

// A mean and what is known of its error.
struct Estimate {
  double mean = 0.0;
  double standard_error = 0.0;
  double degrees = std::numeric_limits<double>::infinity();  // of freedom of the standard error
};

// A value known without error.
inline Estimate known(double value) { return {value, 0.0, std::numeric_limits<double>::infinity()}; }

// From independent replicates, each the mean of one chain. Their spread is the standard error whatever the
// autocorrelation within a chain, and nothing about it has to be estimated.
inline Estimate from_replicates(std::span<const double> means) {
  const auto n = static_cast<double>(means.size());
  double sum = 0.0, squares = 0.0;
  for (const double m : means) sum += m;
  for (const double m : means) squares += (m - sum / n) * (m - sum / n);
  return {sum / n, std::sqrt(squares / (n - 1.0) / n), n - 1.0};
}

// Scores of one test case, judged together: each of S gets rate_by_the_tables / S (Bonferroni).
class Scores {
 public:
  // Two independent estimates of one number: the difference over its standard error against Student's t with the
  // smaller of both degrees of freedom (Welch's are never fewer).
  void compare(const std::string& name, const Estimate& one, const Estimate& other) {
    const double difference = one.mean - other.mean;
    scores_.push_back({name + ": " + std::to_string(one.mean) + " against " + std::to_string(other.mean),
                       difference / std::hypot(one.standard_error, other.standard_error),
                       std::min(one.degrees, other.degrees)});
  }

  // A statistic that is standard normal if all is well.
  void standard_normal(const std::string& name, double score) {
    scores_.push_back({name, score, std::numeric_limits<double>::infinity()});
  }

  // A statistic that is chi-square if all is well, as the normal score of the same two-sided tail.
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
      // Written so that a score that is not a number fails.
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
