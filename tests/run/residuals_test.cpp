// Warns of scales in the wrong unit and of priors that dominate the rows; gives no warning for good models.
#include "flymc/run/residuals.hpp"

#include <gtest/gtest.h>

#include "flymc/model/logistic.hpp"
#include "flymc/model/student_t.hpp"
#include "flymc/run/fit.hpp"
#include "problems/problems.hpp"

namespace flymc {
namespace {

TEST(ResidualWarnings, OfAScaleInTheWrongUnit) {
  const Prior prior = Prior::normal(0.0, 10.0);
  const auto problem = problems::make(Model(StudentT(4.0, 0.8), prior), 5000, 3, 41);
  const auto warnings = [&](double sigma) {
    return fit(problem.store, Model(StudentT(4.0, sigma), prior), {.chains = 1, .warmup = 20, .draws = 10}).warnings;
  };
  for (const double sigma : {0.8, 0.6, 1.1}) EXPECT_TRUE(warnings(sigma).empty()) << sigma;
  ASSERT_EQ(warnings(0.08).size(), 1u);
  EXPECT_NE(warnings(0.08)[0].find("too narrow"), std::string::npos);
  EXPECT_NE(warnings(0.08)[0].find("a sigma that is 1"), std::string::npos) << warnings(0.08)[0];  // about 10 times
  ASSERT_EQ(warnings(8.0).size(), 1u);
  EXPECT_NE(warnings(8.0)[0].find("too wide"), std::string::npos);
}

// price = 300000 + 50000 x under normal(0, 2.5): the posterior is nearly the prior, with R-hat 1.000.
TEST(ResidualWarnings, OfAPriorThatWins) {
  auto problem = problems::make(Model(StudentT(4.0, 1.0), Prior::normal(0.0, 2.5)), 2000, 2, 42);
  Vector y(2000);
  RowMatrix x(2000, 2);
  for (RowId i = 0; i < 2000; ++i) {
    for (Index j = 0; j < 2; ++j) x(i, j) = problem.store.value(i, j);
    y[i] = 300000.0 + 50000.0 * x(i, 1) + 20000.0 * (problem.store.target(i) - x(i, 0));
  }
  const Store store = Store::from_matrix(x, y);
  const FitOptions few{.chains = 1, .warmup = 20, .draws = 10};
  const auto narrow = fit(store, Model(StudentT(4.0, 20000.0), Prior::normal(0.0, 2.5)), few).warnings;
  ASSERT_EQ(narrow.size(), 2u);
  EXPECT_NE(narrow[0].find("is nearly the prior (2 of 2 coefficients)"), std::string::npos) << narrow[0];
  EXPECT_NE(narrow[1].find("a wider prior"), std::string::npos) << narrow[1];
}

TEST(ResidualWarnings, NotOfClassesNorOfFewRows) {
  const auto classes = problems::make(Model(Logistic{}, Prior::normal(0.0, 1.0)), 2000, 3, 43);
  EXPECT_TRUE(residual_warnings(classes.model, classes.store, Vector::Zero(3)).empty());
  const auto few = problems::make(Model(StudentT(4.0, 1.0), Prior::normal(0.0, 1.0)), 99, 3, 44);
  EXPECT_TRUE(residual_warnings(few.model, few.store, Vector::Constant(3, 100.0)).empty());
}

}  // namespace
}  // namespace flymc
