// A narrow Student-t prior causes a mode that chains cannot move to: the summary warns of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "flymc/data/cut_rows.hpp"
#include "flymc/model/gaussian.hpp"
#include "flymc/model/logistic.hpp"
#include "flymc/model/negative_binomial.hpp"
#include "flymc/model/ordinal.hpp"
#include "flymc/model/residual.hpp"
#include "flymc/run/fit.hpp"

namespace flymc {
namespace {

bool warns_of_a_mode(const Fit& found, const std::string& name) {
  return std::ranges::any_of(found.warnings, [&](const std::string& warning) {
    return warning.starts_with("the posterior has a second mode that chains may not reach: '" + name + "'");
  });
}

FitOptions few_draws() { return {.chains = 2, .warmup = 100, .draws = 100, .seed = 1, .threads = 2}; }

// Quantiles of a normal distribution, shifted and scaled.
Store numbers(double mean, double sd, int rows) {
  StoreBuilder builder({"intercept", "y"});
  for (int i = 0; i < rows; ++i) {
    const double p = (i + 0.5) / rows, t = std::sqrt(-2.0 * std::log(std::min(p, 1.0 - p)));
    const double z = (p < 0.5 ? -1.0 : 1.0) * (t - (2.30753 + 0.27061 * t) / (1.0 + 0.99229 * t + 0.04481 * t * t));
    builder.append(std::vector<double>{1.0, mean + sd * z}, 0.0);
  }
  return builder.finish();
}

// The likelihood of sigma is highest near 0.98, and a search that begins at 1 ends there. With the narrow prior at
// 0.88, its spike has nearly all of the posterior; at 0.86 it has a share.
TEST(UnreachedModes, of_a_narrow_prior_of_a_scale_are_said) {
  const Store store = numbers(0.0, 1.0, 1200);
  const auto fitted = [&](const Prior& of_sigma) {
    const Model model(Residual(Gaussian(1.0)), Prior::each({Prior::normal(0.0, 2.5), of_sigma}),
                      ScaledTarget{.total_weight = 1200.0});
    return fit(store, model, few_draws());
  };
  EXPECT_TRUE(warns_of_a_mode(fitted(Prior::student_t(3.0, 0.88, 2e-5)), "y"));
  EXPECT_TRUE(warns_of_a_mode(fitted(Prior::student_t(3.0, 0.86, 2e-5)), "y"));
  for (const Prior& usual :
       {Prior::student_t(3.0, 0.0, 2.5), Prior::student_t(3.0, 1.0, 0.3), Prior::student_t(3.0, 0.0, 0.01),
        Prior::student_t(3.0, 5.0, 1e-5), Prior::normal(0.88, 2e-5)}) {
    const Fit found = fitted(usual);
    EXPECT_FALSE(warns_of_a_mode(found, "y")) << usual.describe();
  }
}

// A slope of 1.4 with a narrow prior at 3.3. By quadrature the spike has 31 % of the posterior, where sigma is three
// times as large; at 3.0 it has 89 %, at 4.2 less than 0.1 %. Slope over sigma differs little between the two modes, so
// only parameters tell them apart.
TEST(UnreachedModes, of_a_drawn_scale_are_said_in_all_units) {
  constexpr int rows = 30;
  StoreBuilder builder({"intercept", "x", "y"});
  for (int i = 0; i < rows; ++i) {
    const double x = -1.5 + 3.0 * i / (rows - 1);
    builder.append(std::vector<double>{1.0, x, 1.4 * x + std::sin(7.0 * i)}, 0.0);
  }
  const Store store = builder.finish();
  const auto warns = [&](double location, double unit) {
    const Model model(Residual(Gaussian(1.0)),
                      Prior::each({Prior::normal(0.0, 4.0 * unit), Prior::student_t(5.0, location * unit, 0.006 * unit),
                                   Prior::student_t(3.0, 0.0, 3.6 * unit)}),
                      ScaledTarget{.total_weight = rows, .unit = unit});
    return warns_of_a_mode(fit(store, model, few_draws()), "x");
  };
  for (const double unit : {1e-3, 1.0, 1e3}) {
    EXPECT_TRUE(warns(3.0, unit)) << unit;
    EXPECT_TRUE(warns(3.3, unit)) << unit;
    EXPECT_FALSE(warns(4.2, unit)) << unit;
  }
}

// Three rows of one class: the likelihood rises until 0 and is flat from there. By quadrature 57 % of the posterior
// lies away from the spike at -8, where the likelihood's second derivative does not describe it.
TEST(UnreachedModes, of_a_separated_level_are_said) {
  StoreBuilder builder({"x"});
  for (int i = 0; i < 3; ++i) builder.append(std::vector<double>{1.0}, 1.0);
  for (int i = 0; i < 200; ++i) builder.append(std::vector<double>{0.0}, i % 2 == 0 ? 1.0 : 0.0);
  const Store store = builder.finish();
  const auto fitted = [&](const Prior& prior) { return fit(store, Model(Logistic{}, prior), few_draws()); };
  EXPECT_TRUE(warns_of_a_mode(fitted(Prior::student_t(7.0, -8.0, 0.15)), "x"));
  EXPECT_FALSE(warns_of_a_mode(fitted(Prior::student_t(3.0, 0.0, 2.5)), "x"));
}

// Three ordered categories of 600, 300 and 600 rows. The likelihood puts the lower cut point at -0.41, and its prior at
// 0; the upper one moves with it.
TEST(UnreachedModes, of_a_narrow_prior_of_a_cut_point_are_said) {
  StoreBuilder builder({"0", "1"});
  const OrderedTarget target{{600.0, 300.0, 600.0}};
  for (Index category = 0; category < 3; ++category)
    for (double i = 0.0; i < target.category_weights[static_cast<std::size_t>(category)]; ++i)
      append_cut_rows(category, 3, {},
                      [&](const std::vector<double>& cells, double above) { builder.append(cells, above); });
  const Store store = builder.finish();
  const auto fitted = [&](const Prior& of_lower) {
    return fit(store, Model(Ordinal{}, Prior::each({of_lower, Prior::student_t(3.0, 0.0, 2.5)}), target), few_draws());
  };
  EXPECT_TRUE(warns_of_a_mode(fitted(Prior::student_t(3.0, 0.0, 1e-4)), "0"));
  EXPECT_FALSE(warns_of_a_mode(fitted(Prior::student_t(3.0, 0.0, 2.5)), "0"));
}

// The slope is 0 by the rows and 2.5 by its prior, where the residuals are 2.7 times as large. By quadrature the spike
// has 51 % of the posterior; an expansion at the likelihood's mode, where sigma is 1, gives it none.
TEST(UnreachedModes, of_a_coefficient_with_another_scale_are_said) {
  StoreBuilder builder({"intercept", "x", "y"});
  const Store y = numbers(0.0, 1.0, 30);
  for (RowId i = 0; i < 30; ++i) builder.append(std::vector<double>{1.0, i % 2 == 0 ? -1.0 : 1.0, y.value(i, 1)}, 0.0);
  const Store store = builder.finish();
  const auto fitted = [&](double scale) {
    const Prior prior =
        Prior::each({Prior::normal(0.0, 5.0), Prior::student_t(5.0, 2.5, scale), Prior::student_t(3.0, 0.0, 2.5)});
    return fit(store, Model(Residual(Gaussian(1.0)), prior, ScaledTarget{.total_weight = 30.0}), few_draws());
  };
  const Fit found = fitted(0.00539);
  EXPECT_TRUE(warns_of_a_mode(found, "x"));
  const std::string text = found.summary().text();
  const std::size_t at = text.find("with about ");
  ASSERT_NE(at, std::string::npos) << text;
  EXPECT_NEAR(std::stod(text.substr(at + 11)), 51.0, 5.0);
  EXPECT_FALSE(warns_of_a_mode(fitted(2.5), "x"));
}

// The same for counts with a shape. By quadrature the spike has 70 % of the posterior.
TEST(UnreachedModes, of_a_coefficient_with_another_shape_are_said) {
  StoreBuilder builder({"x", "shape"});
  const int rows[] = {41, 18, 1};
  ShapedTarget target;
  for (int y = 0; y < 3; ++y) {
    target.targets.push_back({double(y), double(rows[y])});
    for (int i = 0; i < rows[y]; ++i) builder.append(std::vector<double>{1.0, 1.0}, y);
  }
  const Store store = builder.finish();
  const auto fitted = [&](const Prior& of_x) {
    return fit(store, Model(NegativeBinomial{}, Prior::each({of_x, Prior::normal(0.0, 10.0)}), target), few_draws());
  };
  const auto says_something = [](const Fit& found) {
    return warns_of_a_mode(found, "x") || std::ranges::any_of(found.warnings, [](const std::string& warning) {
             return warning.starts_with("the posterior of 'x' has two modes");
           });
  };
  EXPECT_TRUE(says_something(fitted(Prior::student_t(3.0, 0.5, 0.001))));
  EXPECT_FALSE(says_something(fitted(Prior::student_t(3.0, 0.5, 1.0))));
}

// A narrow prior at 0. If the likelihood's mode is 2 of its standard deviations away, no warning is needed; at 3.5
// there is one mode, at the prior; at 5 there are two.
TEST(NarrowPriors, that_outweigh_the_rows_are_said) {
  const auto says = [&](double slope) {
    StoreBuilder builder({"x"});
    for (int i = 0; i < 400; ++i) {
      const double x = i < 200 ? 1.0 : -1.0;
      builder.append(std::vector<double>{x}, slope * x + (i % 2 == 0 ? 1.0 : -1.0));
    }
    const Fit found = fit(builder.finish(), Model(Gaussian(1.0), Prior::student_t(3.0, 0.0, 0.002)), few_draws());
    for (const std::string& warning : found.warnings) {
      if (warning.starts_with("the prior of 'x' outweighs the rows")) return 1;
      if (warning.starts_with("the posterior of 'x' has two modes")) return 2;
    }
    return 0;
  };
  EXPECT_EQ(says(0.1), 0);
  EXPECT_EQ(says(0.175), 1);
  EXPECT_EQ(says(0.25), 2);
  EXPECT_EQ(says(0.5), 0);
}

}  // namespace
}  // namespace flymc
