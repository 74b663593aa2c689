// A subsample has distinct rows of every class and every column, with weights that add up to the table.
#include "flymc/anchor/subsample.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "problems/problems.hpp"

namespace flymc {
namespace {

using problems::Machine;

// Rows are distinct, in order and exact copies; the weights of a class add up to its rows.
void expect_whole(const Subsample& subsample, const Store& store, Index classes) {
  ASSERT_EQ(subsample.store.rows(), static_cast<RowId>(subsample.rows.size()));
  ASSERT_EQ(subsample.weights.size(), subsample.rows.size());
  std::map<double, double> weight, rows;
  for (std::size_t i = 0; i < subsample.rows.size(); ++i) {
    const RowId row = subsample.rows[i];
    ASSERT_TRUE(i == 0 || row > subsample.rows[i - 1]);
    ASSERT_EQ(subsample.store.target(static_cast<RowId>(i)), store.target(row));
    ASSERT_EQ(subsample.store.value(static_cast<RowId>(i), 1), store.value(row, 1));
    ASSERT_GE(subsample.weights[i], 1.0);
    weight[classes > 0 ? store.target(row) : 0.0] += subsample.weights[i];
  }
  for (RowId row = 0; row < store.rows(); ++row) ++rows[classes > 0 ? store.target(row) : 0.0];
  ASSERT_EQ(weight.size(), rows.size());
  for (const auto& [label, count] : rows) EXPECT_NEAR(weight[label], count, 1e-6 * count) << label;
}

TEST(Subsample, TakesRareClassesWhole) {
  const RowId rows = 30000;
  const RowMatrix x = problems::features(rows, 2, 41);
  Vector y = Vector::Zero(rows);
  y[29999] = 1.0;                                        // one row
  for (Index i = 0; i < 200; ++i) y[3 + 100 * i] = 2.0;  // less than its share
  for (Index i = 0; i < 9000; ++i) y[1 + 3 * i] = 3.0;   // more than its share
  const Store store = Store::from_matrix(x, y);
  const Machine machine;
  const Model model(Softmax{5}, Prior::normal(0.0, 1.0));  // class 4 has no row
  const Subsample subsample = draw_subsample(store, model, machine.execution(), 3000, 1);
  expect_whole(subsample, store, 5);
  EXPECT_EQ(subsample.rows.size(), 3000u);
  std::map<double, RowId> drawn;
  for (const RowId row : subsample.rows) ++drawn[y[row]];
  EXPECT_EQ(drawn[1.0], 1);
  EXPECT_EQ(drawn[2.0], (y.array() == 2.0).count());
  EXPECT_NEAR(static_cast<double>(drawn[0.0]), static_cast<double>(drawn[3.0]), 1.0);
}

// A forged file of rows may have any target; the bound refuses targets that are no class.
TEST(Subsample, TargetsThatAreNoClassLeadNowhere) {
  const RowId rows = 5000;
  Vector y = Vector::Zero(rows);
  y[7] = 1e15;
  y[8] = -5.0;
  y[9] = 5.0;
  const Store store = Store::from_matrix(problems::features(rows, 2, 41), y);
  const Machine machine;
  const Model model(Softmax{5}, Prior::normal(0.0, 1.0));
  EXPECT_EQ(draw_subsample(store, model, machine.execution(), 3000, 1).rows.size(), 3000u);
  EXPECT_THROW(model.check(store, machine.execution()), InputError);
}

// Every row is drawn with equal probability: chi-square over 100 cells of rows, false alarms below 1e-5.
TEST(Subsample, DrawsEveryRowAlike) {
  const RowId rows = 10000;
  const RowMatrix x = problems::features(rows, 2, 42).cwiseMin(4.0).cwiseMax(-4.0);  // no row stands out
  const Store store = Store::from_matrix(x, Vector::Zero(rows));
  const Machine machine;
  const Model model(StudentT(4.0, 1.0), Prior::flat());
  const int draws = 50, size = 1000;
  std::vector<double> count(100, 0.0);
  for (int seed = 0; seed < draws; ++seed) {
    const Subsample subsample =
        draw_subsample(store, model, machine.execution(), size, static_cast<std::uint64_t>(seed));
    expect_whole(subsample, store, 0);
    EXPECT_EQ(subsample.rows.size(), static_cast<std::size_t>(size));
    for (const RowId row : subsample.rows) ++count[static_cast<std::size_t>(row / 100)];
  }
  const double expected = draws * size / 100.0;
  double chi_square = 0.0;
  for (const double c : count) chi_square += (c - expected) * (c - expected) / (0.9 * expected);
  EXPECT_LT(chi_square, 170.0);  // the upper 1e-5 point of 99 degrees of freedom
  EXPECT_GT(chi_square, 50.0);   // the lower 1e-5 point
}

TEST(Subsample, TakesRowsThatAColumnLeansOnWhole) {
  const RowId rows = 20000;
  RowMatrix x = problems::features(rows, 4, 43);
  x.col(2).setZero();
  std::vector<RowId> rare;
  for (RowId row = 17; row < rows; row += 2500) {
    rare.push_back(row);
    x(row, 2) = 1.0;
  }
  x(12345, 3) = 1e6;
  rare.push_back(12345);
  std::sort(rare.begin(), rare.end());
  const Machine machine;
  for (const Model& model : {Model(Logistic{}, Prior::flat()), Model(StudentT(4.0, 1.0), Prior::flat())}) {
    const Store store = Store::from_matrix(x, problems::targets(model, x, Vector::Zero(4), 43));
    const Subsample subsample = draw_subsample(store, model, machine.execution(), 2000, 1);
    expect_whole(subsample, store, model.family().target_classes());
    std::vector<RowId> whole;
    for (std::size_t i = 0; i < subsample.rows.size(); ++i)
      if (subsample.weights[i] == 1.0) whole.push_back(subsample.rows[i]);
    EXPECT_EQ(whole, rare) << model.family().name();
    EXPECT_GE(subsample.rows.size(), 2000u);
    EXPECT_LE(subsample.rows.size(), 2000u + rare.size());
  }
}

}  // namespace
}  // namespace flymc
