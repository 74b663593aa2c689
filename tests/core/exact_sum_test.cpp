// Sums without rounding: any order, any grouping, the whole range of double.
#include "flymc/core/exact_sum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

namespace flymc {
namespace {

TEST(ExactSum, KeepsWhatDoublesLose) {
  ExactSum sum;
  for (const double x : {1e300, 1.0, -1e300, 1e-300, -1.0, std::numeric_limits<double>::denorm_min()}) sum.add(x);
  EXPECT_EQ(sum.value(), 1e-300);
  sum.add(-1e-300);
  EXPECT_EQ(sum.value(), std::numeric_limits<double>::denorm_min());
  for (int i = 0; i < 3; ++i) sum.add(-std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(sum.value(), -2 * std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(ExactSum().value(), 0.0);
}

TEST(ExactSum, DoesNotDependOnOrderOrGrouping) {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  std::vector<double> values(5000);
  for (double& x : values) x = normal(random) * std::exp(3.0 * normal(random));
  ExactSum all;
  for (const double x : values) all.add(x);
  const double expected = all.value();
  for (int round = 0; round < 20; ++round) {
    std::shuffle(values.begin(), values.end(), random);
    ExactSum one, other;
    for (std::size_t i = 0; i < values.size(); ++i) (i % 3 == 0 ? one : other).add(values[i]);
    one += ExactSum::of_parts(other.parts(), other.finite());
    EXPECT_EQ(one.value(), expected);
  }
  // The sum is right: after subtracting it, the rest is below its last bit.
  all.add(-expected);
  EXPECT_LE(std::abs(all.value()), std::abs(expected) * std::numeric_limits<double>::epsilon());
  double in_order = 0.0;
  for (const double x : values) in_order += x;
  EXPECT_NE(in_order, expected);
}

TEST(ExactSum, ProductsAreExact) {
  ExactSum sum;
  sum.add_product(1.0 + 0x1p-40, 1.0 - 0x1p-40);  // 1 - 2^-80
  sum.add(-1.0);
  EXPECT_EQ(sum.value(), -0x1p-80);
}

TEST(ExactSum, ManyAtOnceAreOneAfterAnother) {
  std::mt19937_64 random(2);
  std::normal_distribution<double> normal;
  for (const int count : {10, 3000, 600000}) {  // one by one, in bins, and in full bins
    std::vector<double> values = {0.0,        -0.0,     std::numeric_limits<double>::denorm_min(),
                                  -0x1p-1060, 0x1p1000, -0x1p1000};
    for (int i = 0; i < count; ++i) values.push_back(normal(random) * std::exp(30.0 * normal(random)));
    ExactSum one, all;
    for (ExactSum* sum : {&one, &all}) sum->add(-3.25);
    for (const double x : values) one.add(x);
    all.add_all(values);
    EXPECT_EQ(all.parts(), one.parts());
    values.resize(4);  // squares of the others leave the range of double
    for (int i = 0; i < count; ++i) values.push_back(normal(random) * std::exp(5.0 * normal(random)));
    for (const double x : values) one.add_product(x, x);
    all.add_squares(values);
    EXPECT_EQ(all.parts(), one.parts());
    for (const double bad : {HUGE_VAL, -HUGE_VAL, std::nan("")}) {
      values.back() = bad;
      ExactSum sum;
      sum.add_all(values);
      EXPECT_FALSE(sum.finite());
    }
  }
}

TEST(ExactSum, IsNoNumberOnceSomethingWasNone) {
  for (const double bad : {HUGE_VAL, -HUGE_VAL, std::nan("")}) {
    ExactSum sum, other;
    sum.add(1.0);
    other.add(bad);
    sum += other;
    EXPECT_TRUE(std::isnan(sum.value()));
    EXPECT_FALSE(sum.finite());
  }
}

}  // namespace
}  // namespace flymc
