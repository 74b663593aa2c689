// The likelihoods of the families against long double, far into the tails, and their random targets.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "flymc/core/error.hpp"
#include "flymc/model/binomial.hpp"
#include "flymc/model/cloglog.hpp"
#include "flymc/model/gaussian.hpp"
#include "flymc/model/logistic.hpp"
#include "flymc/model/negative_binomial.hpp"
#include "flymc/model/poisson.hpp"
#include "flymc/model/probit.hpp"
#include "flymc/model/softmax.hpp"
#include "flymc/model/student_t.hpp"
#include "flymc/model/truncated_poisson.hpp"
#include "model/support.hpp"

namespace flymc {
namespace {

using problems::message_of;
using problems::Sech;
using problems::sigmas;

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
      if (std::abs(eta) < 300.0)  // beyond this it underflows
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

// m trials with k successes are k rows of one class of the logistic and m - k of the other.
TEST(BinomialFamily, IsSoManyLogisticRows) {
  const Binomial family;
  const Logistic row;
  for (const double eta : etas)
    for (const double k : {0.0, 1.0, 3.0, 7.0}) {
      SCOPED_TRACE(testing::Message() << "eta " << eta << ", " << k << " of 7");
      const double ones = k == 0.0 ? 0.0 : k * row.log_likelihood(1.0, {&eta, 1}),
                   zeros = k == 7.0 ? 0.0 : (7.0 - k) * row.log_likelihood(0.0, {&eta, 1});
      expect_near(7.0 * family.log_likelihood(k / 7.0, {&eta, 1}), ones + zeros);
      double slope = 0.0, one = 0.0, zero = 0.0;
      family.slope(k / 7.0, {&eta, 1}, {&slope, 1});
      row.slope(1.0, {&eta, 1}, {&one, 1});
      row.slope(0.0, {&eta, 1}, {&zero, 1});
      EXPECT_NEAR(7.0 * slope, k * one + (7.0 - k) * zero, 1e-14);
    }
  EXPECT_EQ(family.target_problem(0.3), "");
  for (const double y : {-0.1, 1.1, std::nan("")}) EXPECT_NE(family.target_problem(y), "");
}

// The second derivative of l by its own formula in long double, and the remainder by a plain difference of it.
void expect_family(const auto& family, double y, double eta, long double l, long double slope, long double curvature) {
  SCOPED_TRACE(testing::Message() << "eta " << eta << ", y " << y);
  double first, second;
  family.slope(y, {&eta, 1}, {&first, 1});
  family.curvature(y, {&eta, 1}, {&second, 1});
  // A relative error of eta becomes eta^2 times as large in exp(-eta^2 / 2).
  const double relative = 1e-15 * (4.0 + eta * eta);
  expect_near(family.log_likelihood(y, {&eta, 1}), l, relative);
  expect_near(first, slope, 4.0 * relative);
  expect_near(second, curvature, 40.0 * relative);
}

TEST(ProbitFamily, LikelihoodAndSlopesInLongDouble) {
  const Probit family;
  const auto log_phi = [](long double m) { return logl(0.5L * erfcl(-m / sqrtl(2.0L))); };
  for (const double eta : {0.0, -1e-9, 0.3, -0.7, 2.0, -4.9999, -5.0001, 5.5, -12.0, 30.0, -30.0, -100.0})
    for (const double y : {0.0, 1.0}) {
      const long double m = y > 0.5 ? eta : -eta, pi = std::numbers::pi_v<long double>;
      const long double l = m > 0.0L ? log1pl(-0.5L * erfcl(m / sqrtl(2.0L))) : log_phi(m);
      const long double h = expl(-0.5L * m * m - l) / sqrtl(2.0L * pi);
      expect_family(family, y, eta, l, (y > 0.5 ? 1 : -1) * h, h * (m + h));
      for (const double delta : {-3.0, 0.8, 7.0}) {
        const long double after = m + (y > 0.5 ? 1 : -1) * static_cast<long double>(delta);
        if (fabsl(after) < 8.0L && fabsl(m) < 8.0L) {
          EXPECT_NEAR(family.remainder(y, {&eta, 1}, {&delta, 1}),
                      static_cast<double>(log_phi(after) - l - h * (after - m)), 1e-13 * (4.0 + eta * eta));
        }
      }
    }
}

TEST(CloglogFamily, LikelihoodAndSlopesInLongDouble) {
  const Cloglog family;
  for (const double eta : {0.0, -1e-9, 0.3, -0.7, 2.0, -2.2, -2.4, -5.0, -20.0, -300.0, 3.0, 4.0}) {
    const long double r = expl(eta), h = r / expm1l(r);
    expect_family(family, 0.0, eta, -r, -r, r);
    const long double more = r < 1e-3L ? r / 2 + r * r / 12 : r + h - 1;
    expect_family(family, 1.0, eta,
                  eta < -30.0 ? eta - r / 2
                  : r < 1.0L  ? logl(-expm1l(-r))
                              : log1pl(-expl(-r)),
                  h, h * more);
    for (const double delta : {-3.0, 0.8, 1.5}) {
      const auto l = [](long double e) { return e < 0.0L ? logl(-expm1l(-expl(e))) : log1pl(-expl(-expl(e))); };
      const long double after = static_cast<long double>(eta) + delta;
      if (eta > -30.0) {
        EXPECT_NEAR(family.remainder(1.0, {&eta, 1}, {&delta, 1}), static_cast<double>(l(after) - l(eta) - h * delta),
                    1e-14 * (1 + std::abs(eta)));
      }
    }
  }
  for (const double y : {-1.0, 0.5, std::nan("")}) EXPECT_EQ(family.target_problem(y), "0 or 1");
}

TEST(PoissonFamily, LikelihoodAndSlopesInLongDouble) {
  const Poisson family;
  for (const double eta : {0.0, 1e-300, -1e-9, 0.3, -0.7, 2.0, -5.0, 20.0, -36.0, -700.0, 300.0})
    for (const double y : {0.0, 1.0, 7.0, 255.0, 256.0, 1e6, 9007199254740992.0}) {
      SCOPED_TRACE(testing::Message() << "eta " << eta << ", y " << y);
      const long double mean = expl(eta), size = fabsl(y * static_cast<long double>(eta)) + mean + lgammal(y + 1.0L);
      EXPECT_NEAR(family.log_likelihood(y, {&eta, 1}),
                  static_cast<double>(y * static_cast<long double>(eta) - mean - lgammal(y + 1.0L)),
                  static_cast<double>(4 * ulps * size));
      double slope, curvature;
      family.slope(y, {&eta, 1}, {&slope, 1});
      family.curvature(y, {&eta, 1}, {&curvature, 1});
      EXPECT_NEAR(slope, static_cast<double>(y - mean), static_cast<double>(ulps * (y + mean)));
      expect_near(curvature, mean);
      for (const double delta : {-1e-8, 1e-3, -0.5, 1.0, 8.0, -40.0})
        expect_near(family.remainder(y, {&eta, 1}, {&delta, 1}), -mean * (expm1l(delta) - delta), 1e-7);
    }
}

TEST(PoissonFamily, KnowsItsTargets) {
  for (const double y : {0.0, 1.0, 1e15}) EXPECT_EQ(Poisson{}.target_problem(y), "");
  for (const double y : {-1.0, 0.5, 1e17, HUGE_VAL, std::nan("")})
    EXPECT_EQ(Poisson{}.target_problem(y), "a count: 0, 1, 2, ...");
}

// `needed` is never less than the curvature that a change needs, is nearly equal at the edge, and (c* - w) / x rises.
TEST(PoissonFamily, NeedsWhatTheSeriesSays) {
  const Poisson family;
  for (const double eta : {-3.0, 0.0, 5.0})
    for (const double r : {1e-9, 1e-3, 0.4, 0.999999, 1.000001, 3.0, 11.9}) {
      SCOPED_TRACE(testing::Message() << "eta " << eta << ", r " << r);
      const Needed needed = family.needed(0.0, {&eta, 1}, r);
      const long double w = expl(eta);
      // g(r) - 1 by its series, in long double.
      long double term = 1.0L, above = 0.0L;
      for (int k = 1; k < 60; ++k) above += (term *= r / (k + 2.0L));
      EXPECT_NEAR(needed.curvature, static_cast<double>(w * (1.0L + above)), 1e-14 * needed.curvature);
      EXPECT_NEAR(needed.growth, static_cast<double>(w * above / r), 1e-13 * needed.growth);
      EXPECT_LE(family.needed(0.0, {&eta, 1}, 0.5 * r).growth, needed.growth);
    }
  const double eta = 1.0;
  EXPECT_EQ(family.needed(0.0, {&eta, 1}, 12.1).curvature, HUGE_VAL);
  EXPECT_EQ(family.needed(0.0, {&eta, 1}, std::nan("")).curvature, HUGE_VAL);
}

// Frequencies of counts for small and large means; mean and variance if there are too many different counts.
TEST(PoissonFamily, DrawsCounts) {
  const Poisson family;
  constexpr std::uint64_t draws = 40000;
  for (const double mean : {0.01, 0.7, 3.2, 40.0}) {
    const double eta = std::log(mean);
    std::vector<double> frequency(200);
    for (std::uint64_t i = 0; i < draws; ++i)
      frequency.at(static_cast<std::size_t>(family.simulate({&eta, 1}, PhiloxRandom(5, 0, 0), i))) += 1.0 / draws;
    for (std::size_t y = 0; y < frequency.size(); ++y) {
      const double p = std::exp(family.log_likelihood(static_cast<double>(y), {&eta, 1}));
      EXPECT_NEAR(frequency[y], p, sigmas * std::sqrt(p * (1.0 - p) / draws) + 1.0 / draws) << mean << ", " << y;
    }
  }
  for (const double mean : {1000.0, 9e5, 1.1e6, 1e12}) {
    const double eta = std::log(mean);
    double sum = 0.0, squares = 0.0, cubes = 0.0;
    for (std::uint64_t i = 0; i < draws; ++i) {
      const double u = (family.simulate({&eta, 1}, PhiloxRandom(6, 0, 0), i) - mean) / std::sqrt(mean);
      sum += u / draws, squares += u * u / draws, cubes += u * u * u / draws;
    }
    EXPECT_NEAR(sum, 0.0, sigmas / std::sqrt(draws)) << mean;
    EXPECT_NEAR(squares, 1.0, sigmas * std::sqrt(2.0 / draws)) << mean;
    EXPECT_NEAR(cubes, 1.0 / std::sqrt(mean), sigmas * std::sqrt(15.0 / draws)) << mean;
  }
  const double far = 1e4, near = -1e4;
  EXPECT_EQ(family.target_problem(family.simulate({&far, 1}, PhiloxRandom(7, 0, 0), 0)), "");
  EXPECT_EQ(family.simulate({&near, 1}, PhiloxRandom(7, 0, 0), 0), 0.0);
}

// Moments in long double, by series if mu is small.
struct TruncatedMoments {
  long double log_sum, excess, variance;  // log((exp(mu) - 1) / mu), the mean less 1, the variance
  explicit TruncatedMoments(long double eta) {
    const long double mu = expl(eta);
    if (mu < 0.05L) {
      const long double m2 = mu * mu;
      log_sum = mu / 2 + m2 * (1 / 24.0L - m2 * (1 / 2880.0L - m2 * (1 / 181440.0L - m2 / 9676800.0L)));
      excess = mu / 2 + m2 * (1 / 12.0L - m2 * (1 / 720.0L - m2 * (1 / 30240.0L - m2 / 1209600.0L)));
      variance = mu / 2 + m2 * (1 / 6.0L - m2 * (1 / 180.0L - m2 * (1 / 5040.0L - m2 / 151200.0L)));
      return;
    }
    const long double b = mu > 11000.0L ? 0.0L : mu / expm1l(mu);
    log_sum = mu + logl(-expm1l(-mu)) - eta;
    excess = mu + b - 1.0L;
    variance = (mu + b) * (1.0L - b);
  }
};

TEST(TruncatedPoissonFamily, LikelihoodAndSlopesInLongDouble) {
  const TruncatedPoisson family;
  for (const double eta : {0.0, -1e-9, 0.3, 0.7, -0.7, 2.0, 3.6, 3.8, -5.0, 20.0, -36.0, -320.0, -330.0, -700.0})
    for (const double y : {1.0, 2.0, 7.0, 255.0, 1e6}) {
      SCOPED_TRACE(testing::Message() << "eta " << eta << ", y " << y);
      const TruncatedMoments at(eta);
      const long double size = fabsl(y * static_cast<long double>(eta)) + expl(eta) + lgammal(y + 1.0L);
      EXPECT_NEAR(family.log_likelihood(y, {&eta, 1}),
                  static_cast<double>((y - 1.0L) * eta - at.log_sum - lgammal(y + 1.0L)),
                  static_cast<double>(8 * ulps * size));
      double slope, curvature, mean;
      family.slope(y, {&eta, 1}, {&slope, 1});
      family.curvature(y, {&eta, 1}, {&curvature, 1});
      family.mean({&eta, 1}, {&mean, 1});
      EXPECT_NEAR(slope, static_cast<double>(y - 1.0L - at.excess),
                  static_cast<double>(4 * ulps * (y - 1.0L + at.excess)));
      EXPECT_NEAR(curvature, static_cast<double>(at.variance), static_cast<double>(1e-14L * at.variance));
      EXPECT_NEAR(mean, static_cast<double>(1.0L + at.excess), 1e-14 * mean);
      for (const double delta : {1e-3, -0.5, 1.0, 7.9, 8.1, -8.1, -40.0}) {
        if (eta + delta > 30.0) continue;
        const TruncatedMoments after(eta + static_cast<long double>(delta));
        const long double expected = -(after.log_sum - at.log_sum - at.excess * delta);
        EXPECT_NEAR(family.remainder(y, {&eta, 1}, {&delta, 1}), static_cast<double>(expected),
                    1e-12 * std::abs(static_cast<double>(expected)) +
                        4e-19 * static_cast<double>(at.log_sum + after.log_sum + (at.log_sum > 0.02L ? 3.0L : 0.0L)))
            << delta;
        double change = 0.0;
        family.remainder_slope(y, {&eta, 1}, {&delta, 1}, {&change, 1});
        EXPECT_NEAR(change, static_cast<double>(at.excess - after.excess),
                    1e-13 * static_cast<double>(at.excess + after.excess))
            << delta;
      }
    }
}

TEST(TruncatedPoissonFamily, KnowsItsTargets) {
  for (const double y : {1.0, 2.0, 1e15}) EXPECT_EQ(TruncatedPoisson{}.target_problem(y), "");
  for (const double y : {-1.0, 1.5, 1e17, HUGE_VAL, std::nan("")})
    EXPECT_EQ(TruncatedPoisson{}.target_problem(y), "a count without zeros: 1, 2, 3, ...");
  EXPECT_EQ(TruncatedPoisson{}.target_problem(0.0), "a count without zeros: 1, 2, 3, ...; a hurdle takes zeros, too");
}

// The bound relies on this: the third cumulant is positive, and at most 4/3 of the variance.
TEST(TruncatedPoissonFamily, ThirdCumulantIsBetweenZeroAndFourThirdsOfTheVariance) {
  const TruncatedPoisson family;
  double largest = 0.0;
  for (double eta = -12.0; eta < 6.0; eta += 0.01) {
    const double h = 1e-3, below = eta - h, above = eta + h;
    double w, before, after;
    family.curvature(1.0, {&eta, 1}, {&w, 1});
    family.curvature(1.0, {&below, 1}, {&before, 1});
    family.curvature(1.0, {&above, 1}, {&after, 1});
    const double ratio = (after - before) / (2.0 * h) / w;
    EXPECT_GT(ratio, 0.9) << eta;
    largest = std::max(largest, ratio);
  }
  EXPECT_NEAR(largest, 1.2857, 1e-3);
}

TEST(TruncatedPoissonFamily, NeedsWhatItSays) {
  const TruncatedPoisson family;
  for (const double eta : {-9.0, -1.0, 0.7, 3.0})
    for (const double r : {1e-4, 0.01, 0.4, 1.0, 3.0, 8.9}) {
      SCOPED_TRACE(testing::Message() << "eta " << eta << ", r " << r);
      const Needed needed = family.needed(1.0, {&eta, 1}, r);
      const TruncatedMoments at(eta);
      for (const double share : {-1.0, -0.3, 0.1, 0.5, 0.9, 1.0}) {
        const double x = share * r;
        const TruncatedMoments after(eta + static_cast<long double>(x));
        const long double c = 2.0L * (after.log_sum - at.log_sum - at.excess * x) / (static_cast<long double>(x) * x);
        const auto rounding = static_cast<double>(1e-17L * at.log_sum / (static_cast<long double>(x) * x));
        EXPECT_LE(static_cast<double>(c), needed.curvature * (1.0 + 1e-9) + rounding) << x;
        EXPECT_LE(static_cast<double>(c),
                  (static_cast<double>(at.variance) + needed.growth * std::abs(x)) * (1.0 + 1e-9) + rounding)
            << x;
      }
      if (r >= 0.4 && r < 3.0) {
        const TruncatedMoments edge(eta + static_cast<long double>(r));
        EXPECT_LT(needed.curvature, 1.01 * static_cast<double>(2.0L * (edge.log_sum - at.log_sum - at.excess * r) /
                                                               (static_cast<long double>(r) * r)));
      }
    }
  const double eta = 1.0;
  EXPECT_EQ(family.needed(1.0, {&eta, 1}, 9.1).curvature, HUGE_VAL);
}

TEST(TruncatedPoissonFamily, DrawsCounts) {
  const TruncatedPoisson family;
  constexpr std::uint64_t draws = 40000;
  for (const double mu : {1e-9, 0.01, 0.7, 3.2, 40.0}) {
    const double eta = std::log(mu);
    std::vector<double> frequency(200);
    for (std::uint64_t i = 0; i < draws; ++i)
      frequency.at(static_cast<std::size_t>(family.simulate({&eta, 1}, PhiloxRandom(5, 0, 0), i))) += 1.0 / draws;
    EXPECT_EQ(frequency[0], 0.0);
    for (std::size_t y = 1; y < frequency.size(); ++y) {
      const double p = std::exp(family.log_likelihood(static_cast<double>(y), {&eta, 1}));
      EXPECT_NEAR(frequency[y], p, sigmas * std::sqrt(p * std::max(0.0, 1.0 - p) / draws) + 1.0 / draws)
          << mu << ", " << y;
    }
  }
  const double near = -1e4;
  EXPECT_EQ(family.simulate({&near, 1}, PhiloxRandom(7, 0, 0), 0), 1.0);
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
        // If the observed class is the likeliest, -l may be tiny and still has all its digits; it is at most log(3).
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
      // eta + 1 is rounded.
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

// With many degrees of freedom it is the normal distribution, its constant included.
TEST(StudentTFamily, BecomesNormal) {
  const double eta = 0.3;
  for (const double nu : {1e5, 1e8, 1e12, 1e15})
    EXPECT_NEAR(StudentT(nu, 2.0).log_likelihood(1.0, {&eta, 1}), Gaussian(2.0).log_likelihood(1.0, {&eta, 1}),
                1.0 / nu + 1e-14)
        << nu;
  // On both sides of the switch to the series.
  EXPECT_NEAR(StudentT(19999.9, 1.0).log_likelihood(eta, {&eta, 1}),
              StudentT(20000.1, 1.0).log_likelihood(eta, {&eta, 1}), 1e-9);
}

// A count far beyond kappa: y - (y + kappa) p = kappa (y - mu) / (mu + kappa), and the likelihood, by formulas that do
// not cancel.
TEST(NegativeBinomialFamily, LargeCounts) {
  const double kappa = 2.3, s = std::log(kappa);
  for (const double y : {1e6, 1e9, 1e12, 1e15}) {
    const double eta[] = {std::log(y) + 0.3, s};
    double slope[2];
    NegativeBinomial{}.slope(y, eta, slope);
    const double mu = std::exp(eta[0]);
    EXPECT_NEAR(slope[0], kappa * (y - mu) / (mu + kappa), 1e-12) << y;
    const long double psi = static_cast<long double>(eta[0]) - s;
    const long double value = y * static_cast<long double>(s) - kappa * psi - (y + kappa) * log1pl(expl(-psi));
    EXPECT_NEAR(NegativeBinomial{}.log_likelihood(y, eta), static_cast<double>(value), 1e-15 * y + 1e-12) << y;
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

// Shares of draws below points of a known distribution function; about 20 comparisons in all, with a false alarm of
// 2e-4 over the four tests and less than 1e-4 in each.
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
  // Addressed: the same target again, out of order.
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

// A user's family needs only the concept. Its parts agree with each other in long double.
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
