// The models: some on which bounds, searches for modes and diagnostics may fail, and some regular ones.
#include "models.hpp"

#include <cmath>
#include <numbers>

#include "flymc/data/cut_rows.hpp"
#include "flymc/model/gamma.hpp"
#include "flymc/model/gaussian.hpp"
#include "flymc/model/logistic.hpp"
#include "flymc/model/negative_binomial.hpp"
#include "flymc/model/poisson.hpp"
#include "flymc/model/residual.hpp"
#include "flymc/model/softmax.hpp"
#include "flymc/model/student_t.hpp"
#include "flymc/model/survival.hpp"
#include "flymc/model/truncated_poisson.hpp"

namespace flymc::truth {
namespace {

using Rows = std::vector<RowCount>;

PriorSpec normal(double scale) { return {PriorKind::normal, scale}; }
PriorSpec laplace(double scale) { return {PriorKind::laplace, scale}; }
PriorSpec student_t(double nu, double scale) { return {PriorKind::student_t, scale, nu}; }

// Only an intercept, with these numbers of ones and zeros.
Rows ones_and_zeros(std::int64_t ones, std::int64_t zeros) {
  Rows rows;
  if (ones > 0) rows.push_back({{1.0}, 1.0, ones});
  rows.push_back({{1.0}, 0.0, zeros});
  return rows;
}

// An intercept and an indicator of a level: ones and zeros outside it, ones and zeros within it.
Rows level(std::int64_t ones, std::int64_t zeros, std::int64_t level_ones, std::int64_t level_zeros) {
  Rows rows;
  for (const RowCount& row : {RowCount{{1.0, 0.0}, 1.0, ones}, RowCount{{1.0, 0.0}, 0.0, zeros},
                              RowCount{{1.0, 1.0}, 1.0, level_ones}, RowCount{{1.0, 1.0}, 0.0, level_zeros}})
    if (row.count > 0) rows.push_back(row);
  return rows;
}

// Zeros where x < 0 and ones where x > 0.
Rows separated() { return {{{1, -1.0}, 0, 400}, {{1, -0.5}, 0, 600}, {{1, 0.5}, 1, 600}, {{1, 1.0}, 1, 400}}; }

// One row with an extreme x among 2,000.
Rows leverage(double x) { return {{{1, 0}, 0, 990}, {{1, 0}, 1, 1000}, {{1, 1}, 1, 9}, {{1, x}, 1, 1}}; }

// A column with the quantiles of a Cauchy distribution: tan of equally spaced angles. The targets follow a logistic
// regression with the coefficients 0.3 and 0.5, whose uniforms are the fractions of multiples of the golden ratio.
Rows cauchy_column() {
  constexpr int n = 2000;
  Rows rows;
  for (int i = 0; i < n; ++i) {
    const double x = std::tan(std::numbers::pi * ((i + 0.5) / n - 0.5));
    const double u = std::fmod((i + 1) * std::numbers::phi, 1.0);
    rows.push_back({{1.0, x}, u < 1.0 / (1.0 + std::exp(-0.3 - 0.5 * x)) ? 1.0 : 0.0});
  }
  return rows;
}

// Three ones in 5,000, two columns.
Rows three_coefficients() {
  return {{{1, 0, -1}, 0, 1000}, {{1, 0, 0}, 0, 1200}, {{1, 0, 1}, 0, 800}, {{1, 1, -1}, 0, 600}, {{1, 1, 0}, 0, 800},
          {{1, 1, 1}, 0, 597},   {{1, 0, 1}, 1, 1},    {{1, 1, 0}, 1, 1},   {{1, 1, 1}, 1, 1}};
}

Rows regular_logistic() {
  const std::int64_t ones[] = {100, 170, 249, 314, 356};
  Rows rows;
  for (int i = 0; i < 5; ++i) {
    rows.push_back({{1.0, i - 2.0}, 1.0, ones[i]});
    rows.push_back({{1.0, i - 2.0}, 0.0, 400 - ones[i]});
  }
  return rows;
}

// Counts with means of about exp(0.5 + 0.4 x).
Rows regular_poisson() {
  const std::int64_t counts[4][6] = {
      {164, 147, 66, 19, 4, 0}, {77, 127, 105, 57, 24, 10}, {33, 82, 102, 86, 55, 42}, {10, 37, 69, 85, 78, 121}};
  Rows rows;
  for (int i = 0; i < 4; ++i)
    for (int y = 0; y < 6; ++y)
      if (counts[i][y] > 0) rows.push_back({{1.0, i - 1.0}, 1.0 * y, counts[i][y]});
  return rows;
}

// Targets around 1 + x / 2.
Rows regular_student_t() {
  const RowCount errors[] = {{{}, -3.0, 20}, {{}, -1.0, 80}, {{}, -0.6, 150},
                             {{}, 0.6, 150}, {{}, 1.0, 80},  {{}, 3.0, 20}};
  Rows rows;
  for (int i = -1; i <= 2; ++i)
    for (const RowCount& error : errors) rows.push_back({{1.0, 1.0 * i}, 1.0 + 0.5 * i + error.y, error.count});
  return rows;
}

// An intercept, and targets with the quantiles of a Cauchy distribution.
Rows cauchy_targets() {
  constexpr int n = 1500;
  Rows rows;
  for (int i = 0; i < n; ++i) rows.push_back({{1.0}, std::tan(std::numbers::pi * ((i + 0.5) / n - 0.5))});
  return rows;
}

TruthModel logistic(std::string name, std::string title, PriorSpec prior, Rows rows, std::vector<Axis> axes) {
  return {std::move(name), std::move(title), FamilyKind::logistic, prior, std::move(rows), std::move(axes)};
}

TruthModel counts(std::string name, std::string title, PriorSpec prior, Rows rows, std::vector<Axis> axes) {
  return {std::move(name), std::move(title), FamilyKind::poisson, prior, std::move(rows), std::move(axes)};
}

TruthModel without_zeros(std::string name, std::string title, PriorSpec prior, Rows rows, std::vector<Axis> axes) {
  return {std::move(name), std::move(title), FamilyKind::truncated_poisson, prior, std::move(rows), std::move(axes)};
}

TruthModel robust(std::string name, std::string title, PriorSpec prior, Rows rows, std::vector<Axis> axes) {
  return {std::move(name), std::move(title), FamilyKind::student_t, prior, std::move(rows), std::move(axes)};
}

// A model that draws sigma; nu = 0 selects the gaussian.
TruthModel scaled(std::string name, std::string title, double nu, PriorSpec prior, Rows rows, std::vector<Axis> axes) {
  TruthModel out{std::move(name), std::move(title), nu > 0.0 ? FamilyKind::student_t : FamilyKind::gaussian,
                 prior,           std::move(rows),  std::move(axes)};
  out.nu = nu;
  out.draws_scale = true;
  return out;
}

TruthModel shaped(FamilyKind family, std::string name, std::string title, PriorSpec prior, Rows rows,
                  std::vector<Axis> axes) {
  TruthModel out{std::move(name), std::move(title), family, prior, std::move(rows), std::move(axes)};
  out.draws_shape = true;
  return out;
}

// A survival model; y is the logarithm of a time.
TruthModel times(FamilyKind family, std::string name, std::string title, PriorSpec prior, Rows rows,
                 std::vector<Axis> axes) {
  TruthModel out{std::move(name), std::move(title), family, prior, std::move(rows), std::move(axes)};
  out.draws_scale = true;
  return out;
}

// Log times of two groups, each with events at five of them and with rows censored there.
Rows two_groups_of_times() {
  const std::int64_t events[2][5] = {{60, 120, 200, 150, 70}, {90, 150, 130, 60, 20}};
  Rows rows;
  for (int g = 0; g < 2; ++g)
    for (int i = 0; i < 5; ++i) {
      rows.push_back({{1.0, 1.0 * g}, 0.6 * i - 0.8, events[g][i]});
      rows.push_back({{1.0, 1.0 * g}, 0.6 * i - 1.0, 90, false});
    }
  return rows;
}

// An ordinal model. It has no intercept, because cut points replace it.
TruthModel ordinal(std::string name, std::string title, int classes, PriorSpec prior, Rows rows,
                   std::vector<Axis> axes) {
  return {std::move(name), std::move(title), FamilyKind::ordinal, prior, std::move(rows), std::move(axes), classes};
}

TruthModel softmax(std::string name, std::string title, int classes, PriorSpec prior, Rows rows,
                   std::vector<Axis> axes) {
  return {std::move(name), std::move(title), FamilyKind::softmax, prior, std::move(rows), std::move(axes), classes};
}

// Long-tailed priors that are much narrower than the likelihood: a spike at the prior and a mode of the likelihood hold
// comparable shares of the posterior. `of_slopes` is the prior of all coefficients except an intercept.
TruthModel narrow(TruthModel model, PriorSpec of_slopes) {
  for (std::size_t i = 0; i < model.features(); ++i) {
    const bool intercept = i == 0 && model.rows.front().x[0] == 1.0;
    model.others.push_back(intercept ? model.prior : of_slopes);
  }
  return model;
}

// A posterior without a standard deviation, or even without a mean: truth and scores are of asinh(theta), and so are
// the axes.
TruthModel endless(TruthModel model) {
  model.asinh = true;
  return model;
}

// Five values of a column, with the number of rows and the number of ones for each.
Rows five_values(double step, const std::int64_t (&rows)[5], const std::int64_t (&ones)[5]) {
  Rows out;
  for (int i = 0; i < 5; ++i) {
    out.push_back({{1.0, step * (i - 2)}, 1.0, ones[i]});
    out.push_back({{1.0, step * (i - 2)}, 0.0, rows[i] - ones[i]});
  }
  return out;
}

// One column with the values -x and x, without an intercept; targets are slope times it plus errors of standard
// deviation 1.
Rows line_through_zero(double x, double slope) {
  Rows out;
  for (const double side : {-1.0, 1.0})
    for (const auto& [error, count] : {std::pair{-1.6, 100}, {-0.6, 350}, {0.6, 350}, {1.6, 100}})
      out.push_back({{side * x}, side * slope * x + error, count});
  return out;
}

// Two columns without an intercept, which are equal in four rows out of five.
Rows two_columns() {
  Rows out;
  for (const double side : {-0.004, 0.004}) {
    const std::int64_t more = side > 0.0 ? 1 : -1;
    out.push_back({{side, side}, 1.0, 400 + more * 46});
    out.push_back({{side, side}, 0.0, 400 - more * 46});
    out.push_back({{side, -side}, 1.0, 100 + more * 3});
    out.push_back({{side, -side}, 0.0, 100 - more * 3});
  }
  return out;
}

std::vector<TruthModel> make_models() {
  const Axis base{-1.05, -0.65};  // for the intercept of 20,000 rows, three in ten of which are ones
  std::vector<TruthModel> out = {
      logistic("regular_logistic", "2,000 rows, a slope", normal(2.5), regular_logistic(), {{0.1, 1.1}, {0.4, 1.2}}),
      logistic("one_in_2000", "one 1 in 2,000", normal(10), ones_and_zeros(1, 1999), {{-60, 6}}),
      logistic("one_in_10000", "one 1 in 10,000", normal(10), ones_and_zeros(1, 9999), {{-60, 6}}),
      logistic("one_in_100000", "one 1 in 100,000", normal(10), ones_and_zeros(1, 99999), {{-70, 0}}),
      logistic("one_in_1000000", "one 1 in 1,000,000", normal(10), ones_and_zeros(1, 999999), {{-75, -3}}),
      logistic("two_in_100000", "two 1 in 100,000", normal(10), ones_and_zeros(2, 99998), {{-70, 0}}),
      logistic("three_in_100000", "three 1 in 100,000", normal(10), ones_and_zeros(3, 99997), {{-75, -3}}),
      logistic("none_in_2000", "no 1 in 2,000", normal(10), ones_and_zeros(0, 2000), {{-95, 6}}),
      logistic("five_in_20000", "five 1 in 20,000", normal(10), ones_and_zeros(5, 19995), {{-40, 2}}),
      logistic("five_in_20000_t", "the same, Student-t prior", student_t(4, 2.5), ones_and_zeros(5, 19995), {{-40, 2}}),
      logistic("level_20_of_1000", "a level of 20 rows, all 1, among 1,000", normal(2.5), level(20, 960, 20, 0),
               {{-6.5, -1.5}, {-8, 30}}),
      logistic("level_20_of_1000_t", "the same, Student-t prior", student_t(10, 2.5), level(20, 960, 20, 0),
               {{-6.5, -1.5}, {-8, 60}}),
      logistic("level_20_of_1000_t4", "the same, with four degrees of freedom", student_t(4, 2.5),
               level(20, 960, 20, 0), {{-3.9, -2.9}, {-2, 60}}),
      logistic("level_50_of_20000", "a level of 50 rows, all 1, among 20,000", normal(2.5), level(5985, 13965, 50, 0),
               {base, {-6, 30}}),
      logistic("level_500_of_20000", "a level of 500 rows, all 1, among 20,000", normal(2.5),
               level(5850, 13650, 500, 0), {base, {-6, 30}}),
      logistic("level_500_wide", "the same, wide prior", normal(25), level(5850, 13650, 500, 0), {base, {-6, 220}}),
      logistic("level_50_with_a_zero", "a level of 49 ones and one 0 among 20,000", normal(2.5),
               level(5985, 13965, 49, 1), {base, {-6, 20}}),
      logistic("level_50_with_a_zero_t", "the same, Student-t prior", student_t(4, 2.5), level(5985, 13965, 49, 1),
               {base, {-6, 20}}),
      logistic("three_in_2000", "three 1 in 2,000, all in a level of 1,000", normal(2.5), level(0, 1000, 3, 997),
               {{-25, -3}, {-12, 22}}),
      logistic("three_coefficients", "three 1 in 5,000, two columns", normal(2.5), three_coefficients(),
               {{-15, -4}, {-7, 7}, {-4, 7}}),
      logistic("separated_wide", "separated by a column, wide prior", normal(25), separated(), {{-90, 90}, {-30, 230}}),
      logistic("separated_laplace", "separated by a column, Laplace prior", laplace(2.5), separated(),
               {{-40, 40}, {-10, 100}}),
      logistic("leverage_100", "one row of x = 100 among 2,000", normal(2.5), leverage(1e2), {{-0.4, 0.4}, {-2, 22}}),
      logistic("leverage_10000", "one row of x = 10,000 among 2,000", normal(2.5), leverage(1e4),
               {{-0.4, 0.4}, {-2, 22}}),
      logistic("cauchy_column", "2,000 rows, a column like Cauchy's distribution", normal(2.5), cauchy_column(),
               {{-0.15, 0.75, 6}, {0.2, 0.8, 6}}),
      robust("regular_student_t", "2,000 rows, a slope", normal(5), regular_student_t(), {{0.7, 1.3}, {0.2, 0.8}}),
      robust("two_modes_14", "two groups of 7 rows, 12 apart", normal(10),
             {{{1}, 0.0, 4}, {{1}, 0.4, 3}, {{1}, 12.0, 4}, {{1}, 12.4, 3}}, {{-40, 50}}),
      robust("two_modes_2000", "two groups of 1,000 rows, 12 apart", normal(10),
             {{{1}, 0.0, 500}, {{1}, 0.4, 500}, {{1}, 12.0, 500}, {{1}, 12.4, 500}}, {{-5, 17}}),
      robust("far_targets", "2,000 rows around 300, prior of sd 50", normal(50),
             {{{1}, 298, 100}, {{1}, 299, 500}, {{1}, 300, 800}, {{1}, 301, 500}, {{1}, 302, 100}}, {{290, 310}}),
      // Half-way, where the rows' gradient is weakest, the prior's is stronger: there is a second mode near 110, lower
      // by thousands of nats, which a search from 0 reaches first.
      robust("far_targets_narrow", "1,000 rows around 400, prior of sd 2.5", normal(2.5),
             {{{1}, 399, 300}, {{1}, 400, 400}, {{1}, 401, 300}}, {{-20, 420, 400}}),
      robust("outliers_of_a_slope", "90 rows on a line, 10 far off it", normal(5),
             {{{1, 0}, 0.0, 30}, {{1, 1}, 1.0, 30}, {{1, 2}, 2.1, 30}, {{1, 3}, 30.0, 10}}, {{-3, 3}, {-3, 14}}),
      counts("regular_poisson", "1,600 rows, a slope", normal(2.5), regular_poisson(), {{0.1, 0.9}, {0.1, 0.7}}),
      counts("one_count_in_2000", "one event in 2,000 rows", normal(10), {{{1}, 1, 1}, {{1}, 0, 1999}}, {{-60, 6}}),
      counts("no_count_in_2000", "no event in 2,000 rows", normal(10), {{{1}, 0, 2000}}, {{-95, 6}}),
      counts("counts_level_20_of_1000", "a level of 20 rows without an event among 1,000", normal(2.5),
             {{{1, 0}, 0, 600}, {{1, 0}, 1, 300}, {{1, 0}, 2, 80}, {{1, 1}, 0, 20}}, {{-1.1, -0.3}, {-16, 4}}),
      counts("counts_level_20_of_1000_t4", "the same, Student-t prior", student_t(4, 2.5),
             {{{1, 0}, 0, 600}, {{1, 0}, 1, 300}, {{1, 0}, 2, 80}, {{1, 1}, 0, 20}}, {{-1.1, -0.3}, {-60, 4}}),
      counts("counts_level_200_of_20000_t", "a level of 200 rows with one event among 20,000, Student-t prior",
             student_t(4, 2.5), {{{1, 0}, 0, 17800}, {{1, 0}, 1, 2000}, {{1, 1}, 0, 199}, {{1, 1}, 1, 1}},
             {{-2.4, -2.0}, {-14, 3}}),
      counts("large_counts", "counts around 20,000 and one row far off", normal(10),
             {{{1, 0}, 19900, 30}, {{1, 0}, 20100, 30}, {{1, 1}, 20500, 2}, {{1, 6}, 21000, 1}},
             {{9.89, 9.92}, {-0.01, 0.03}}),
      counts("counts_leverage_100", "one row of x = 100 among 2,000", normal(2.5),
             {{{1, 0}, 0, 1100}, {{1, 0}, 1, 650}, {{1, 0}, 2, 200}, {{1, 0}, 3, 40}, {{1, 1}, 1, 9}, {{1, 100}, 3, 1}},
             {{-0.8, -0.2}, {-0.4, 0.05}}),
      without_zeros("truncated_poisson", "1,200 rows, a slope", normal(2.5),
                    {{{1, 0}, 1, 300},
                     {{1, 0}, 2, 200},
                     {{1, 0}, 3, 90},
                     {{1, 0}, 4, 30},
                     {{1, 1}, 1, 150},
                     {{1, 1}, 2, 190},
                     {{1, 1}, 3, 140},
                     {{1, 1}, 5, 100}},
                    {{-0.2, 0.8}, {0.2, 1.0}}),
      without_zeros("truncated_one_of_two", "one 2 among 2,000 rows of 1", normal(10), {{{1}, 2, 1}, {{1}, 1, 1999}},
                    {{-60, 6}}),
      without_zeros("truncated_level_20", "a level of 20 rows of 1 among 1,000", normal(2.5),
                    {{{1, 0}, 1, 600}, {{1, 0}, 2, 300}, {{1, 0}, 3, 80}, {{1, 1}, 1, 20}}, {{-0.6, 0.3}, {-16, 2}}),
      without_zeros(
          "truncated_leverage_50", "one row of x = 50 among 2,000, Student-t prior", student_t(4, 2.5),
          {{{1, 0}, 1, 1100}, {{1, 0}, 2, 650}, {{1, 0}, 3, 200}, {{1, 0}, 4, 40}, {{1, 1}, 1, 9}, {{1, 50}, 3, 1}},
          {{-0.4, 0.4}, {-0.6, 0.1}}),
      shaped(FamilyKind::negative_binomial, "shape_counts", "1,600 rows, a slope, shape drawn", normal(5),
             {{{1, 0}, 0, 320},
              {{1, 0}, 1, 180},
              {{1, 0}, 2, 110},
              {{1, 0}, 3, 80},
              {{1, 0}, 5, 60},
              {{1, 0}, 9, 50},
              {{1, 1}, 0, 210},
              {{1, 1}, 1, 160},
              {{1, 1}, 2, 120},
              {{1, 1}, 4, 140},
              {{1, 1}, 8, 100},
              {{1, 1}, 17, 70}},
             {{0.2, 1.0}, {0.2, 1.0}, {0.4, 1.2}}),
      shaped(FamilyKind::negative_binomial, "shape_many_zeros", "290 zeros and ten large counts, shape drawn",
             normal(10), {{{1}, 0, 290}, {{1}, 3, 4}, {{1}, 20, 4}, {{1}, 150, 2}}, {{-3, 12}, {0.0005, 0.06}}),
      shaped(FamilyKind::negative_binomial, "shape_almost_poisson", "1,600 counts as of a Poisson, shape drawn",
             normal(10), regular_poisson(), {{0.3, 0.8}, {0.2, 0.6}, {0.5, 60}}),
      shaped(FamilyKind::negative_binomial, "shape_counts_level_20",
             "a level of 20 rows without an event among 1,000, shape drawn", student_t(4, 2.5),
             {{{1, 0}, 0, 600}, {{1, 0}, 1, 200}, {{1, 0}, 3, 120}, {{1, 0}, 9, 60}, {{1, 1}, 0, 20}},
             {{-0.5, 0.6}, {-16, 3}, {0.2, 1.2}}),
      shaped(FamilyKind::gamma, "shape_amounts", "1,000 amounts, a slope, shape drawn", normal(5),
             {{{1, 0}, 0.1, 60},
              {{1, 0}, 0.5, 150},
              {{1, 0}, 1.2, 180},
              {{1, 0}, 3.0, 110},
              {{1, 1}, 0.3, 70},
              {{1, 1}, 1.0, 160},
              {{1, 1}, 2.5, 170},
              {{1, 1}, 7.0, 100}},
             {{-0.2, 0.8}, {0.2, 1.2}, {0.8, 2.4}}),
      shaped(FamilyKind::gamma, "shape_six_amounts", "six amounts, shape drawn", normal(10),
             {{{1}, 0.2}, {{1}, 0.9}, {{1}, 1.5}, {{1}, 2.0}, {{1}, 3.5}, {{1}, 9.0}}, {{-2, 6}, {0.02, 12}}),
      shaped(FamilyKind::gamma, "shape_one_large_amount",
             "one amount 2,000 times the others, Student-t prior, shape drawn", student_t(4, 2.5),
             {{{1, 0}, 0.5, 100}, {{1, 0}, 1.5, 100}, {{1, 1}, 1.0, 60}, {{1, 1}, 2000.0, 1}},
             {{-2, 2}, {0.5, 7}, {0.05, 0.6}}),
      shaped(FamilyKind::gamma, "shape_precise_amounts", "2,000 amounts within a few percent, shape drawn", normal(200),
             {{{1}, 95.0, 200}, {{1}, 98.0, 500}, {{1}, 100.0, 600}, {{1}, 102.0, 500}, {{1}, 105.0, 200}},
             {{4.59, 4.62}, {800, 1800}}),
      scaled("scale_gaussian", "2,000 rows, a slope, sigma drawn", 0, normal(5), regular_student_t(),
             {{0.7, 1.3}, {0.2, 0.8}, {0.8, 1.4}}),
      scaled("scale_gaussian_six_rows", "six rows, sigma drawn", 0, normal(10),
             {{{1}, -1.0}, {{1}, 0.2}, {{1}, 0.5}, {{1}, 1.1}, {{1}, 2.0}, {{1}, 3.5}}, {{-15, 17}, {0.2, 20}}),
      scaled("scale_gaussian_far", "2,000 rows around 300, narrow Laplace prior, sigma drawn", 0, laplace(20),
             {{{1}, 298, 100}, {{1}, 299, 500}, {{1}, 300, 800}, {{1}, 301, 500}, {{1}, 302, 100}},
             {{299, 301}, {0.8, 1.2}}),
      scaled("scale_student_t", "2,000 rows, a slope, sigma drawn", 4, normal(5), regular_student_t(),
             {{0.7, 1.3}, {0.2, 0.8}, {0.5, 1.1}}),
      scaled("scale_level_20", "a level of 20 rows among 2,000, Student-t prior, sigma drawn", 3, student_t(4, 2.5),
             {{{1, 0}, -1.5, 300},
              {{1, 0}, -0.4, 690},
              {{1, 0}, 0.4, 690},
              {{1, 0}, 1.5, 280},
              {{1, 0}, 40.0, 20},
              {{1, 1}, 1.0, 8},
              {{1, 1}, 2.0, 7},
              {{1, 1}, 6.0, 5}},
             {{-0.3, 0.3}, {-1, 6}, {0.4, 1.2}}),
      scaled("scale_outliers_of_a_slope", "90 rows on a line, 10 far off it, sigma drawn", 4, normal(5),
             {{{1, 0}, -0.3, 15},
              {{1, 0}, 0.3, 15},
              {{1, 1}, 1.0, 30},
              {{1, 2}, 1.7, 15},
              {{1, 2}, 2.5, 15},
              {{1, 3}, 30.0, 10}},
             {{-3, 3}, {-3, 14}, {0.05, 6}}),
      scaled("scale_two_groups_14", "groups of 10 and 4 rows, 12 apart, sigma drawn", 4, normal(10),
             {{{1}, 0.0, 5}, {{1}, 0.4, 5}, {{1}, 12.0, 2}, {{1}, 12.4, 2}}, {{-20, 30}, {0.05, 25}}),
      scaled("scale_cauchy_1500", "1,500 rows as of a Cauchy distribution, nu = 1, sigma drawn", 1, normal(10),
             cauchy_targets(), {{-0.4, 0.4}, {0.7, 1.3}}),
      times(FamilyKind::weibull, "times_weibull", "1,950 times of two groups, half of them censored", normal(5),
            two_groups_of_times(), {{0.5, 2.0}, {-1.0, 0.3}, {0.5, 1.5}}),
      times(FamilyKind::lognormal, "times_lognormal", "1,950 times of two groups, half of them censored", normal(5),
            two_groups_of_times(), {{0.3, 1.6}, {-1.0, 0.3}, {0.7, 1.9}}),
      times(FamilyKind::loglogistic, "times_loglogistic", "1,950 times of two groups, half of them censored",
            student_t(4, 2.5), two_groups_of_times(), {{0.3, 1.6}, {-1.0, 0.3}, {0.4, 1.2}}),
      times(FamilyKind::weibull, "times_six_events", "six events among 1,000 rows", normal(10),
            {{{1}, -1.0, 1}, {{1}, 0.0, 2}, {{1}, 0.5, 1}, {{1}, 0.8, 2}, {{1}, 1.0, 994, false}},
            {{0, 30}, {0.1, 12}}),
      times(FamilyKind::lognormal, "times_six_events_lognormal", "six events among 1,000 rows", normal(10),
            {{{1}, -1.0, 1}, {{1}, 0.0, 2}, {{1}, 0.5, 1}, {{1}, 0.8, 2}, {{1}, 1.0, 994, false}},
            {{0, 40}, {0.1, 20}}),
      times(FamilyKind::loglogistic, "times_level_20", "a level of 20 rows without an event among 1,000", normal(2.5),
            {{{1, 0}, -0.5, 150},
             {{1, 0}, 0.3, 400},
             {{1, 0}, 1.2, 230},
             {{1, 0}, 1.5, 200, false},
             {{1, 1}, 1.5, 20, false}},
            {{0.2, 1.0}, {0, 14}, {0.3, 0.9}}),
      ordinal("ordinal", "three ordered categories, 2,000 rows, a slope", 3, normal(2.5),
              {{{-1}, 0, 350},
               {{-1}, 1, 250},
               {{-1}, 2, 66},
               {{0}, 0, 260},
               {{0}, 1, 270},
               {{0}, 2, 136},
               {{1}, 0, 170},
               {{1}, 1, 260},
               {{1}, 2, 238}},
              {{-0.9, 0.1}, {0.7, 1.6}, {0.4, 1.1}}),
      ordinal("ordinal_rare_top", "three ordered categories, the highest of three rows among 1,000", 3, normal(5),
              {{{0}, 0, 350}, {{0}, 1, 150}, {{1}, 0, 250}, {{1}, 1, 247}, {{1}, 2, 3}},
              {{0.5, 1.3}, {2, 14}, {0.2, 1.3}}),
      ordinal("ordinal_level_20", "a level of 20 rows, all in the lowest category, among 1,000", 3, normal(2.5),
              {{{0}, 0, 400}, {{0}, 1, 350}, {{0}, 2, 230}, {{1}, 0, 20}}, {{-0.8, 0.1}, {0.8, 1.6}, {-14, 2}}),
      ordinal("ordinal_narrow_middle", "a category of 20 rows between two of 500, Student-t prior", 3,
              student_t(4, 2.5), {{{}, 0, 490}, {{}, 1, 20}, {{}, 2, 490}}, {{-0.4, 0.3}, {-0.3, 0.4}}),
      narrow(logistic("narrow_logistic_2000", "2,000 rows, a narrow t_3 prior, half of the posterior in its spike",
                      normal(2.5), five_values(0.003, {130, 480, 780, 480, 130}, {49, 212, 390, 268, 81}),
                      {{-0.3, 0.3}, {-30, 160, 40, {0.0}}}),
             student_t(3, 0.5)),
      narrow(logistic("narrow_logistic_data", "2,000 rows, a narrow t_3 prior, little of the posterior in its spike",
                      normal(2.5), five_values(0.003, {130, 480, 780, 480, 130}, {47, 208, 390, 272, 83}),
                      {{-0.3, 0.3}, {-30, 170, 40, {0.0}}}),
             student_t(3, 0.5)),
      narrow(logistic("narrow_logistic_5000", "5,000 rows, a narrow t_3 prior, most of the posterior in its spike",
                      normal(2.5), five_values(0.003, {325, 1200, 1950, 1200, 325}, {76, 327, 585, 393, 122}),
                      {{-1.1, -0.6}, {-30, 120, 40, {0.0}}}),
             student_t(3, 0.5)),
      narrow(counts("narrow_poisson", "2,000 counts, a narrow t_2 prior", normal(2.5),
                    {{{1, 0}, 1, 600}, {{1, 0}, 0, 1000}, {{1, 0.01}, 1, 109}, {{1, 0.01}, 0, 108}, {{1, 0.01}, 2, 17}},
                    {{-1.3, -0.5}, {-30, 120, 40, {0.0}}}),
             student_t(2, 0.2)),
      narrow(scaled("narrow_gaussian_t1", "1,800 rows, a narrow t_1 prior, sigma drawn", 0, normal(5),
                    line_through_zero(1.0, 0.095), {{-0.1, 0.25, 40, {0.0}}, {0.8, 1.2}}),
             student_t(1, 0.00024)),
      narrow(scaled("narrow_gaussian_t2", "1,800 rows, a narrow t_2 prior, sigma drawn", 0, normal(5),
                    line_through_zero(1.0, 0.105), {{-0.1, 0.25, 40, {0.0}}, {0.8, 1.2}}),
             student_t(2, 0.0007)),
      narrow(scaled("narrow_gaussian_1e5", "1,800 rows, a column of sd 0.00001 under a Cauchy prior, sigma drawn", 0,
                    normal(5), line_through_zero(1e-5, 10800), {{-10000, 25000, 40, {0.0}}, {0.8, 1.2}}),
             student_t(1, 2.5)),
      narrow(logistic("narrow_two_columns", "2,000 rows, two columns with narrow t_3 priors", normal(2.5),
                      two_columns(), {{-60, 100, 40, {0.0}}, {-60, 100, 40, {0.0}}}),
             student_t(3, 0.5)),
      endless(logistic("endless_logistic_t2", "a level of 20 rows, all 1, among 1,000, student_t(2, 0, 2.5)",
                       student_t(2, 2.5), level(20, 960, 20, 0), {{-2.1, -1.8}, {-1.5, 6}})),
      endless(logistic("endless_logistic_t1", "a level of 20 rows, all 1, among 1,000, student_t(1, 0, 2.5)",
                       student_t(1, 2.5), level(20, 960, 20, 0), {{-2.1, -1.8}, {-1.5, 8}})),
      endless(counts("endless_poisson_t1", "a level of 20 rows without an event among 1,000, student_t(1, 0, 2.5)",
                     student_t(1, 2.5), {{{1, 0}, 0, 600}, {{1, 0}, 1, 300}, {{1, 0}, 2, 80}, {{1, 1}, 0, 20}},
                     {{-0.9, -0.3}, {-8, 1.5}})),
      endless(times(FamilyKind::loglogistic, "endless_times_t2",
                    "a level of 20 rows without an event among 1,000, student_t(2, 0, 2.5)", student_t(2, 2.5),
                    {{{1, 0}, -0.5, 150},
                     {{1, 0}, 0.3, 400},
                     {{1, 0}, 1.2, 230},
                     {{1, 0}, 1.5, 200, false},
                     {{1, 1}, 1.5, 20, false}},
                    {{0.2, 0.9}, {0, 6}, {0.3, 0.8}})),
      softmax("regular_softmax", "three classes, 2,000 rows", 3, normal(2.5),
              {{{1}, 0, 700}, {{1}, 1, 800}, {{1}, 2, 500}}, {{-0.4, 0.7}, {-0.9, 0.2}}),
      softmax("softmax_class_of_two", "three classes, one of two rows among 1,000", 3, normal(5),
              {{{1}, 0, 600}, {{1}, 1, 398}, {{1}, 2, 2}}, {{-1.1, 0.3}, {-20, 0}}),
      softmax("softmax_rare_class", "three classes, one of three rows among 2,000, a column", 3, normal(5),
              {{{1}, 0, 700}, {{1}, 1, 297}, {{1}, 2, 3}, {{2}, 0, 800}, {{2}, 1, 200}}, {{-1.3, -0.3}, {-16, -1}}),
      softmax("softmax_two_classes", "two classes, three 1 in 2,000, all in a level of 1,000", 2, normal(2.5),
              level(0, 1000, 3, 997), {{-25, -3}, {-12, 22}}),
  };
  for (TruthModel& model : out) model.large = model.table_rows() >= 1'000'000;
  return out;
}

}  // namespace

std::int64_t TruthModel::table_rows() const {
  std::int64_t sum = 0;
  for (const RowCount& row : rows) sum += row.count;
  return sum;
}

std::size_t TruthModel::identified() const {
  if (family == FamilyKind::softmax) return static_cast<std::size_t>(classes - 1) * features();
  return cuts() + features() + (draws_scale || draws_shape ? 1 : 0);
}

const std::vector<TruthModel>& models() {
  static const std::vector<TruthModel> all = make_models();
  return all;
}

Store make_store(const TruthModel& model) {
  std::vector<std::string> columns;
  for (std::size_t k = 0; k < model.cuts(); ++k) columns.push_back("cut" + std::to_string(k));
  for (std::size_t j = 0; j < model.features(); ++j) columns.push_back("x" + std::to_string(j));
  if (model.draws_scale) columns.push_back("sigma");
  if (model.draws_shape) columns.push_back("shape");
  StoreBuilder builder(columns);
  for (const RowCount& row : model.rows) {
    if (model.cuts() > 0) {
      for (std::int64_t i = 0; i < row.count; ++i)
        append_cut_rows(static_cast<Index>(row.y), model.classes, row.x,
                        [&](const std::vector<double>& x, double above) { builder.append(x, above); });
      continue;
    }
    std::vector<double> x = row.x;
    if (model.draws_scale) x.push_back(row.y);
    if (model.draws_shape) x.push_back(1.0);
    const bool times = model.family >= FamilyKind::weibull;
    for (std::int64_t i = 0; i < row.count; ++i) builder.append(x, times ? (row.seen ? 1.0 : 0.0) : row.y);
  }
  return builder.finish();
}

Model make_model(const TruthModel& model) {
  const auto prior_of = [](const PriorSpec& p) {
    return p.kind == PriorKind::normal    ? Prior::normal(0.0, p.scale)
           : p.kind == PriorKind::laplace ? Prior::laplace(0.0, p.scale)
                                          : Prior::student_t(p.nu, 0.0, p.scale);
  };
  std::vector<Prior> each;
  for (std::size_t i = 0; !model.others.empty() && i < model.identified(); ++i)
    each.push_back(prior_of(model.prior_of(i)));
  const Prior prior = each.empty() ? prior_of(model.prior) : Prior::each(each);
  double events = 0.0;
  for (const RowCount& row : model.rows) events += row.seen ? static_cast<double>(row.count) : 0.0;
  const ScaledTarget target{.total_weight = events, .censored = model.family >= FamilyKind::weibull};
  OrderedTarget ordered{std::vector<double>(static_cast<std::size_t>(model.classes), 0.0)};
  ShapedTarget shaped;
  for (const RowCount& row : model.rows) shaped.targets.push_back({row.y, static_cast<double>(row.count)});
  switch (model.family) {
    case FamilyKind::negative_binomial:
      return Model(NegativeBinomial{}, prior, shaped);
    case FamilyKind::gamma:
      return Model(Gamma{}, prior, shaped);
    case FamilyKind::logistic:
      return Model(Logistic{}, prior);
    case FamilyKind::ordinal:
      for (const RowCount& row : model.rows)
        ordered.category_weights[static_cast<std::size_t>(row.y)] += static_cast<double>(row.count);
      return Model(Ordinal{}, prior, ordered);
    case FamilyKind::weibull:
      return Model(weibull(), prior, target);
    case FamilyKind::lognormal:
      return Model(lognormal(), prior, target);
    case FamilyKind::loglogistic:
      return Model(loglogistic(), prior, target);
    case FamilyKind::gaussian:
      return Model(Residual(Gaussian{1.0}), prior, target);
    case FamilyKind::student_t:
      if (model.draws_scale) return Model(Residual(StudentT{model.nu, 1.0}), prior, target);
      return Model(StudentT{model.nu, model.sigma}, prior);
    case FamilyKind::poisson:
      return Model(Poisson{}, prior);
    case FamilyKind::truncated_poisson:
      return Model(TruncatedPoisson{}, prior);
    case FamilyKind::softmax:
      break;
  }
  return Model(Softmax{model.classes}, prior);
}

}  // namespace flymc::truth
