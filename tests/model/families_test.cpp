// The likelihoods of the families against long double, far into the tails, and the targets they draw.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "flymc/core/error.hpp"
#include "flymc/model/logistic.hpp"
#include "flymc/model/softmax.hpp"
#include "flymc/model/student_t.hpp"
#include "model/support.hpp"

namespace flymc {
namespace {

using problems::message_of;
using problems::Sech;

constexpr double sigmas = 4.5;  // two-sided false alarm 7e-6 for each comparison of frequencies
constexpr double ulps = 4 * 2.3e-16;

const std::vector<double> etas = {0.0,  1e-300, -1e-9, 0.3,   -0.7,  2.0,  -5.0, 20.0, -36.0,
                                  40.0, -100.0, 700.,  -745., 1000., -1e5, 1e10, -1e10};

void expect_near(double actual, long double expected, double relative = ulps) {
  EXPECT_NEAR(actual, static_cast<double>(expected), relative * std::abs(static_cast<double>(expected)));
}

long double log_sigmoid_exactly(long double m) { return m > 0 ? -log1pl(expl(-m)) : m - log1pl(expl(m)); }

TEST(LogisticFamily, LikelihoodAndSlopesInLongDouble) {
  const Logistic family;
  for (const double eta : etas)
    for (const double y : {0.0, 1.0}) {
      SCOPED_TRACE(testing::Message() << "eta " << eta << ", y " << y);
      const long double m = y > 0.5 ? eta : -eta;
      expect_near(family.log_likelihood(y, {&eta, 1}), log_sigmoid_exactly(m));
      double slope, curvature;
      family.slope(y, {&eta, 1}, {&slope, 1});
      family.curvature(y, {&eta, 1}, {&curvature, 1});
      expect_near(slope, (y > 0.5 ? 1 : -1) * expl(log_sigmoid_exactly(-m)), 1e-15 * (1 + std::abs(eta)));
      if (std::abs(eta) < 300.0)  // beyond, it underflows
        expect_near(curvature, expl(log_sigmoid_exactly(m) + log_sigmoid_exactly(-m)), 1e-15 * (1 + std::abs(eta)));
    }
  const double eta = 0.3;
  EXPECT_NEAR(std::exp(family.log_likelihood(0, {&eta, 1})) + std::exp(family.log_likelihood(1, {&eta, 1})), 1.0,
              1e-15);
}

TEST(LogisticFamily, KnowsItsTargets) {
  EXPECT_EQ(Logistic{}.target_problem(0.0), "");
  EXPECT_EQ(Logistic{}.target_problem(1.0), "");
  for (const double y : {-1.0, 0.5, 2.0, std::nan("")}) EXPECT_EQ(Logistic{}.target_problem(y), "0 or 1");
}

TEST(SoftmaxFamily, LikelihoodAndSlopesInLongDouble) {
  const Softmax family(3);
  for (const double a : etas)
    for (const double b : {-3.0, 0.0, 50.0, -1e10})
      for (int y = 0; y < 3; ++y) {
        SCOPED_TRACE(testing::Message() << "eta " << a << ", " << b << ", 1; y " << y);
        const std::vector<double> eta = {a, b, 1.0};
        const long double own = eta[static_cast<std::size_t>(y)];
        long double top = 1, sum = 0, others = 0;
        for (const double e : eta) top = std::max<long double>(top, e);
        for (const double e : eta) sum += expl(e - top);
        for (std::size_t k = 0; k < 3; ++k) others += static_cast<int>(k) == y ? 0 : expl(eta[k] - own);
        // Where the observed class is the likeliest, -l may be tiny and still has all its digits; log(3) is its
        // largest.
        const double expected = static_cast<double>(own == top ? -log1pl(others) : own - top - logl(sum));
        EXPECT_NEAR(family.log_likelihood(y, eta), expected, 2.0 * ulps * std::abs(expected));
        std::vector<double> slope(3);
        family.slope(y, eta, slope);
        double total = 0.0;
        for (std::size_t k = 0; k < 3; ++k) {
          const long double p = expl(eta[k] - top) / sum;
          total += slope[k];
          const auto expected_slope = static_cast<double>((static_cast<int>(k) == y ? 1 : 0) - p);
          EXPECT_NEAR(slope[k], expected_slope, 4e-16);
        }
        EXPECT_NEAR(total, 0.0, 4e-16);
      }
}

TEST(SoftmaxFamily, TwoClassesAreTheLogisticAndAShiftIsNothing) {
  for (const double eta : etas) {
    const std::vector<double> pair = {0.0, eta}, shifted = {1.0, eta + 1.0};
    for (const double y : {0.0, 1.0}) {
      const double logistic = Logistic{}.log_likelihood(y, {&eta, 1});
      EXPECT_NEAR(Softmax(2).log_likelihood(y, pair), logistic, ulps * (1.0 + std::abs(logistic)));
      // eta + 1 itself is rounded.
      EXPECT_NEAR(Softmax(2).log_likelihood(y, shifted), logistic, ulps * (2.0 + std::abs(eta)));
    }
  }
}

TEST(SoftmaxFamily, CurvatureIsTheSlopesDerivative) {
  const Softmax family(4);
  const std::vector<double> eta = {0.3, -1.0, 2.0, 0.1};
  std::vector<double> curvature(16), up(4), down(4);
  family.curvature(2, eta, curvature);
  const double h = 1e-5;
  for (std::size_t k = 0; k < 4; ++k) {
    std::vector<double> right = eta, left = eta;
    right[k] += h;
    left[k] -= h;
    family.slope(2, right, up);
    family.slope(2, left, down);
    for (std::size_t j = 0; j < 4; ++j) EXPECT_NEAR(curvature[j * 4 + k], (down[j] - up[j]) / (2.0 * h), 1e-9);
  }
}

TEST(SoftmaxFamily, KnowsItsTargetsAndClasses) {
  EXPECT_EQ(Softmax(3).target_problem(2.0), "");
  for (const double y : {-1.0, 0.5, 3.0, std::nan("")})
    EXPECT_EQ(Softmax(3).target_problem(y), "a whole number from 0 to 2");
  for (const int classes : {-1, 0, 1, 65})
    EXPECT_EQ(message_of<InputError>([&] { Softmax{classes}; }),
              "softmax: the number of classes must be from 2 to 64, not " + std::to_string(classes));
  EXPECT_EQ(Softmax(64).predictors(), 64);
}

TEST(StudentTFamily, LikelihoodAndSlopesInLongDouble) {
  for (const double nu : {0.5, 4.0, 50.0})
    for (const double sigma : {0.01, 1.0, 30.0}) {
      const StudentT family(nu, sigma);
      for (const double eta : etas)
        for (const double y : {0.0, 0.25, -1e6}) {
          SCOPED_TRACE(testing::Message() << "nu " << nu << ", sigma " << sigma << ", eta " << eta << ", y " << y);
          const long double r = (static_cast<long double>(y) - eta), n = nu, s = sigma;
          const long double constant =
              lgammal((n + 1) / 2) - lgammal(n / 2) - logl(n * std::numbers::pi_v<long double>) / 2 - logl(s);
          const long double expected = constant - (n + 1) / 2 * log1pl(r * r / (s * s) / n);
          EXPECT_NEAR(family.log_likelihood(y, {&eta, 1}), static_cast<double>(expected),
                      1e-14 * (1.0 + std::abs(static_cast<double>(expected))));
          double slope, curvature;
          family.slope(y, {&eta, 1}, {&slope, 1});
          family.curvature(y, {&eta, 1}, {&curvature, 1});
          const long double a = n * s * s + r * r;
          expect_near(slope, (n + 1) * r / a, 1e-15);
          EXPECT_NEAR(curvature, static_cast<double>((n + 1) * (n * s * s - r * r) / (a * a)),
                      4e-15 * static_cast<double>((n + 1) / a));
        }
    }
}

TEST(StudentTFamily, KnowsItsTargetsAndParameters) {
  EXPECT_EQ(StudentT(4.0, 1.0).target_problem(-1e300), "");
  EXPECT_EQ(StudentT(4.0, 1.0).target_problem(HUGE_VAL), "a finite number");
  for (const double bad : {0.0, -1.0, HUGE_VAL, std::nan("")}) {
    EXPECT_EQ(message_of<InputError>([&] { StudentT(bad, 1.0); }),
              "student_t: the degrees of freedom, nu, must be positive");
    EXPECT_EQ(message_of<InputError>([&] { StudentT(4.0, bad); }), "student_t: the scale, sigma, must be positive");
  }
}

// Shares of draws below points of a known distribution function; about 20 comparisons in all, false alarm 2e-4 over the
// four tests and less than 1e-4 in each.
template <class F, class Below>
void expect_distribution(const F& family, const std::vector<double>& eta, const std::vector<double>& points,
                         const Below& below) {
  const int n = 50000;
  const PhiloxRandom random(11, 0, 0);
  std::vector<double> draws;
  for (int i = 0; i < n; ++i) draws.push_back(family.simulate(eta, random, static_cast<std::uint64_t>(i)));
  for (const double x : points) {
    const double p = below(x);
    const auto count = static_cast<double>(std::count_if(draws.begin(), draws.end(), [&](double d) { return d <= x; }));
    EXPECT_LT(std::abs(count - n * p), sigmas * std::sqrt(n * p * (1.0 - p))) << "below " << x << " at " << eta[0];
  }
  for (const double d : draws) ASSERT_EQ(family.target_problem(d), "");
  // By address: the same target again, out of order.
  EXPECT_EQ(family.simulate(eta, random, 77), draws[77]);
}

TEST(LogisticFamily, DrawsItsTargets) {
  for (const double eta : {-4.0, -0.5, 0.0, 2.0})
    expect_distribution(Logistic{}, {eta}, {0.0}, [&](double) { return sigmoid(-eta); });
  const double sure = 800.0;
  EXPECT_EQ(Logistic{}.simulate({&sure, 1}, PhiloxRandom(1, 0, 0), 0), 1.0);
}

TEST(SoftmaxFamily, DrawsItsTargets) {
  const std::vector<double> eta = {0.0, 1.0, -2.0, 0.5};
  double total = 0.0;
  for (const double e : eta) total += std::exp(e);
  expect_distribution(Softmax(4), eta, {0.0, 1.0, 2.0}, [&](double y) {
    double sum = 0.0;
    for (std::size_t k = 0; k <= static_cast<std::size_t>(y); ++k) sum += std::exp(eta[k]);
    return sum / total;
  });
  EXPECT_EQ(Softmax(3).simulate(std::vector<double>{-800.0, 0.0, -800.0}, PhiloxRandom(1, 0, 0), 0), 1.0);
}

TEST(StudentTFamily, DrawsItsTargets) {
  const double eta = 1.5, sigma = 0.6;
  expect_distribution(StudentT(2.0, sigma), {eta}, {-1.0, 1.0, 1.5, 2.4, 6.0}, [&](double y) {
    const double r = (y - eta) / sigma;
    return 0.5 + r / (2.0 * std::sqrt(2.0 + r * r));
  });
}

TEST(UserFamily, DrawsItsTargets) {
  const double eta = -0.5;
  expect_distribution(Sech{}, {eta}, {-3.0, -1.0, -0.5, 0.5, 3.0},
                      [&](double y) { return 2.0 / std::numbers::pi * std::atan(std::exp(y - eta)); });
}

// A user's family needs nothing but the concept. Its parts agree with each other in long double.
TEST(UserFamily, PartsAgree) {
  const Sech family;
  const auto exactly = [](long double r) {
    const long double a = fabsl(r);
    return logl(2) - logl(std::numbers::pi_v<long double>) - a - log1pl(expl(-2 * a));
  };
  for (const double eta : {-50.0, -3.0, 0.0, 0.4, 7.0})
    for (const double y : {-1.0, 0.0, 2.5}) {
      EXPECT_NEAR(family.log_likelihood(y, {&eta, 1}), static_cast<double>(exactly(y - static_cast<long double>(eta))),
                  1e-15 * (1 + std::abs(eta)));
      double global, slope;
      family.global_curvature(y, {&eta, 1}, {&global, 1});
      family.slope(y, {&eta, 1}, {&slope, 1});
      for (const double d : {-200.0, -20.0, -1.0, -1e-3, 0.01, 0.9, 15.0, 200.0}) {
        const long double r = y - static_cast<long double>(eta);
        const double remainder = family.remainder(y, {&eta, 1}, {&d, 1});
        const auto expected = static_cast<double>(exactly(r - d) - exactly(r) - tanhl(r) * d);
        // The plain difference in long double is itself rounded, by about 1e-19 of its largest term.
        EXPECT_NEAR(remainder, expected, 1e-14 * global * d * d + 1e-18 * (10.0 + std::abs(eta) + std::abs(d)))
            << eta << " " << y << " " << d;
        EXPECT_LE(-remainder, 0.5 * global * d * d * (1.0 + 1e-14)) << eta << " " << y << " " << d;
      }
    }
}

}  // namespace
}  // namespace flymc
