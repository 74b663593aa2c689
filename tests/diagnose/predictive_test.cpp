// Bands hold at their level for tables that the model drew, and detect tables from another model.
#include "flymc/diagnose/predictive.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "flymc/core/numerics.hpp"
#include "flymc/diagnose/bands.hpp"
#include "flymc/model/gaussian.hpp"
#include "flymc/model/poisson.hpp"
#include "flymc/model/student_t.hpp"

namespace flymc {
namespace {

const Threads alone(1);

// Standard normal numbers, as columns of a table.
std::vector<double> column(Index rows, std::uint64_t seed) {
  std::vector<double> x(static_cast<std::size_t>(rows));
  PhiloxRandom(seed, 7, 0).normals(Purpose::start, 0, x);
  return x;
}

// Targets of all tables: the first is drawn by `truth`, the others by `model`, each given the row's predictor.
using Draw = std::function<double(double eta, const Random& random, std::uint64_t index)>;
Tables draw(const std::vector<double>& eta, Index tables, const Draw& truth, const Draw& model, std::uint64_t seed) {
  Tables out(tables + 1, static_cast<Index>(eta.size()));
  for (std::size_t i = 0; i < eta.size(); ++i) {
    const PhiloxRandom random(seed, 3, i);
    for (Index t = 0; t <= tables; ++t)
      out(t, static_cast<Index>(i)) = (t == 0 ? truth : model)(eta[i], random, static_cast<std::uint64_t>(t));
  }
  return out;
}

double coin(double eta, const Random& random, std::uint64_t index) {
  return random.uniform(Purpose::simulate, 2 * index) < sigmoid(eta) ? 1.0 : 0.0;
}
double count(double eta, const Random& random, std::uint64_t index) {
  return Poisson{}.simulate({&eta, 1}, random, index);
}
// Poisson with a rate that varies by a factor of exp(0.5 z), with mean exp(eta) as well.
double varied_count(double eta, const Random& random, std::uint64_t index) {
  const double origin = 0.0, z = Gaussian(1.0).simulate({&origin, 1}, random, index + 5000);
  const double varied = eta + 0.5 * z - 0.125;
  return Poisson{}.simulate({&varied, 1}, random, index);
}
double normal(double eta, const Random& random, std::uint64_t index) {
  return Gaussian(1.0).simulate({&eta, 1}, random, index);
}
// Student-t with four degrees of freedom, scaled to a variance of 1.
double heavy(double eta, const Random& random, std::uint64_t index) {
  return StudentT(4.0, std::sqrt(0.5)).simulate({&eta, 1}, random, index);
}

PredictiveCheck check_coins(const Tables& tables, const std::vector<double>& eta, const std::vector<double>& x) {
  std::vector<double> p(eta.size());
  std::ranges::transform(eta, p.begin(), [](double e) { return sigmoid(e); });
  PredictiveChecker checker(tables, alone);
  checker.add_calibration(p);
  checker.add_column("x", x);
  return checker.finish();
}
PredictiveCheck check_counts(const Tables& tables) {
  const RowMatrix of_rows = places(tables, {}, 1, alone);
  PredictiveChecker checker(tables, alone);
  checker.add_counts();
  checker.add_places(of_rows);
  return checker.finish();
}
PredictiveCheck check_numbers(const Tables& tables, std::span<const char> longer = {}) {
  const RowMatrix of_rows = places(tables, longer, 1, alone);
  PredictiveChecker checker(tables, alone);
  checker.add_places(of_rows);
  return checker.finish();
}

// Among `tries` right models about 5 % raise an alarm. Binomial(400, 0.05) is 20 +- 4.4: outside 3 ... 41 with
// probability below 1e-5. (The lower limit checks that bands are no wider than necessary.)
void expect_level(const std::function<bool(std::uint64_t)>& passed) {
  int alarms = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) alarms += passed(seed) ? 0 : 1;
  EXPECT_GE(alarms, 4);
  EXPECT_LE(alarms, 40);
}

TEST(Bands, AreOfAllNumbersAtOnce) {
  // Twenty independent normals: the largest of twenty is below 3.02 with probability 95 %.
  std::vector<double> z(20 * 4001);
  PhiloxRandom(5, 0, 0).normals(Purpose::start, 0, z);
  const Bands bands = simultaneous_bands(Eigen::Map<const RowMatrix>(z.data(), 4001, 20), 0.95);
  EXPECT_NEAR(bands.factor, 3.02, 0.1);
  for (Index g = 0; g < 20; ++g) {
    EXPECT_NEAR(bands.upper[g], 3.02, 0.3);
    EXPECT_NEAR(bands.lower[g], -3.02, 0.3);
  }
}

TEST(Bands, CountAsManyAsDeviateAsMuch) {
  RowMatrix numbers(5, 1);
  numbers << 3.0, 1.0, 2.0, 3.0, 2.0;
  const Bands bands = simultaneous_bands(numbers, 0.5);
  EXPECT_DOUBLE_EQ(bands.expected[0], 2.0);
  EXPECT_DOUBLE_EQ(bands.p_value, 0.6);  // the mean of all is 2.2: 1 deviates more, and the other 3 as much
}

TEST(Bands, HoldNumbersThatNeverVary) {
  const RowMatrix numbers = RowMatrix::Constant(100, 3, 0.25);
  const Bands bands = simultaneous_bands(numbers, 0.95);
  EXPECT_EQ(bands.p_value, 1.0);
  EXPECT_EQ(bands.deviation.cwiseAbs().maxCoeff(), 0.0);
}

TEST(Predictive, RightCoinsPassAtTheirLevel) {
  expect_level([](std::uint64_t seed) {
    const auto eta = column(150, seed);
    return check_coins(draw(eta, 99, coin, coin, seed), eta, eta).passed();
  });
}

TEST(Predictive, RightCountsPassAtTheirLevel) {
  expect_level(
      [](std::uint64_t seed) { return check_counts(draw(column(150, seed), 99, count, count, seed)).passed(); });
}

TEST(Predictive, RightNumbersPassAtTheirLevelAlsoWhereTheyAreCutOff) {
  expect_level([](std::uint64_t seed) {
    const auto eta = column(150, seed);
    Tables tables = draw(eta, 99, normal, normal, seed);
    std::vector<char> longer(eta.size(), 0);
    for (std::size_t i = 0; i < eta.size(); ++i)
      if (const double limit = 0.5; tables(0, static_cast<Index>(i)) > limit) {
        tables(0, static_cast<Index>(i)) = limit;
        longer[i] = 1;
      }
    return check_numbers(tables, longer).passed();
  });
}

TEST(Predictive, FindsACurveThatIsMissing) {
  const auto x = column(3000, 1);
  std::vector<double> line(x.size());
  std::ranges::transform(x, line.begin(), [](double v) { return 0.3 + 0.5 * v; });
  // The truth is curved: its dependence on x is not the model's line.
  const Draw truth = [](double eta, const Random& random, std::uint64_t index) {
    const double v = (eta - 0.3) / 0.5;
    return coin(eta + 0.5 * (v * v - 1.0), random, index);
  };
  const PredictiveCheck found = check_coins(draw(line, 300, truth, coin, 1), line, x);
  EXPECT_FALSE(found.passed());
  EXPECT_LE(found.p_value, 0.01);
  const auto& groups = found.parts[1].groups;
  EXPECT_TRUE(groups.front().outside && groups.front().deviation > 0.0);
  EXPECT_TRUE(groups.back().outside && groups.back().deviation > 0.0);
  EXPECT_LT(groups[5].deviation, 0.0);
}

TEST(Predictive, FindsCountsThatVaryMore) {
  const PredictiveCheck found = check_counts(draw(column(3000, 2), 300, varied_count, count, 2));
  EXPECT_FALSE(found.passed());
  EXPECT_EQ(found.parts[0].kind, CheckKind::counts);
  EXPECT_EQ(found.parts[0].groups.front().to, 0.0);
  EXPECT_GT(found.parts[0].groups.front().deviation, 3.0);  // more zeros
  EXPECT_TRUE(std::isinf(found.parts[0].groups.back().to));
}

TEST(Predictive, FindsHeavyTails) {
  const PredictiveCheck found = check_numbers(draw(column(3000, 3), 300, heavy, normal, 3));
  EXPECT_FALSE(found.passed());
  const auto& groups = found.parts[0].groups;
  EXPECT_GT(groups.front().deviation, 0.0);  // in the tails the shares exceed expectation slightly,
  EXPECT_GT(groups.back().deviation, 0.0);
  EXPECT_GT(groups[6].deviation, 3.0);  // and in the middle by far
}

TEST(Predictive, SharesAddUpAndGroupsHaveAllRows) {
  const Tables tables = draw(column(500, 4), 120, count, count, 4);
  const PredictiveCheck found = check_counts(tables);
  for (const CheckPart& part : found.parts) {
    double observed = 0.0, expected = 0.0;
    std::int64_t rows = 0;
    for (const CheckedGroup& group : part.groups) {
      observed += group.observed;
      expected += group.expected;
      rows += group.rows;
      EXPECT_LE(group.lower, group.expected);
      EXPECT_GE(group.upper, group.expected);
    }
    EXPECT_NEAR(observed, 1.0, 1e-12);
    EXPECT_NEAR(expected, 1.0, 1e-12);
    EXPECT_EQ(rows, 500);
  }
}

TEST(Predictive, EqualValuesAreInOneGroup) {
  // Half of all values are 0, and the others are distinct.
  std::vector<double> x = column(1000, 5);
  for (std::size_t i = 0; i < 500; ++i) x[i] = 0.0;
  const Tables tables = draw(x, 120, coin, coin, 5);
  PredictiveChecker of(tables, alone);
  of.add_column("x", x);
  const PredictiveCheck found = of.finish();
  std::int64_t rows = 0;
  int with_zero = 0;
  for (const CheckedGroup& group : found.parts[0].groups) {
    rows += group.rows;
    with_zero += group.from <= 0.0 && group.to >= 0.0 ? 1 : 0;
    EXPECT_GE(group.rows, 50);
  }
  EXPECT_EQ(rows, 1000);
  EXPECT_EQ(with_zero, 1);
}

TEST(Predictive, PlacesOfEqualTargetsAreShared) {
  // All targets are equal, so places are uniform due to the random order alone.
  const Tables tables = Tables::Constant(200, 400, 3.0);
  const RowMatrix of_rows = places(tables, {}, 9, alone);
  EXPECT_NEAR(of_rows.row(0).mean(), 0.5, 5.0 * std::sqrt(1.0 / 12.0 / 400.0));
  EXPECT_GT(of_rows.minCoeff(), 0.0);
  EXPECT_LT(of_rows.maxCoeff(), 1.0);
}

}  // namespace
}  // namespace flymc
