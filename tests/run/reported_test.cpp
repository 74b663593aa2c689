// A softmax is reported as differences between classes: their names, draws and Laplace approximation, and warnings if
// the differences, rather than the coefficients, have not converged.
#include "flymc/run/reported.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "flymc/run/fit.hpp"
#include "problems/problems.hpp"

namespace flymc {
namespace {

using Names = std::vector<std::string>;

TEST(Reported, NamesOfCoefficientsAndOfDifferences) {
  const Names coefficients = {"intercept[a]", "x[1][a]", "intercept[b]", "x[1][b]", "intercept[c d]", "x[1][c d]"};
  const Reported plain(coefficients);
  EXPECT_EQ(plain.names(), coefficients);
  EXPECT_EQ(plain.remark(), "");
  const Reported differences(coefficients, {"a", "b", "c d"});
  EXPECT_EQ(differences.names(), (Names{"intercept[b - a]", "x[1][b - a]", "intercept[c d - a]", "x[1][c d - a]"}));
  EXPECT_NE(differences.remark().find("differences from those of class 'a'"), std::string::npos);
  const Reported others(coefficients, {"a", "b", "c d"}, 1);
  EXPECT_EQ(others.names(), (Names{"intercept[a - b]", "x[1][a - b]", "intercept[c d - b]", "x[1][c d - b]"}));
  EXPECT_NE(others.remark().find("differences from those of class 'b'"), std::string::npos);
}

TEST(Reported, TheReferenceClassIsNamed) {
  Report report;
  report.coefficients = {"x[late]", "x[on time]", "x[cancelled]"};
  report.classes = {"late", "on time", "cancelled"};
  const auto refusal = [&](const std::string& name) {
    try {
      report.reported(name);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(report.reported().names(), report.coefficients);
  EXPECT_NE(refusal("late").find("‹reference-class›: these coefficients are no differences"), std::string::npos);
  report.differences = true;
  EXPECT_EQ(report.reported().names(), report.reported("late").names());
  EXPECT_EQ(report.reported("cancelled").names(), (Names{"x[late - cancelled]", "x[on time - cancelled]"}));
  EXPECT_NE(
      refusal("ontime").find("‹reference-class›: 'ontime' is no class of the target, which has 'late', 'on time', "
                             "'cancelled'; did you mean 'on time'?"),
      std::string::npos)
      << refusal("ontime");
}

TEST(Reported, IsALinearMapOfThetaAndOfItsDraws) {
  const Names coefficients = {"u[0]", "v[0]", "u[1]", "v[1]", "u[2]", "v[2]"};
  const Reported reported(coefficients, {"0", "1", "2"});
  Vector theta(6), expected(4);
  theta << 1.0, 2.0, 10.0, 20.0, 100.0, 200.0;
  expected << 9.0, 18.0, 99.0, 198.0;
  EXPECT_EQ(reported.at(theta), expected);
  EXPECT_EQ(Reported(coefficients).at(theta), theta);

  // The differences are C theta, so their variances are the diagonal of C factor factor' C'.
  Matrix map = Matrix::Zero(4, 6);
  for (Index i = 0; i < 4; ++i) {
    map(i, i + 2) = 1.0;
    map(i, i % 2) = -1.0;
  }
  const Matrix factor = problems::features(6, 6, 3);
  EXPECT_LT((reported.sd(factor) - (map * factor).rowwise().norm()).norm(), 1e-12);
  EXPECT_LT((Reported(coefficients).sd(factor) - factor.rowwise().norm()).norm(), 1e-12);

  MemorySink draws(2, 6);
  draws.write(0, theta, {});
  draws.write(0, 2.0 * theta, {});
  draws.write(1, 3.0 * theta, {});
  for (const std::size_t reference : std::initializer_list<std::size_t>{0, 1, 2}) {
    const Reported other(coefficients, {"0", "1", "2"}, reference);
    for (Index i = 0; i < 4; ++i) EXPECT_EQ(other.draws(draws, i)[0][0], other.at(theta)[i]) << reference << " " << i;
  }
  expected << 1.0 - 10.0, 2.0 - 20.0, 100.0 - 10.0, 200.0 - 20.0;
  EXPECT_EQ(Reported(coefficients, {"0", "1", "2"}, 1).at(theta), expected);
  EXPECT_EQ(reported.draws(draws, 3), (std::vector<std::vector<double>>{{198.0, 396.0}, {594.0}}));
  EXPECT_EQ(Reported(coefficients).draws(draws, 3), (std::vector<std::vector<double>>{{20.0, 40.0}, {60.0}}));
}

// Draws in which the classes move together at random, as under a wide prior, while their difference drifts slowly.
Fit creeping(bool known_by_differences) {
  Fit fit{{}, MemorySink(4, 2)};
  fit.rows = 100;
  fit.coefficients = {"x[0]", "x[1]"};
  fit.classes = {"0", "1"};
  fit.differences = known_by_differences;
  fit.chains.resize(4);
  fit.draws_per_chain = 1000;
  for (std::size_t chain = 0; chain < 4; ++chain) {
    const PhiloxRandom random(9, chain, 0);
    double difference = 0.0;
    for (std::uint64_t i = 0; i < 1000; ++i) {
      Vector z(2), theta(2);
      random.normals(Purpose::simulate, 2 * i, {z.data(), 2});
      difference = 0.99 * difference + 0.14 * z[0];
      theta << 10.0 * z[1], 10.0 * z[1] + difference;
      fit.draws.write(chain, theta, {});
    }
    fit.chains[chain].iterations = 1000;
  }
  return fit;
}

TEST(Reported, WarnsOfDifferencesThatHaveNotConverged) {
  EXPECT_TRUE(creeping(false).summary().warnings.empty());
  const FitSummary summary = creeping(true).summary();
  ASSERT_EQ(summary.parameters.size(), 1u);
  EXPECT_EQ(summary.parameters[0].name, "x[1 - 0]");
  EXPECT_LT(summary.parameters[0].ess_bulk, 400.0);
  ASSERT_FALSE(summary.warnings.empty());
  EXPECT_NE(summary.text().find("few effective draws"), std::string::npos) << summary.text();
  EXPECT_NE(summary.text().find("'x[1 - 0]'"), std::string::npos) << summary.text();
}

}  // namespace
}  // namespace flymc
