// Cut points: derivatives of their part of the density, and rows that together are the textbook's likelihood.
#include "flymc/model/ordered_cuts.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>

#include "flymc/bright/density.hpp"
#include "flymc/core/error.hpp"
#include "flymc/data/cut_rows.hpp"
#include "flymc/model/model.hpp"
#include "model/support.hpp"
#include "problems/problems.hpp"

namespace flymc {
namespace {

using problems::message_of;

const OrderedTarget ordered_target{{30.0, 4.0, 0.5, 20.0}};  // a run refuses the third; formulas hold for it
// The prior of three cut points and a coefficient.
const Prior ordered_prior = Prior::each({Prior::student_t(3.0, 0.0, 2.5), Prior::student_t(3.0, 0.0, 2.5),
                                         Prior::normal(1.0, 2.0), Prior::laplace(0.3, 1.0)});
const Vector some_parameters{{-0.8, 0.1, 0.7, 1.4}};

TEST(OrderedCuts, ParametersAndThetaGoBackAndForth) {
  const OrderedCuts cuts(ordered_prior, ordered_target);
  EXPECT_EQ(cuts.cuts(), 3);
  const Vector theta = cuts.theta(some_parameters);
  EXPECT_EQ(theta, (Vector{{0.8, -0.1, -0.7, 1.4}}));
  EXPECT_EQ(cuts.parameters(theta), some_parameters);
  EXPECT_EQ(cuts.change(theta, Vector{{1.0, 2.0, 3.0, 4.0}}), (Vector{{-1.0, -2.0, -3.0, 4.0}}));
}

TEST(OrderedCuts, DensityIsThePriorsTimesPowersOfTheDistances) {
  const OrderedCuts cuts(ordered_prior, ordered_target);
  const double expected = ordered_prior.log_density(some_parameters) + 4.0 * std::log(1.0 - std::exp(-0.9)) +
                          0.5 * std::log(1.0 - std::exp(-0.6));
  EXPECT_NEAR(cuts.log_density(cuts.theta(some_parameters)), expected, 1e-13 * std::abs(expected));
  for (const Vector& other : {Vector{{0.1, -0.8, 0.7, 1.4}}, Vector{{-0.8, 0.1, 0.1, 1.4}}}) {
    Vector gradient = Vector::Zero(4);
    EXPECT_EQ(cuts.log_density(cuts.theta(other)), -HUGE_VAL);
    EXPECT_EQ(cuts.surrogate(cuts.theta(other), gradient), -HUGE_VAL);
  }
}

TEST(OrderedCuts, DerivativesAreThoseOfItsValue) {
  const OrderedCuts cuts(ordered_prior, ordered_target);
  const Vector theta = cuts.theta(some_parameters);
  const double h = 1e-5;
  Vector gradient = Vector::Constant(4, 2.0), slope = Vector::Zero(4);
  cuts.log_density(theta, &gradient);
  cuts.surrogate(theta, slope);
  Matrix bend = Matrix::Zero(4, 4), stands_for = bend, corner = bend;
  cuts.curvature(Term::Of::bend, theta).add_to(bend);
  cuts.curvature(Term::Of::surrogate, theta).add_to(stands_for);
  cuts.curvature(Term::Of::corner, Vector{{0.8, -0.1, -0.7, 0.3}}).add_to(corner);
  for (Index j = 0; j < 4; ++j) {
    const Vector step = h * Vector::Unit(4, j);
    EXPECT_NEAR(gradient[j] - 2.0, (cuts.log_density(theta + step) - cuts.log_density(theta - step)) / (2.0 * h),
                1e-7 * (1.0 + std::abs(gradient[j])));
    Vector above = Vector::Zero(4), below = above;
    const double difference = cuts.surrogate(theta + step, above) - cuts.surrogate(theta - step, below);
    EXPECT_NEAR(slope[j], difference / (2.0 * h), 1e-7 * (1.0 + std::abs(slope[j])));
    for (Index i = 0; i < 4; ++i)
      EXPECT_NEAR(bend(i, j), (below[i] - above[i]) / (2.0 * h), 1e-6 * (1.0 + std::abs(bend(i, j))));
  }
  EXPECT_GT(stands_for.selfadjointView<Eigen::Lower>().eigenvalues().minCoeff(), 0.0);
  // Only the Laplace prior has a corner.
  EXPECT_GT(corner(3, 3), 0.0);
  corner(3, 3) = 0.0;
  EXPECT_EQ(corner, Matrix::Zero(4, 4));
}

// Without columns, these cut points have the highest likelihood.
TEST(OrderedCuts, BeginsWhereTheSharesAre) {
  const OrderedCuts cuts(ordered_prior, ordered_target);
  const Vector at = cuts.parameters(cuts.centre(4));
  double below = 0.0;
  for (Index k = 0; k < 3; ++k) {
    below += ordered_target.category_weights[static_cast<std::size_t>(k)];
    EXPECT_NEAR(at[k], std::log(below / (54.5 - below)), 1e-12);
  }
  EXPECT_EQ(at[3], 0.3);
}

TEST(OrderedCuts, BeginsWhereTheSharesAreHoweverUnequal) {
  for (const OrderedTarget& uneven : {OrderedTarget{{1e-15, 1e3, 1e3}}, OrderedTarget{{1e3, 1e3, 1e-15}}}) {
    const Vector at = OrderedCuts(Prior::flat(), uneven).parameters(OrderedCuts(Prior::flat(), uneven).centre(2));
    EXPECT_TRUE(at.allFinite());
    EXPECT_LT(at[0], at[1]);
  }
}

TEST(OrderedCuts, AStepAwayKeepsTheOrder) {
  const OrderedCuts cuts(ordered_prior, ordered_target);
  const Vector theta = cuts.theta(some_parameters);
  for (const Vector& step :
       {Vector{{-5.0, 3.0, 9.0, 1.0}}, Vector{{5.0, -3.0, -9.0, 1.0}}, Vector{{0.0, 1e300, 0.0, 0.0}}}) {
    const Vector there = cuts.parameters(cuts.away(theta, step));
    EXPECT_LT(there[0], there[1]);
    EXPECT_LT(there[1], there[2]);
    EXPECT_TRUE(std::isfinite(cuts.log_density(cuts.theta(there))));
  }
  const Vector little{{1e-4, 2e-4, -1e-4, 3e-4}};
  EXPECT_LT((cuts.away(theta, little) - theta - little).norm(), 1e-6);
}

TEST(OrderedCuts, DrawsOfThePriorAreInOrder) {
  const OrderedCuts cuts(Prior::normal(0.0, 2.0), ordered_target);
  for (std::uint64_t i = 0; i < 20; ++i) {
    const Vector at = cuts.parameters(cuts.simulate(4, PhiloxRandom(1, 0, i), Purpose::start));
    EXPECT_LT(at[0], at[1]);
    EXPECT_LT(at[1], at[2]);
  }
}

TEST(OrderedCuts, RefusesWhatHasNoCutPoints) {
  EXPECT_EQ(message_of<InputError>([] {
              OrderedCuts(Prior::flat(), {{1.0, 2.0}});
            }),
            "ordered categories are three or more, not 2");
  EXPECT_EQ(message_of<InputError>([] {
              OrderedCuts(Prior::flat(), {{1.0, 0.0, 2.0}});
            }),
            "the rows of category 2 of 3 weigh 0 in all, and their cut points cannot be known; merge the category with "
            "its neighbour");
  EXPECT_EQ(message_of<InputError>([] {
              OrderedCuts(Prior::flat(), {{2.0, 1.0, 2.0, 1.0}}).check(2);
            }),
            "2 parameters for 3 cut points");
  EXPECT_EQ(
      message_of<InputError>([] { OrderedCuts(Prior::flat(), ordered_target).check(4); }),
      "the rows of category 3 of 4 weigh 0.5 in all, less than one row: its cut points come so close that chains do "
      "not tell how close; merge the category with its neighbour, or give larger weights");
}

// The full-data density is prior times prod (sigmoid(upper) - sigmoid(lower)), up to a constant.
TEST(OrderedCuts, WithTheRowsItIsTheTextbooksPosterior) {
  constexpr Index categories = 4;
  struct Row {
    Index category;
    double x, weight;
  };
  const std::vector<Row> table = {{0, 0.3, 1.0}, {1, -1.2, 2.0},  {2, 0.8, 1.25}, {3, 2.0, 1.5},
                                  {1, 0.0, 2.0}, {0, -0.4, 29.0}, {3, 0.9, 18.5}};
  StoreBuilder builder(Layout({"cut0", "cut1", "cut2", "x"}), {true, false});
  for (const Row& row : table)
    append_cut_rows(row.category, categories, {&row.x, 1}, [&](const std::vector<double>& x, double above) {
      builder.append(x, {above, row.weight});
    });
  const Store store = builder.finish();
  const Model model(Ordinal{}, ordered_prior, OrderedTarget{{30.0, 4.0, 1.25, 20.0}});
  const FullDensity density(store, model);
  const auto expected = [&](const Vector& at) {
    double sum = ordered_prior.log_density(at);
    for (const Row& row : table) {
      const double eta = at[3] * row.x;
      const double upper = row.category == 3 ? 1.0 : 1.0 / (1.0 + std::exp(eta - at[row.category]));
      const double lower = row.category == 0 ? 0.0 : 1.0 / (1.0 + std::exp(eta - at[row.category - 1]));
      sum += row.weight * std::log(upper - lower);
    }
    return sum;
  };
  for (const Vector& at : {some_parameters, Vector{{-3.0, 0.0, 0.2, -1.0}}, Vector{{0.5, 0.6, 4.0, 0.0}}}) {
    Evaluation found;
    density.evaluate(model.theta(at), BrightRows(0), false, found);
    EXPECT_NEAR(found.log_density, expected(at), 1e-11 * std::abs(expected(at)));
  }
}

}  // namespace
}  // namespace flymc
