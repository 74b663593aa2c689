// The quadrature on densities whose moments and quantiles have formulas, and on every model.
#include "reference.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <numbers>

#include "flymc/diagnose/quantile_functions.hpp"

namespace flymc::truth {
namespace {

void expect_within(double got, double want, double sd) { EXPECT_NEAR(got, want, 1e-6 * sd); }

TEST(Quadrature, NormalInABoxThatIsFarTooWideAndOneThatIsTooNarrow) {
  for (const Axis& axis : {Axis{-1000.0, 1000.0}, Axis{2.9, 3.1}}) {
    const Quadrature q =
        integrate([](std::span<const double> t) { return -2.0 * (t[0] - 3.0) * (t[0] - 3.0); }, {axis});
    const Marginal& m = q.marginals[0];
    expect_within(m.mean(), 3.0, 0.5);
    expect_within(m.sd(), 0.5, 0.5);
    for (const double p : {1e-6, 0.05, 0.5, 0.95}) expect_within(m.quantile(p), 3.0 + 0.5 * normal_quantile(p), 0.5);
  }
}

// n rows y with mean 1.5 and unit variance, with a normal prior: the posterior of conjugate normals, correlated in x.
TEST(Quadrature, NormalPriorAndNormalLikelihoodInThreeDimensions) {
  const auto log_density = [](std::span<const double> t) {
    double sum = -0.5 * (t[0] * t[0] + t[1] * t[1] + t[2] * t[2]) / 4.0;
    const double eta[] = {t[0], t[0] + t[1], t[0] + t[2], t[0] + t[1] + t[2]}, y[] = {1.0, 2.0, -1.0, 0.5};
    for (int i = 0; i < 4; ++i) sum -= 0.5 * 10.0 * (y[i] - eta[i]) * (y[i] - eta[i]);
    return sum;
  };
  Matrix x(4, 3);
  x << 1, 0, 0, 1, 1, 0, 1, 0, 1, 1, 1, 1;
  const Matrix covariance = (10.0 * x.transpose() * x + 0.25 * Matrix::Identity(3, 3)).inverse();
  const Vector mean = covariance * (10.0 * x.transpose() * Vector{{1.0, 2.0, -1.0, 0.5}});
  const Quadrature q = integrate(log_density, {{-3, 3}, {-3, 3}, {-4, 2}});
  for (Index j = 0; j < 3; ++j) {
    const double sd = std::sqrt(covariance(j, j));
    const Marginal& m = q.marginals[static_cast<std::size_t>(j)];
    expect_within(m.mean(), mean[j], sd);
    expect_within(m.sd(), sd, sd);
    expect_within(m.quantile(0.95), mean[j] + sd * normal_quantile(0.95), sd);
  }
}

// With a flat prior on log odds, times p^a (1 - p)^b: p is Beta(a, b), the log odds have the moments
// digamma(a) - digamma(b) and trigamma(a) + trigamma(b). For a = 1 and b = 3: -1 - 1/2 and pi^2/6 + pi^2/6 - 1 - 1/4.
TEST(Quadrature, LogOddsOfABeta) {
  const Quadrature q =
      integrate([](std::span<const double> t) { return t[0] - 4.0 * std::log1p(std::exp(t[0])); }, {{-20.0, 5.0}});
  const Marginal& m = q.marginals[0];
  const double sd = std::sqrt(std::numbers::pi * std::numbers::pi / 3.0 - 1.25);
  expect_within(m.mean(), -1.5, sd);
  expect_within(m.sd(), sd, sd);
  for (const double p : {0.05, 0.95}) {
    const double b = beta_quantile(p, 1.0, 3.0);
    expect_within(m.quantile(p), std::log(b / (1.0 - b)), sd);
  }
}

TEST(Quadrature, LaplaceHasACorner) {
  const Quadrature q = integrate([](std::span<const double> t) { return -std::abs(t[0]); }, {{-7.0, 9.0, 0, {0.0}}});
  expect_within(q.marginals[0].mean(), 0.0, 1.0);
  expect_within(q.marginals[0].sd(), std::sqrt(2.0), 1.0);
  expect_within(q.marginals[0].quantile(0.95), std::log(10.0), 1.0);
}

// Student's t with 7 degrees: variance 7 / 5. Heavier tails than these are beyond the error estimate at the ends.
TEST(Quadrature, HeavyTails) {
  const Quadrature q =
      integrate([](std::span<const double> t) { return -4.0 * std::log1p(t[0] * t[0] / 7.0); }, {{-20.0, 20.0}});
  expect_within(q.marginals[0].sd(), std::sqrt(7.0 / 5.0), 1.0);
}

// Two classes are a logistic regression of their differences, whose prior has twice the variance.
TEST(Reference, SoftmaxOfTwoClassesIsLogistic) {
  TruthModel softmax, logistic;
  for (const TruthModel& model : models())
    if (model.name == "softmax_two_classes") softmax = model;
  logistic = softmax;
  logistic.family = FamilyKind::logistic;
  logistic.prior.scale *= std::sqrt(2.0);
  const Quadrature one = reference(softmax), other = reference(logistic);
  for (std::size_t j = 0; j < 2; ++j) {
    expect_within(one.marginals[j].mean(), other.marginals[j].mean(), other.marginals[j].sd());
    expect_within(one.marginals[j].sd(), other.marginals[j].sd(), other.marginals[j].sd());
  }
}

class ReferenceOf : public ::testing::TestWithParam<TruthModel> {};

TEST_P(ReferenceOf, Settles) {
  const TruthModel& model = GetParam();
  ASSERT_EQ(model.axes.size(), model.identified());
  const Quadrature q = reference(model);
  EXPECT_LE(q.error, 1e-6);
  EXPECT_LE(q.cut, 2e-9);
  for (const Marginal& m : q.marginals) EXPECT_TRUE(m.quantile(0.05) < m.mean() && m.mean() < m.quantile(0.95));
}

// These take three minutes, and flymc_truth refuses a reference that does not settle.
INSTANTIATE_TEST_SUITE_P(ByHand, ReferenceOf, ::testing::ValuesIn(models()),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace flymc::truth
