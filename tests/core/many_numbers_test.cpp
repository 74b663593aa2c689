// Order statistics against a sort, means against sums of more digits, and the same bits at every width of vectors.
#include "flymc/core/many_numbers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "flymc/core/random.hpp"

namespace flymc {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

std::vector<VectorWidth> widths() {
  std::vector<VectorWidth> out;
  for (const VectorWidth width : {VectorWidth::two, VectorWidth::four, VectorWidth::eight})
    if (width <= widest_vectors()) out.push_back(width);
  return out;
}

std::vector<double> draw(std::size_t count, const std::function<double(double, double)>& of_normals) {
  std::vector<double> normals(2 * count), out(count);
  PhiloxRandom(3, 0, count).normals(Purpose::simulate, 0, normals);
  for (std::size_t i = 0; i < count; ++i) out[i] = of_normals(normals[2 * i], normals[2 * i + 1]);
  return out;
}

// Normal numbers and others: skewed, without moments, with ties, with two humps, all equal.
const std::map<std::string, std::function<double(double, double)>> shapes = {
    {"normal", [](double a, double) { return 7.0 + 0.01 * a; }},
    {"skewed", [](double a, double) { return std::exp(3.0 * a); }},
    {"Cauchy", [](double a, double b) { return a / b; }},
    {"Cauchy cubed", [](double a, double b) { return std::pow(a / b, 3); }},
    {"ties", [](double a, double) { return std::floor(2.0 * a); }},
    {"zero or one", [](double a, double) { return a > 1.0 ? 1.0 : 0.0; }},
    {"two humps", [](double a, double b) { return (a > 0.0 ? 1e6 : -1e6) + b; }},
    {"the same", [](double, double) { return -0.125; }},
    {"tiny", [](double a, double) { return 1e-310 * a; }},
    {"huge", [](double a, double) { return 1e300 * a; }},
};

TEST(ManyNumbers, NeighboursAreThoseOfASort) {
  for (const auto& [shape, of_normals] : shapes)
    for (const std::size_t count : std::initializer_list<std::size_t>{1, 2, 3, 31, 32, 33, 100, 1003}) {
      const std::vector<double> numbers = draw(count, of_normals);
      std::vector<double> sorted = numbers;
      std::ranges::sort(sorted);
      for (const VectorWidth width : widths()) {
        const Location location = locate(width, numbers);
        for (std::size_t rank = 0; rank < count; rank += 1 + count / 7)
          for (const double guess : {location.mean, sorted[rank], -1e9, 0.0, not_a_number})
            for (const double step : {location.deviation / static_cast<double>(count), 0.0, -1.0, not_a_number}) {
              const Neighbours found = neighbours(width, numbers, location, rank, guess, step);
              EXPECT_EQ(found.at, sorted[rank]) << shape << ' ' << count << ' ' << rank << ' ' << guess;
              EXPECT_EQ(found.next, sorted[std::min(rank + 1, count - 1)]) << shape << ' ' << count << ' ' << rank;
            }
      }
    }
}

TEST(ManyNumbers, LocationHasTheSameBitsAtEveryWidth) {
  for (const auto& [shape, of_normals] : shapes)
    for (const std::size_t count : std::initializer_list<std::size_t>{1, 2, 31, 32, 33, 1003}) {
      const std::vector<double> numbers = draw(count, of_normals);
      const Location narrow = locate(VectorWidth::two, numbers);
      EXPECT_EQ(narrow.smallest, *std::ranges::min_element(numbers)) << shape;
      EXPECT_EQ(narrow.largest, *std::ranges::max_element(numbers)) << shape;
      long double sum = 0.0L, size = 0.0L;
      for (const double x : numbers) {
        sum += x;
        size += std::abs(x);
      }
      const auto n = static_cast<long double>(count);
      EXPECT_NEAR(narrow.mean, static_cast<double>(sum / n), 1e-14 * static_cast<double>(size / n) + 1e-320) << shape;
      for (const VectorWidth width : widths()) {
        const Location wide = locate(width, numbers);
        EXPECT_EQ(wide.mean, narrow.mean) << shape;
        EXPECT_TRUE(wide.deviation == narrow.deviation || std::isnan(narrow.deviation)) << shape;
      }
    }
  const Location known = locate(VectorWidth::two, std::vector<double>{1.0, 2.0, 3.0, 6.0});
  EXPECT_EQ(known.mean, 3.0);
  EXPECT_DOUBLE_EQ(known.deviation, std::sqrt(3.5));
}

TEST(ManyNumbers, MeanOfAPolynomial) {
  const std::vector<double> coefficients = {0.5, -1.0, 0.25, 3.0, -0.125};
  for (const std::size_t count : std::initializer_list<std::size_t>{1, 2, 31, 32, 33, 1003})
    for (std::size_t terms = 1; terms <= coefficients.size(); ++terms) {
      const std::vector<double> numbers = draw(count, [](double a, double) { return 7.0 + 0.1 * a; });
      const std::span<const double> c(coefficients.data(), terms);
      long double sum = 0.0L;
      for (const double x : numbers)
        for (std::size_t k = 0; k < terms; ++k)
          sum += static_cast<long double>(c[k]) * std::pow((static_cast<long double>(x) - 7.0L) * 2.0L, k);
      const double narrow = mean_of_polynomial(VectorWidth::two, numbers, 7.0, 2.0, c);
      EXPECT_NEAR(narrow, static_cast<double>(sum) / static_cast<double>(count), 1e-14);
      for (const VectorWidth width : widths()) EXPECT_EQ(mean_of_polynomial(width, numbers, 7.0, 2.0, c), narrow);
    }
}

}  // namespace
}  // namespace flymc
