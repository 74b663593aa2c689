// Families with a shape: densities, derivatives and remainders against long double, and the term of the shape.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "flymc/bound/laws.hpp"
#include "problems/shaped.hpp"

namespace flymc {
namespace {

using Pair = std::array<double, 2>;
using Real = long double;

Real log_density_of_count(Real y, Real eta, Real s) {
  const Real kappa = expl(s), mu = expl(eta);
  return lgammal(y + kappa) - lgammal(kappa) - lgammal(y + 1) + y * (eta - logl(mu + kappa)) -
         kappa * log1pl(mu / kappa);
}

Real log_density_of_amount(Real y, Real eta, Real s) {
  const Real kappa = expl(s), mu = expl(eta);
  return kappa * logl(kappa) - lgammal(kappa) + (kappa - 1) * logl(y) - kappa * eta - kappa * y / mu;
}

// The log density: the family's part and the shape's part together.
template <class F>
double log_density(const F& family, double y, const Pair& at) {
  return family.log_likelihood(y, at) + family.shape_part(y, at[1]).value;
}

template <class F>
void expect_derivatives(const F& family, double y, const Pair& at) {
  SCOPED_TRACE(testing::Message() << family.name() << " y " << y << " eta " << at[0] << " s " << at[1]);
  std::array<double, 2> slope;
  std::array<double, 4> curvature, size;
  family.slope(y, at, slope);
  family.curvature(y, at, curvature);
  family.size_of_curvature(y, at, size);
  const double h = 1e-5;
  for (std::size_t j = 0; j < 2; ++j) {
    Pair low = at, high = at;
    low[j] -= h;
    high[j] += h;
    const double scale = size[0] + std::abs(slope[j]) + 1.0;
    EXPECT_NEAR(slope[j], (family.log_likelihood(y, high) - family.log_likelihood(y, low)) / (2 * h), 1e-5 * scale);
    std::array<double, 2> after, before;
    family.slope(y, high, after);
    family.slope(y, low, before);
    for (std::size_t i = 0; i < 2; ++i)
      EXPECT_NEAR(curvature[2 * i + j], (before[i] - after[i]) / (2 * h), 1e-5 * scale) << i << j;
  }
  const ShapePart part = family.shape_part(y, at[1]), low = family.shape_part(y, at[1] - h),
                  high = family.shape_part(y, at[1] + h);
  EXPECT_NEAR(part.slope, (high.value - low.value) / (2 * h), 1e-6 * (1.0 + std::abs(part.slope) + 1e-5 * y));
  EXPECT_NEAR(part.bend, (high.slope - low.slope) / (2 * h), 1e-6 * (1.0 + std::abs(part.bend) + 1e-5 * y));
}

TEST(Shapes, CountsInLongDouble) {
  const NegativeBinomial family;
  for (const double s : {-3.0, -0.5, 0.0, 1.7, 2.7, 2.9, 6.0, 12.0})
    for (const double eta : {-4.0, 0.0, 2.0, 6.5})
      for (const double y : {0.0, 1.0, 2.0, 15.0, 16.0, 17.0, 40.0, 1000.0}) {
        SCOPED_TRACE(testing::Message() << "s " << s << ", eta " << eta << ", y " << y);
        const auto expected = static_cast<double>(log_density_of_count(y, eta, s));
        const double size = y * (1.0 + std::abs(eta) + std::abs(s)) + std::exp(s) + lgamma(y + 1.0) + 1.0;
        EXPECT_NEAR(log_density(family, y, {eta, s}), expected, 1e-14 * size);
        expect_derivatives(family, y, {eta, s});
      }
}

TEST(Shapes, AmountsInLongDouble) {
  const Gamma family;
  for (const double s : {-4.0, -0.5, 0.0, 1.7, 2.7, 2.8, 6.0, 12.0})
    for (const double eta : {-4.0, 0.0, 2.0, 9.0})
      for (const double u : {-20.0, -2.0, -0.1, 0.0, 0.3, 2.0, 5.0}) {
        const double y = std::exp(u + eta);
        SCOPED_TRACE(testing::Message() << "s " << s << ", eta " << eta << ", y " << y);
        const auto expected = static_cast<double>(log_density_of_amount(y, eta, s));
        const double size = std::exp(s) * (1.0 + std::abs(u) + std::exp(u) + std::abs(eta)) + std::abs(u) + 1.0;
        EXPECT_NEAR(log_density(family, y, {eta, s}), expected, 1e-14 * size);
        expect_derivatives(family, y, {eta, s});
      }
}

// The parts of many targets add up, apart from terms that do not depend on the shape.
TEST(Shapes, PartsOfManyTargets) {
  const std::vector<WeighedTarget> counts = {{0.0, 3.0},  {1.0, 2.0},  {2.0, 0.5},  {15.0, 1.0},
                                             {16.0, 2.0}, {17.0, 1.0}, {400.0, 0.3}};
  const std::vector<WeighedTarget> amounts = {{0.5, 2.0}, {30.0, 1.5}};
  for (const double s : {-2.0, 0.3, 4.0}) {
    ShapePart sum, of_amounts;
    const auto add = [s](ShapePart& to, const WeighedTarget& each, const auto& part) {
      const ShapePart here = part(each.target, s), before = part(each.target, 0.0);
      to.value += each.weight * (here.value - before.value);
      to.slope += each.weight * here.slope;
      to.bend += each.weight * here.bend;
    };
    for (const WeighedTarget& each : counts) add(sum, each, shape_part_of_count);
    for (const WeighedTarget& each : amounts) add(of_amounts, each, shape_part_of_amount);
    const ShapePart all = shape_part_of_counts(counts, s), others = shape_part_of_amounts(amounts, s);
    EXPECT_NEAR(all.value - shape_part_of_counts(counts, 0.0).value, sum.value, 1e-10);
    EXPECT_NEAR(all.slope, sum.slope, 1e-11);
    EXPECT_NEAR(all.bend, sum.bend, 1e-11);
    EXPECT_NEAR(others.value - shape_part_of_amounts(amounts, 0.0).value, of_amounts.value, 1e-12);
    EXPECT_NEAR(others.slope, of_amounts.slope, 1e-13);
    EXPECT_NEAR(others.bend, of_amounts.bend, 1e-13);
  }
}

// As the shape grows, counts tend to the Poisson's, without loss of digits on the way.
TEST(Shapes, CountsOfALargeShapeArePoisson) {
  for (const double y : {0.0, 1.0, 3.0, 20.0, 400.0})
    for (const double eta : {-2.0, 1.0, 5.0}) {
      const double expected = Poisson{}.log_likelihood(y, {&eta, 1});
      EXPECT_NEAR(log_density(NegativeBinomial{}, y, {eta, 32.0}), expected, 1e-8 * (1.0 + std::abs(expected)));
    }
}

template <class F>
void expect_remainders(const F& family, Real (*density)(Real, Real, Real), double y, const Pair& at) {
  Pair slope;
  std::array<double, 4> size;
  family.slope(y, at, slope);
  family.size_of_curvature(y, at, size);
  for (const double a : {-2.0, -0.3, 0.0, 1e-4, 0.8, 3.0})
    for (const double b : {-1.5, -0.2, 0.0, 1e-4, 0.5, 2.0}) {
      SCOPED_TRACE(testing::Message() << family.name() << " y " << y << " at " << at[0] << ", " << at[1] << " by " << a
                                      << ", " << b);
      const Pair delta{a, b}, there{at[0] + a, at[1] + b};
      // The family's own part of the density: the whole less the shape's part.
      const auto own = [&](Real eta, Real s) {
        const ShapePart part = family.shape_part(y, static_cast<double>(s));
        return density(y, eta, s) - part.value;
      };
      const Real moved = static_cast<Real>(family.log_likelihood(y, there)) - family.log_likelihood(y, at) -
                         slope[0] * a - slope[1] * b;
      const double form = size[0] * (a * a + b * b) * std::exp(std::abs(a) + std::abs(b));
      const double rounding = 1e-14 * (std::abs(family.log_likelihood(y, at)) + std::abs(slope[0]) +
                                       std::abs(slope[1]) + y * std::abs(at[0]) + 1.0);
      EXPECT_NEAR(family.remainder(y, at, delta), static_cast<double>(moved), 1e-13 * form + 20.0 * rounding);
      EXPECT_NEAR(static_cast<double>(own(there[0], there[1]) - own(at[0], at[1])),
                  family.log_likelihood(y, there) - family.log_likelihood(y, at), 1e-12 * form + 100.0 * rounding);
      Pair turned, after;
      family.remainder_slope(y, at, delta, turned);
      family.slope(y, there, after);
      for (std::size_t j = 0; j < 2; ++j)
        EXPECT_NEAR(turned[j], after[j] - slope[j], 1e-12 * (size[0] * std::exp(3.0) + std::abs(after[j]) + y)) << j;
    }
}

TEST(Shapes, RemaindersOfCounts) {
  for (const double y : {0.0, 3.0, 60.0})
    for (const Pair at : {Pair{0.5, 0.2}, Pair{3.0, -1.0}, Pair{-1.0, 4.0}})
      expect_remainders(NegativeBinomial{}, &log_density_of_count, y, at);
}

TEST(Shapes, RemaindersOfAmounts) {
  for (const double y : {0.01, 1.0, 60.0})
    for (const Pair at : {Pair{0.5, 0.2}, Pair{3.0, -1.0}, Pair{2.0, 3.0}})
      expect_remainders(Gamma{}, &log_density_of_amount, y, at);
}

template <class F>
void expect_moments(const F& family, double mean, double kappa, double variance) {
  const Pair at{std::log(mean), std::log(kappa)};
  const int n = 20000;
  double sum = 0.0, squares = 0.0;
  for (int i = 0; i < n; ++i) {
    const double y = family.simulate(at, PhiloxRandom(5, 0, 0), static_cast<std::uint64_t>(i));
    EXPECT_EQ(family.target_problem(y), "");
    sum += y;
    squares += y * y;
  }
  EXPECT_NEAR(sum / n, mean, 4.5 * std::sqrt(variance / n));
  const double found = squares / n - sum / n * sum / n;
  EXPECT_NEAR(found / variance, 1.0, 0.1);
}

TEST(Shapes, DrawnTargetsHaveTheirMoments) {
  expect_moments(NegativeBinomial{}, 3.0, 2.0, 3.0 + 9.0 / 2.0);
  expect_moments(NegativeBinomial{}, 0.2, 0.5, 0.2 + 0.04 / 0.5);
  expect_moments(Gamma{}, 50.0, 2.0, 50.0 * 50.0 / 2.0);
  expect_moments(Gamma{}, 0.3, 0.7, 0.09 / 0.7);
}

TEST(Shapes, TheTermHasItsDerivatives) {
  const Prior prior = Prior::student_t(4.0, 0.3, 2.0);
  ShapedTarget target{{{0.0, 3.0}, {2.0, 1.5}, {30.0, 1.0}}};
  const Model model(NegativeBinomial{}, prior, target);
  const Term& term = model.term();
  const Vector theta{{0.4, -0.7, 0.9}};
  Vector gradient = Vector::Zero(3);
  const double value = term.log_density(theta, &gradient);
  const Vector parameters = model.parameters(theta);
  EXPECT_DOUBLE_EQ(parameters[2], std::exp(0.9));
  EXPECT_TRUE(model.theta(parameters).isApprox(theta, 1e-15));
  const double expected = prior.log_density(parameters) + 0.9 + shape_part_of_counts(target.targets, 0.9).value;
  EXPECT_NEAR(value, expected, 1e-12);
  Matrix bend = Matrix::Zero(3, 3);
  term.curvature(Term::Of::bend, theta).add_to(bend);
  const double h = 1e-5;
  for (Index j = 0; j < 3; ++j) {
    Vector low = theta, high = theta, before = Vector::Zero(3), after = Vector::Zero(3);
    low[j] -= h;
    high[j] += h;
    EXPECT_NEAR(gradient[j], (term.log_density(high) - term.log_density(low)) / (2 * h), 1e-6);
    term.surrogate(low, before);
    term.surrogate(high, after);
    for (Index i = 0; i < 3; ++i) EXPECT_NEAR(bend(i, j), (before[i] - after[i]) / (2 * h), 1e-4) << i << j;
    Vector direction = Vector::Zero(3);
    direction[j] = 1.0;
    EXPECT_TRUE(model.parameter_change(theta, direction)
                    .isApprox((model.parameters(high) - model.parameters(low)) / (2 * h), 1e-6));
  }
}

TEST(Shapes, KnowTheirTargets) {
  EXPECT_EQ(Gamma{}.target_problem(0.5), "");
  for (const double y : {-1.0, HUGE_VAL, std::nan("")}) EXPECT_EQ(Gamma{}.target_problem(y), "a number above 0");
  EXPECT_TRUE(Gamma{}.target_problem(0.0).starts_with("a number above 0; fit whether there is any amount by another"));
  EXPECT_EQ(NegativeBinomial{}.target_problem(7.0), "");
  EXPECT_EQ(NegativeBinomial{}.target_problem(0.5), "a count: 0, 1, 2, ...");
}

// Entries of theta: all but the last belong to the first predictor, and the last to the shape only.
TEST(Arrangement, OfASharedPredictor) {
  const Arrangement shared(2, true);
  const Vector theta{{1.0, 2.0, 3.0}};
  const Matrix columns = shared.columns(theta);
  EXPECT_EQ(columns, (Matrix{{1.0, 0.0}, {2.0, 0.0}, {0.0, 3.0}}));
  EXPECT_EQ(shared.entries_of(columns), theta);
  EXPECT_EQ(shared.entries(3), 3);
  EXPECT_EQ(shared.entry(0, 1, 3), 1);
  EXPECT_EQ(shared.entry(0, 2, 3), -1);
  EXPECT_EQ(shared.entry(1, 0, 3), -1);
  EXPECT_EQ(shared.entry(1, 2, 3), 2);
  // From a form F over all features of both predictors, the form in theta: E'F E, with E the columns of unit vectors.
  const Matrix half = Matrix{{1., 2., 0., 4., 1., 3.}, {0., 1., 5., 2., 2., 1.}, {2., 0., 1., 1., 3., 0.},
                             {1., 1., 0., 2., 1., 1.}, {3., 0., 2., 0., 1., 2.}, {0., 2., 1., 1., 0., 1.}};
  const Matrix form = half * half.transpose();
  Matrix units(6, 3);
  for (Index j = 0; j < 3; ++j) {
    const Matrix unit = shared.columns(Vector::Unit(3, j));
    units.col(j) = Eigen::Map<const Vector>(unit.data(), 6);
  }
  EXPECT_TRUE(
      Matrix(shared.entries_of_form(form).selfadjointView<Eigen::Lower>()).isApprox(units.transpose() * form * units));
}

}  // namespace
}  // namespace flymc
