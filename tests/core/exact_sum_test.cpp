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

TEST(ExactSum, MomentsOfManyAreThoseOfOneAfterAnother) {
  std::mt19937_64 random(2);
  std::normal_distribution<double> normal;
  for (const int count : {10, 3000, 1200000}) {  // one by one, in bins, and in bins that are full
    std::vector<double> values = {0.0,
                                  -0.0,
                                  std::numeric_limits<double>::denorm_min(),
                                  -0x1p-1060,
                                  0x1p-485,
                                  -0x1.fffffffffffffp-486,
                                  0x1.fffffffffffffp511};
    for (int i = 0; i < count; ++i) values.push_back(normal(random) * std::exp(30.0 * normal(random)));
    ExactSum sum, squares, all, all_squares;
    for (ExactSum* one : {&sum, &squares, &all, &all_squares}) one->add(-3.25);
    for (const double x : values) {
      sum.add(x);
      squares.add_product(x, x);
    }
    ExactSum::add_moments(values, all, all_squares);
    EXPECT_EQ(all.parts(), sum.parts());
    EXPECT_EQ(all_squares.parts(), squares.parts());
    EXPECT_TRUE(all_squares.finite());
    // The square of a number from 2^512 on leaves the range of double.
    values.back() = -0x1p512;
    ExactSum::add_moments(values, all, all_squares);
    EXPECT_TRUE(all.finite());
    EXPECT_FALSE(all_squares.finite());
    for (const double bad : {HUGE_VAL, -HUGE_VAL, std::nan("")}) {
      values.back() = bad;
      ExactSum none, no_squares;
      ExactSum::add_moments(values, none, no_squares);
      EXPECT_FALSE(none.finite());
      EXPECT_FALSE(no_squares.finite());
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
