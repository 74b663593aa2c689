// The sharp bound against a grid search for the needed curvature, and against the anchored bound; and the expected gaps
// that follow from it.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "flymc/anchor/anchor.hpp"
#include "flymc/bound/bound.hpp"
#include "flymc/bound/spread.hpp"
#include "problems/problems.hpp"

namespace flymc {
namespace {

// 2 (l(eta) + l'(eta) d - l(eta + d)) / d^2, by plain differences in long double.
using Needs = std::function<long double(long double)>;

Needs logistic_needs(double y, double eta) {
  const long double side = y > 0.5 ? 1.0L : -1.0L;
  const auto l = [side](long double e) { return -std::log1p(std::exp(-side * e)); };
  const long double slope = side / (1.0L + std::exp(side * static_cast<long double>(eta)));
  return [=](long double d) { return 2.0L * (l(eta) + slope * d - l(eta + d)) / (d * d); };
}

Needs student_t_needs(double nu, double sigma, double residual) {
  const long double a = static_cast<long double>(nu) * sigma * sigma, half = 0.5L * (nu + 1.0L), r = residual;
  const auto l = [=](long double e) { return -half * std::log1p((r - e) * (r - e) / a); };
  const long double slope = 2.0L * half * r / (a + r * r);
  return [=](long double d) { return 2.0L * (l(0.0L) + slope * d - l(d)) / (d * d); };
}

// The maximum on a grid of both sides, up to r. The needed curvature varies smoothly on the scale of 1 or of sqrt(nu)
// sigma, so a grid of 400 misses the supremum by a relative 1e-5 or less. Below `least_offset` long double has too few
// digits.
constexpr double least_offset = 1e-3;
double supremum(const Needs& needs, double r) {
  constexpr int points = 400;
  long double most = std::max(needs(r), needs(-r));
  for (int i = 1; i < points; ++i)
    if (const long double d = r * i / points; d >= least_offset) most = std::max({most, needs(d), needs(-d)});
  for (long double d = r / points; d >= least_offset; d *= 0.8L) most = std::max({most, needs(d), needs(-d)});
  return static_cast<double>(most);
}

// c* is never below the supremum and hardly above it; the growth is never below (c* - w) / x at smaller x, and not far
// above.
void expect_sharp(const Needed& needed, const Needs& needs, double w, double global, double r, bool grows) {
  const double least = std::max(w, supremum(needs, r));
  EXPECT_GE(needed.curvature, least - 1e-9 * global);
  EXPECT_LE(needed.curvature, least + 0.01 * std::abs(least) + 1e-4 * global);
  EXPECT_LE(needed.curvature, global * (1.0 + 1e-12));
  if (!grows) return;
  double most = 0.0;  // maximum of (c*(x) - w) / x
  for (double x = r; x > least_offset; x = x > 1.001 * least_offset ? std::max(0.8 * x, 1.001 * least_offset) : 0.0) {
    const double slope = (supremum(needs, x) - w) / x;
    EXPECT_GE(needed.growth, slope - 1e-8 * global / x) << "at " << x;
    most = std::max(most, slope);
  }
  EXPECT_LE(needed.growth, 1.5 * most + 1e-4 * global / r);
}

TEST(Sharp, LogisticIsWhatAGridSearchFinds) {
  for (const double eta : {0.0, 0.02, -0.4, 1.0, -1.31, 1.4, 2.5, -5.0, 9.0})
    for (const double y : {0.0, 1.0})
      for (const double r : {0.03, 0.3, 1.0, 2.2, 6.0, 25.0}) {
        SCOPED_TRACE("eta " + std::to_string(eta) + ", y " + std::to_string(y) + ", r " + std::to_string(r));
        double w = 0.0, global = 0.0;
        Logistic{}.curvature(y, {&eta, 1}, {&w, 1});
        Logistic{}.global_curvature(y, {&eta, 1}, {&global, 1});
        expect_sharp(Logistic{}.needed(y, {&eta, 1}, r), logistic_needs(y, eta), w, global, r, true);
      }
}

// Residuals on both sides of sqrt(nu) sigma, where the likelihood turns convex, and of sqrt(3 nu) sigma, where its
// curvature turns.
TEST(Sharp, StudentTIsWhatAGridSearchFinds) {
  for (const double nu : {1.0, 4.0, 30.0})
    for (const double sigma : {0.5, 2.0})
      for (const double scaled : {0.0, 0.1, -0.41, 0.42, 0.9, -1.1, 1.7, 1.74, -2.0, 2.6, 6.0}) {
        const StudentT family(nu, sigma);
        const double eta = 0.3, y = eta + scaled * std::sqrt(nu) * sigma;
        for (const double reach : {0.05, 0.3, 1.0, 2.5, 4.5, 15.0}) {
          const double r = reach * std::sqrt(nu) * sigma;
          SCOPED_TRACE("nu " + std::to_string(nu) + ", sigma " + std::to_string(sigma) + ", residual " +
                       std::to_string(scaled) + " and r " + std::to_string(reach) + " sqrt(nu) sigma");
          double w = 0.0, global = 0.0;
          family.curvature(y, {&eta, 1}, {&w, 1});
          family.global_curvature(y, {&eta, 1}, {&global, 1});
          expect_sharp(family.needed(y, {&eta, 1}, r), student_t_needs(nu, sigma, y - eta), w, global, r,
                       scaled * scaled < 3.0);
        }
      }
}

// |delta| <= reach rho even where rounding is worst: the columns are powers of one variable, as nearly dependent as a
// metric allows, and theta lies in the direction P^-1 x of the row's largest change.
TEST(Sharp, ReachHoldsForColumnsThatAreNearlyDependent) {
  constexpr Index rows = 300;
  int degrees = 0;
  for (const double length : {1.0, 0.3})
    for (Index columns = 4; columns <= 14; ++columns) {
      RowMatrix x(rows, columns);
      for (Index i = 0; i < rows; ++i)
        for (Index j = 0; j < columns; ++j)
          x(i, j) = std::pow(length * (static_cast<double>(i) + 0.5) / rows, static_cast<double>(j));
      const auto metric = Precision::of(0.2 * Matrix(x.transpose() * x));
      if (!metric) continue;
      ++degrees;
      const Store store = Store::from_matrix(x, Vector::Zero(rows));
      const Spread spread(*metric, Arrangement(1));
      for (RowId row = 0; row < rows; ++row) {
        double variance = 0.0, delta = 0.0;
        const Vector own = x.row(row);
        RowCopies copy;
        copy.assign(columns, {own.data(), static_cast<std::size_t>(columns)});
        spread.of(copy, {&variance, 1});
        const Matrix offset = metric->solve(own);
        store.predict({&row, 1}, offset, {&delta, 1});
        EXPECT_LE(delta, reach_of(variance) * metric->length(offset)) << columns << " columns, row " << row;
      }
    }
  EXPECT_GE(degrees, 16);
}

// Draws theta from the Laplace approximation at the anchor, and computes the rows' gaps there.
template <class F>
void each_draw(const Store& store, const Bound& bound, const Anchor& anchor, int draws, const F& see) {
  std::vector<RowId> rows(static_cast<std::size_t>(store.rows()));
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<RowId>(i);
  BoundRows fixed;
  bound.prepare(store, rows, fixed);
  Gaps gaps;
  Vector z(anchor.theta.size());
  for (int i = 0; i < draws; ++i) {
    PhiloxRandom(21, 0, static_cast<std::uint64_t>(i))
        .normals(Purpose::start, 0, {z.data(), static_cast<std::size_t>(z.size())});
    bound.gaps(fixed, bound.at(anchor.theta + anchor.metric.unwhiten(z), false), false, gaps);
    see(gaps.gap);
  }
}

double bright_rows(const Store& store, const Bound& bound, const Anchor& anchor) {
  constexpr int draws = 40;
  double sum = 0.0;
  each_draw(store, bound, anchor, draws, [&](const std::vector<double>& gaps) {
    for (const double gap : gaps) sum += -std::expm1(-gap) / draws;
  });
  return sum;
}

// Both bounds use the same draws of theta, so the comparison has no noise: the tighter bound has fewer bright rows.
TEST(Sharp, LeavesFewerRowsBrightThanTheAnchoredBound) {
  const problems::Machine machine;
  for (const Model& model : problems::models()) {
    SCOPED_TRACE(model.family().name());
    const auto problem = problems::make(model, 4000, 6, 22);
    const Anchor anchor = find_anchor(problem.store, model, machine.execution());
    const auto bound = [&](std::shared_ptr<const BoundRule> rule) {
      return Bound(problem.store, model.shared_family(), std::move(rule), anchor.theta, machine.execution(),
                   anchor.metric);
    };
    const double anchored = bright_rows(problem.store, bound(std::make_shared<AnchoredRule>()), anchor);
    const double sharp = bright_rows(
        problem.store, bound(std::make_shared<SharpRule>(SharpRule::usual_zone(anchor.theta.size()))), anchor);
    EXPECT_GT(sharp, 0.0);
    EXPECT_LT(sharp, 0.7 * anchored) << anchored;
  }
}

TEST(ExpectedGaps, RoundUpToQuarterPowersOfTwo) {
  const double step = std::exp2(0.25);
  for (double gap = 2e-19; gap < 1.99; gap *= 1.0137) {
    const double value = ExpectedGaps::value(ExpectedGaps::level_of(gap));
    EXPECT_GE(value, gap * (1.0 - 1e-14));
    EXPECT_LE(value, gap * step * (1.0 + 1e-14));
    EXPECT_LE(ExpectedGaps::level_of(gap), ExpectedGaps::level_of(gap * 1.01));
  }
  for (int level = 1; level < 255; ++level)
    EXPECT_NEAR(ExpectedGaps::value(static_cast<std::uint8_t>(level + 1)),
                step * ExpectedGaps::value(static_cast<std::uint8_t>(level)),
                1e-14 * ExpectedGaps::value(static_cast<std::uint8_t>(level + 1)));
  EXPECT_EQ(ExpectedGaps::value(255), 2.0);
  // Level 0 marks rows that have no z and are never proposed; even the smallest gap has a higher level.
  EXPECT_EQ(ExpectedGaps::value(0), 0.0);
  EXPECT_GT(ExpectedGaps::value(1), 0.0);
  for (const double none : {0.0, -1.0, -HUGE_VAL, std::nan(""), 1e-300, 5e-324})
    EXPECT_EQ(ExpectedGaps::level_of(none), 1);
  for (const double much : {2.0, 2.1, 1e300, HUGE_VAL}) EXPECT_EQ(ExpectedGaps::level_of(much), 255);
}

// A sweep by rows proposes a row with a few times its expected gap. If that is far below the probability that the row
// is bright, z hardly ever changes, and the draws have the distribution of the bound. So on every table the expected
// gap must not be far below the mean gap, nor so large that proposals are wasted. Tables where every predictor is
// nearly 0 at the anchor have gaps of fourth order.
TEST(ExpectedGaps, AreNeverFarBelowTheMeanGap) {
  const problems::Machine machine;
  const auto check = [&](const std::string& name, const Store& store, const Model& model) {
    const Anchor anchor = find_anchor(store, model, machine.execution());
    for (const bool sharp : {false, true}) {
      SCOPED_TRACE(name + ", " + model.family().name() + (sharp ? ", sharp" : ", anchored"));
      std::shared_ptr<const BoundRule> rule = std::make_shared<AnchoredRule>();
      if (sharp) rule = std::make_shared<SharpRule>(SharpRule::usual_zone(anchor.theta.size()));
      const Bound bound(store, model.shared_family(), rule, anchor.theta, machine.execution(), anchor.metric);
      constexpr int draws = 3000;
      std::vector<double> bright(static_cast<std::size_t>(store.rows()));
      each_draw(store, bound, anchor, draws, [&](const std::vector<double>& gaps) {
        for (std::size_t i = 0; i < gaps.size(); ++i) bright[i] += -std::expm1(-gaps[i]) / draws;
      });
      double sum = 0.0, expected = 0.0;
      for (std::size_t i = 0; i < bright.size(); ++i) {
        const double own = ExpectedGaps::value(bound.expected_gaps().level(static_cast<RowId>(i)));
        EXPECT_GT(own, 0.5 * bright[i]) << "row " << i;
        sum += bright[i];
        expected += own;
      }
      EXPECT_GT(sum, 1e-4);
      EXPECT_LT(expected, 10.0 * sum);
    }
  };
  for (const Model& model : problems::models())
    for (const Index rows : {12, 60, 400})
      check("rows " + std::to_string(rows), problems::make(model, rows, 2, 23).store, model);
  // Equal numbers of each class, and residuals of 0.
  Vector classes(6), zeros = Vector::Zero(6);
  for (Index i = 0; i < 6; ++i) classes[i] = static_cast<double>(i % 2);
  const Store balanced = Store::from_matrix(RowMatrix::Ones(6, 1), classes);
  check("balanced", balanced, Model(Logistic{}, Prior::normal(0.0, 3.0)));
  check("balanced", balanced, Model(Softmax{2}, Prior::normal(0.0, 3.0)));
  check("at the target", Store::from_matrix(RowMatrix::Ones(6, 1), zeros), Model(StudentT{4.0, 1.0}, Prior::flat()));
}

// A row split into r copies of weight 1 / r equals the row: the expected number of bright copies equals the row's own.
// At eta = 0 the bound has the likelihood's own curvature, and the gap is of fourth order.
TEST(ExpectedGaps, AreProportionalToWeights) {
  const problems::Machine machine;
  const Model model(Logistic{}, Prior::normal(0.0, 1.0));
  const auto metric = Precision::of(25.0 * Matrix::Identity(2, 2));
  for (const double at : {0.0, 1.3}) {
    const auto expected = [&](double weight) {
      RowMatrix x(2, 2);
      x << 1.0, -1.0, 1.0, 1.0;
      const Store store = Store::from_matrix(x, Vector{{0.0, 1.0}}, {}, NumberType::float64, Vector{{weight, weight}});
      const Bound bound(store, model.shared_family(), std::make_shared<SharpRule>(Zone{1.5, 5.0}), Vector{{at, 0.0}},
                        machine.execution(), metric);
      return ExpectedGaps::value(bound.expected_gaps().level(0));
    };
    for (const double weight : {0.001, 0.1, 30.0}) {
      EXPECT_GT(expected(weight), 0.8 * weight * expected(1.0)) << at << ", " << weight;
      EXPECT_LT(expected(weight), 1.25 * weight * expected(1.0)) << at << ", " << weight;
    }
    EXPECT_LT(expected(0.0), 1e-15);
  }
}

}  // namespace
}  // namespace flymc
