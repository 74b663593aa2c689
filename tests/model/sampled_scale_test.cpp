// A drawn residual scale: the map between theta and (beta, sigma), and a density that agrees with the textbook.
#include "flymc/model/sampled_scale.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <cmath>
#include <functional>

#include "flymc/bright/density.hpp"
#include "flymc/core/error.hpp"
#include "flymc/model/gaussian.hpp"
#include "flymc/model/model.hpp"
#include "flymc/model/residual.hpp"
#include "flymc/model/student_t.hpp"
#include "model/support.hpp"
#include "problems/problems.hpp"

namespace flymc {
namespace {

using problems::message_of;

const ScaledTarget scaled_target{.total_weight = 40.0, .shift = 7.0, .unit = 3.0};
// The prior of two coefficients and sigma.
const Prior scaled_prior =
    Prior::each({Prior::normal(6.0, 2.0), Prior::student_t(4.0, 0.5, 1.0), Prior::student_t(3.0, 0.0, 2.5)});
const Vector some_theta{{0.4, -0.9, 1.7}};

TEST(SampledScale, ParametersAndThetaGoBackAndForth) {
  const SampledScale scale(scaled_prior, scaled_target);
  const Vector parameters = scale.parameters(some_theta);
  EXPECT_DOUBLE_EQ(parameters[0], 7.0 - 3.0 * 0.4 / 1.7);
  EXPECT_DOUBLE_EQ(parameters[1], 3.0 * 0.9 / 1.7);
  EXPECT_DOUBLE_EQ(parameters[2], 3.0 / 1.7);
  EXPECT_LT((scale.theta(parameters) - some_theta).norm(), 1e-14);
}

TEST(SampledScale, ChangesAreDerivatives) {
  const SampledScale scale(scaled_prior, scaled_target);
  const double h = 1e-6;
  for (Index j = 0; j < 3; ++j) {
    const Vector direction = Vector::Unit(3, j);
    const Vector numerically =
        (scale.parameters(some_theta + h * direction) - scale.parameters(some_theta - h * direction)) / (2.0 * h);
    EXPECT_LT((scale.change(some_theta, direction) - numerically).norm(), 1e-8);
  }
}

// p(theta) = p(beta, sigma) tau^W |det d(beta, sigma) / d theta|, up to a constant: compares differences between
// points.
TEST(SampledScale, DensityIsThatOfTheParametersTimesTheJacobian) {
  const SampledScale scale(scaled_prior, scaled_target);
  const auto expected = [&](const Vector& theta) {
    Matrix jacobian(3, 3);
    for (Index j = 0; j < 3; ++j) jacobian.col(j) = scale.change(theta, Vector::Unit(3, j));
    return scaled_prior.log_density(scale.parameters(theta)) + scaled_target.total_weight * std::log(theta[2]) +
           std::log(std::abs(jacobian.determinant()));
  };
  for (const Vector& other : {Vector{{0.1, 2.0, 0.3}}, Vector{{-3.0, 0.2, 9.0}}, Vector{{0.0, 0.0, 1.0}}})
    EXPECT_NEAR(scale.log_density(other) - scale.log_density(some_theta), expected(other) - expected(some_theta),
                1e-11);
  EXPECT_EQ(scale.log_density(Vector{{0.1, 0.2, 0.0}}), -HUGE_VAL);
  EXPECT_EQ(scale.log_density(Vector{{0.1, 0.2, -1.0}}), -HUGE_VAL);
}

TEST(SampledScale, GradientAndBendAreDerivatives) {
  const SampledScale scale(scaled_prior, scaled_target);
  Vector gradient = Vector::Zero(3), slope = gradient;
  scale.log_density(some_theta, &gradient);
  const double value = scale.surrogate(some_theta, slope);
  const Vector bend = scale.curvature(Term::Of::bend, some_theta).diagonal,
               curvature = scale.curvature(Term::Of::surrogate, some_theta).diagonal;
  const double h = 1e-4;
  const auto surrogate = [&](const Vector& at) {
    Vector unused = Vector::Zero(3);
    return scale.surrogate(at, unused);
  };
  for (Index j = 0; j < 3; ++j) {
    const Vector step = h * Vector::Unit(3, j);
    EXPECT_NEAR(gradient[j], (scale.log_density(some_theta + step) - scale.log_density(some_theta - step)) / (2.0 * h),
                1e-5 * (1.0 + std::abs(gradient[j])));
    EXPECT_NEAR(slope[j], gradient[j], 1e-11 * (1.0 + std::abs(gradient[j])));  // these priors are smooth
    EXPECT_NEAR(bend[j], -(surrogate(some_theta + step) - 2.0 * value + surrogate(some_theta - step)) / (h * h),
                1e-5 * (1.0 + std::abs(bend[j])));
    EXPECT_GT(curvature[j], 0.0);
  }
}

// The whole second derivative: psi_j and tau are coupled. The surrogate's leaves out the terms with the prior's slopes,
// and is positive definite.
TEST(SampledScale, CouplingsAreSecondDerivatives) {
  const SampledScale scale(scaled_prior, scaled_target);
  Matrix bend = Matrix::Zero(3, 3), precision = bend;
  scale.curvature(Term::Of::bend, some_theta).add_to(bend);
  const double h = 1e-4;
  const auto slope_at = [&](const Vector& at) {
    Vector slope = Vector::Zero(3);
    scale.surrogate(at, slope);
    return slope;
  };
  for (Index i = 0; i < 3; ++i) {
    const Vector step = h * Vector::Unit(3, i);
    const Vector numerically = -(slope_at(some_theta + step) - slope_at(some_theta - step)) / (2.0 * h);
    for (Index j = 0; j < 3; ++j) EXPECT_NEAR(bend(i, j), numerically[j], 1e-5 * (1.0 + std::abs(bend(i, j))));
  }
  const SparseSymmetric stands_for = scale.curvature(Term::Of::surrogate, some_theta);
  stands_for.add_to(precision);
  EXPECT_GT(precision.selfadjointView<Eigen::Lower>().eigenvalues().minCoeff(), 0.0);
  const Vector v{{0.3, -1.0, 2.0}};
  EXPECT_LT((stands_for * v - precision * v).norm(), 1e-10);
  EXPECT_NEAR(stands_for.form(v), v.dot(precision * v), 1e-10);
}

TEST(SampledScale, CornersOfALaplaceAreSeenThroughTheMap) {
  const Prior corners = Prior::each({Prior::laplace(7.0, 0.1), Prior::normal(0.0, 1.0), Prior::normal(0.0, 2.0)});
  const SampledScale scale(corners, scaled_target);
  const Vector there{{0.0, 0.3, 2.0}};  // where the first coefficient is 7
  const Vector corner = scale.curvature(Term::Of::corner, there).diagonal;
  EXPECT_NEAR(corner[0], 1.5 * 1.5 * corners.curvature(Term::Of::corner, scale.parameters(there)).diagonal[0], 1e-9);
  EXPECT_GT(corner[0], 0.0);
  EXPECT_EQ(corner[1], 0.0);
  EXPECT_EQ(corner[2], 0.0);  // psi_0 is 0 there
  EXPECT_GT(scale.curvature(Term::Of::corner, Vector{{0.05, 0.3, 2.0}}).diagonal[2], 0.0);
}

TEST(SampledScale, BeginsAtTheCentreOfThePriorWithSigmaOneUnit) {
  const SampledScale scale(scaled_prior, scaled_target);
  EXPECT_LT((scale.parameters(scale.centre(3)) - Vector{{6.0, 0.5, 3.0}}).norm(), 1e-13);
}

// For any length of the step, sigma stays positive and moderate.
TEST(SampledScale, BeginsWhereSigmaIsPositive) {
  const SampledScale scale(scaled_prior, scaled_target);
  const Vector far{{0.1, 0.2, -1.699}};
  const Vector there = scale.parameters(scale.away(some_theta, far)), here = scale.parameters(some_theta);
  EXPECT_NEAR(there[2], here[2] * std::exp(1.699 / 1.7), 1e-12);
  EXPECT_LT((there - here - scale.change(some_theta, far)).head(2).norm(), 1e-12);
  const Vector small = 1e-6 * Vector::Ones(3);
  EXPECT_LT((scale.away(some_theta, small) - some_theta - small).norm(), 1e-11);
}

TEST(SampledScale, NeedsMoreWeightThanParameters) {
  EXPECT_EQ(message_of<InputError>([] { SampledScale(scaled_prior, {.total_weight = 4.0}).check(3); }),
            "rows of weight 4 in all are too few to draw a residual scale beside 2 coefficients: it takes more than 4; "
            "give the scale (‹sigma›), leave out columns, or divide the weights by their mean");
  EXPECT_NO_THROW(SampledScale(scaled_prior, {.total_weight = 4.5}).check(3));
  EXPECT_THROW(SampledScale(scaled_prior, {.total_weight = 10.0, .unit = 0.0}), InputError);
}

// The whole log posterior of theta, less the Jacobian, is prior(beta, sigma) times the likelihood by its own formula,
// with extended rows, weights and offsets.
template <class F>
void expect_posterior(const F& at_one, const std::function<double(double, double, double)>& log_likelihood) {
  constexpr Index rows = 30;
  const RowMatrix x = problems::features(rows, 2, 8);
  Vector y(rows), weights(rows);
  for (Index i = 0; i < rows; ++i) {
    y[i] = 5.0 + 2.0 * x(i, 1) + std::sin(static_cast<double>(3 * i));
    weights[i] = 0.5 + static_cast<double>(i % 3);
  }
  const ScaledTarget as{.total_weight = weights.sum(), .shift = 4.0, .unit = 2.0};
  RowMatrix extended(rows, 3);
  extended << x, (y.array() - as.shift).matrix() / as.unit;
  const Store store = Store::from_matrix(extended, y, {"intercept", "x", "sigma"}, NumberType::float64, weights);
  const Model model(Residual<F>(at_one), scaled_prior, as);
  const FullDensity density(store, model);
  const auto less_jacobian = [&](const Vector& parameters) {
    Evaluation at;
    density.evaluate(model.theta(parameters), BrightRows(0), false, at);
    return at.log_density - 4.0 * std::log(parameters[2]);  // tau^-(D + 2)
  };
  const auto expected = [&](const Vector& parameters) {
    double sum = scaled_prior.log_density(parameters);
    for (Index i = 0; i < rows; ++i)
      sum += weights[i] * log_likelihood(y[i], parameters[0] + parameters[1] * x(i, 1), parameters[2]);
    return sum;
  };
  const Vector here{{5.0, 2.0, 1.0}};
  for (const Vector& there : {Vector{{4.0, 1.0, 0.7}}, Vector{{9.0, -2.0, 5.0}}, Vector{{5.1, 2.0, 0.1}}})
    EXPECT_NEAR(less_jacobian(there) - less_jacobian(here), expected(there) - expected(here),
                1e-10 * std::abs(expected(there)));
}

TEST(SampledScale, PosteriorIsThatOfTheRegression) {
  expect_posterior(Gaussian(1.0), [](double y, double mean, double sigma) {
    return -0.5 * (y - mean) * (y - mean) / (sigma * sigma) - std::log(sigma);
  });
  expect_posterior(StudentT(4.0, 1.0), [](double y, double mean, double sigma) {
    return -2.5 * std::log1p((y - mean) * (y - mean) / (4.0 * sigma * sigma)) - std::log(sigma);
  });
}

}  // namespace
}  // namespace flymc
