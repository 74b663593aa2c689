// Narrow priors with long tails: the places that hold the posterior, and the place of the anchor.
#include "flymc/anchor/long_tails.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "flymc/model/gaussian.hpp"
#include "flymc/model/logistic.hpp"
#include "flymc/model/residual.hpp"
#include "problems/thread_ranks.hpp"

namespace flymc {
namespace {

using problems::Machine;

constexpr int half = 200;

// Half of the rows have x = 1 and half x = -1; targets are slope x plus errors of standard deviation 1.
Store line(double slope, bool with_target_column = false) {
  StoreBuilder builder(with_target_column ? std::vector<std::string>{"x", "sigma"} : std::vector<std::string>{"x"});
  for (int i = 0; i < 2 * half; ++i) {
    const double x = i < half ? 1.0 : -1.0, y = slope * x + (i % 2 == 0 ? 1.0 : -1.0);
    builder.append(with_target_column ? std::vector<double>{x, y} : std::vector<double>{x},
                   with_target_column ? 1.0 : y);
  }
  return builder.finish();
}

// The likelihood's standard deviation of the coefficient is 1 / sqrt(400) = 0.05.
Anchor anchor_of(const Model& model, const Store& store) {
  const Machine machine;
  return find_likeliest_anchor(store, model, machine.execution(), 1);
}

TEST(LongTails, AreThoseThatAreNarrowBesideTheRows) {
  const Store store = line(0.2);
  for (const auto& [prior, narrow] :
       {std::pair{Prior::student_t(3.0, 0.0, 0.001), true}, std::pair{Prior::student_t(3.0, 0.0, 0.02), true},
        std::pair{Prior::student_t(3.0, 0.0, 0.1), false}, std::pair{Prior::normal(0.0, 0.001), false},
        std::pair{Prior::laplace(0.0, 0.001), false}}) {
    const Model model(Gaussian{1.0}, prior);
    const LongTails tails(model, rows_at(model, anchor_of(model, store)));
    EXPECT_EQ(tails.size(), narrow ? 1u : 0u) << prior.describe();
    if (!narrow) continue;
    EXPECT_NEAR(tails.mean()[0], 0.2, 0.001);
    EXPECT_NEAR(tails.sd()[0], 0.05, 0.0001);
  }
}

// Compares the share of the spike with a sum over a grid, and checks that the anchor is at the place that holds more.
TEST(LongTails, TheAnchorIsWhereMostOfThePosteriorIs) {
  for (const double slope : {0.14, 0.17, 0.2, 0.23, 0.26}) {
    const double scale = 0.002, nu = 2.0;
    const Prior prior = Prior::student_t(nu, 0.0, scale);
    const Store store = line(slope);
    const Model model(Gaussian{1.0}, prior);
    // Away from the spike the log density is -half (t - slope)^2 - 3 log t, whose slope is 0 at two points or none. The
    // lower one separates the modes.
    const double discriminant = slope * slope - 4.0 * (nu + 1.0) / (2.0 * half);
    const double valley = discriminant > 0.0 ? 0.5 * (slope - std::sqrt(discriminant)) : 0.04;
    double spike = 0.0, all = 0.0;
    for (double t = -0.5; t < 1.0; t += 1e-5) {
      const double mass =
          std::exp(-half * (t - slope) * (t - slope) - 0.5 * (nu + 1.0) * std::log1p(t * t / (nu * scale * scale)));
      all += mass;
      spike += t < valley ? mass : 0.0;
    }
    const Anchor anchor = anchor_of(model, store);
    const LongTails tails(model, rows_at(model, anchor));
    ASSERT_EQ(tails.size(), 1u) << slope;
    const double share = spike / all;
    const auto found = tails.share_of_spike(0);
    EXPECT_EQ(found.has_value(), discriminant > 0.0) << slope;
    if (found) {
      // An anchor in a spike is not exactly at the mode, and its small error shifts the mean of the likelihood.
      constexpr double tolerance = 0.1;
      EXPECT_NEAR(std::log(*found / (1.0 - *found)), std::log(share / (1.0 - share)), tolerance) << slope;
    }
    if (std::abs(share - 0.5) < 0.25) continue;
    EXPECT_EQ(anchor.theta[0] > 0.5 * slope, share < 0.5) << slope << ": " << anchor.theta[0] << ", " << share;
  }
}

// If the scale is drawn, it is 12 % larger in the spike at 0.5, where the log likelihood is lower by 44.6 nats. An
// expansion at the likelihood's mode gives 50. With a flat prior of sigma the likelihood of beta is (1 + (beta -
// mean)^2)^(-399/2).
TEST(LongTails, TheAnchorIsWhereMostOfThePosteriorIsWithADrawnScale) {
  const Store store = line(0.0, true);
  constexpr double nu = 5.0, location = 0.5, step = 1e-4;
  for (const double scale : {1e-5, 2e-5, 6e-5, 2e-4}) {
    const double spike = scale * std::sqrt(nu) * std::beta(0.5 * nu, 0.5) * std::pow(1.0 + location * location, -199.5);
    double rest = 0.0;
    for (double b = -0.4; b < 0.4; b += step) {
      const double t = (b - location) / scale;
      rest += step * std::pow(1.0 + b * b, -199.5) * std::pow(1.0 + t * t / nu, -0.5 * (nu + 1.0));
    }
    const double log_odds = std::log(spike / rest);
    const Prior prior = Prior::each({Prior::student_t(nu, location, scale), Prior::student_t(3.0, 0.0, 100.0)});
    const Model model(Residual(Gaussian{1.0}), prior, ScaledTarget{.total_weight = 2.0 * half});
    const double at = model.parameters(anchor_of(model, store).theta)[0];
    if (std::abs(log_odds) < 2.0) continue;
    EXPECT_EQ(at > 0.25, log_odds > 0.0) << scale << ": " << at << ", " << log_odds;
  }
}

// If the scale is drawn, theta is -beta / sigma, so the prior of beta is a prior of theta in another unit.
TEST(LongTails, PriorsAreThoseOfThetaWhereTheScaleIsDrawn) {
  const Store store = line(0.2, true);
  const Prior prior = Prior::each({Prior::student_t(2.0, 0.01, 0.002), Prior::student_t(3.0, 0.0, 2.5)});
  const Model model(Residual(Gaussian{1.0}), prior, ScaledTarget{.total_weight = 2.0 * half, .unit = 4.0});
  const Vector parameters{{0.15, 2.0}};
  const Vector theta = model.theta(parameters);
  const Anchor anchor = anchor_of(model, store);
  const LongTails tails(model, rows_at(model, anchor));
  ASSERT_EQ(tails.entries(), std::vector<Index>{0});
  const StudentTOfEntry density = tails.priors_at(theta)[0];
  for (const double beta : {0.01, 0.012, 0.15}) {
    Vector there = theta;
    there[0] = model.theta(Vector{{beta, 2.0}})[0];
    const double per_unit = std::abs(model.parameter_change(theta, Vector::Unit(2, 0))[0]);
    EXPECT_NEAR(density.log_density(there[0]),
                Prior::student_t(2.0, 0.01, 0.002).log_density(Vector{{beta}}) + std::log(per_unit), 1e-9);
  }
}

// If two columns are nearly the same, the effect may belong to one of them, to the other, or to neither.
TEST(LongTails, PlacesAreOfAllCoefficientsTogether) {
  StoreBuilder builder({"a", "b"});
  for (int i = 0; i < 2 * half; ++i) {
    const double a = i < half ? 1.0 : -1.0, b = i % 10 == 0 ? -a : a;
    builder.append(std::vector<double>{a, b}, 0.3 * a + (i % 2 == 0 ? 1.0 : -1.0));
  }
  const Store store = builder.finish();
  const Model model(Gaussian{1.0}, Prior::student_t(3.0, 0.0, 0.002));
  const Anchor anchor = anchor_of(model, store);
  const LongTails tails(model, rows_at(model, anchor));
  ASSERT_EQ(tails.size(), 2u);
  EXPECT_EQ(tails.likeliest(), (AtPrior{false, true}));
  EXPECT_NEAR(anchor.theta[0], 0.3, 0.05);
  EXPECT_NEAR(anchor.theta[1], 0.0, 0.01);
  const Vector none = tails.theta({true, true});
  EXPECT_EQ(none[0], 0.0);
  EXPECT_EQ(none[1], 0.0);
  EXPECT_GT(tails.log_mass({false, true}), tails.log_mass({true, false}));
  // With the first in its spike, the second alone fits 4.8 of its own standard deviations better, a gain of 11.5 nats,
  // and loses 13.7 nats of the prior's density by leaving the spike.
  EXPECT_GT(tails.log_mass({true, true}), tails.log_mass({true, false}));
  EXPECT_NEAR(tails.log_mass({true, true}) - tails.log_mass({true, false}), 2.4, 0.3);
}

}  // namespace
}  // namespace flymc
