// The joint density against its definition in long double, its gradient against finite differences, and z changed in
// place against a new evaluation.
#include "flymc/bright/density.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numbers>
#include <numeric>

#include "bright/support.hpp"
#include "flymc/core/error.hpp"

namespace flymc {
namespace {

using problems::CubicRule;
using problems::expect_same;
using problems::expect_settled;
using problems::message_of;
using problems::World;
using Long = long double;

// The predictors of a row, in long double.
std::vector<Long> predictors(const World& world, RowId row, const Vector& theta) {
  const Index d = world.store.features();
  std::vector<Long> eta(static_cast<std::size_t>(world.model.predictors()));
  for (std::size_t k = 0; k < eta.size(); ++k)
    for (Index j = 0; j < d; ++j)
      eta[k] += static_cast<Long>(world.store.value(row, j)) * theta[static_cast<Index>(k) * d + j];
  return eta;
}

Long log_sigmoid_exactly(Long m) { return m > 0 ? -log1pl(expl(-m)) : m - log1pl(expl(m)); }

Long log_sum_exp(const std::vector<Long>& eta) {
  const Long top = *std::max_element(eta.begin(), eta.end());
  Long sum = 0;
  for (const Long e : eta) sum += expl(e - top);
  return top + logl(sum);
}

// One row's bound and likelihood in logarithms.
struct RowTerms {
  Long log_likelihood, log_bound;
};
using Explicit = std::function<RowTerms(const World&, RowId, const Vector& theta)>;

// Jaakkola and Jordan's formula, tight at +-xi: sigmoid(m) >= sigmoid(xi) exp((m - xi)/2 - lambda (m^2 - xi^2)).
RowTerms jaakkola_jordan(Long m, Long xi) {
  const Long lambda = fabsl(xi) < 1e-6L ? 0.125L : tanhl(xi / 2) / (4 * xi);
  return {log_sigmoid_exactly(m), log_sigmoid_exactly(xi) + (m - xi) / 2 - lambda * (m * m - xi * xi)};
}

RowTerms logistic_anchored(const World& world, RowId row, const Vector& theta) {
  const Long side = world.store.target(row) > 0.5 ? 1 : -1;
  const Long at_anchor = side * predictors(world, row, world.anchor.theta)[0];
  return jaakkola_jordan(side * predictors(world, row, theta)[0], at_anchor);
}

RowTerms logistic_fixed(const World& world, RowId row, const Vector& theta) {
  const Long side = world.store.target(row) > 0.5 ? 1 : -1;
  return jaakkola_jordan(side * predictors(world, row, theta)[0], 1.5L);
}

// Bohning's formula: lse(eta) <= lse(eta^) + p'delta + delta'(I - 11'/K) delta / 4.
RowTerms softmax_anchored(const World& world, RowId row, const Vector& theta) {
  const auto own = static_cast<std::size_t>(world.store.target(row));
  const auto eta = predictors(world, row, theta), eta0 = predictors(world, row, world.anchor.theta);
  Long bound = log_sum_exp(eta0), squares = 0, sum = 0;
  for (std::size_t k = 0; k < eta.size(); ++k) {
    const Long delta = eta[k] - eta0[k];
    bound += expl(eta0[k] - log_sum_exp(eta0)) * delta;
    squares += delta * delta;
    sum += delta;
  }
  bound += (squares - sum * sum / static_cast<Long>(eta.size())) / 4;
  return {eta[own] - log_sum_exp(eta), eta[own] - bound};
}

// For nu = 4, sigma = 0.8: the tangent of -(nu + 1)/2 log(nu sigma^2 + u) in u = r^2.
RowTerms student_t_anchored(const World& world, RowId row, const Vector& theta) {
  const Long nu = 4, sigma = 0.8;
  const Long constant = lgammal((nu + 1) / 2) - lgammal(nu / 2) - logl(nu * std::numbers::pi_v<Long>) / 2 - logl(sigma);
  const auto r = [&](const Vector& t) { return world.store.target(row) - predictors(world, row, t)[0]; };
  const Long u = powl(r(theta), 2), u0 = powl(r(world.anchor.theta), 2), a = nu * sigma * sigma;
  const Long at_anchor = constant - (nu + 1) / 2 * logl((a + u0) / a);
  return {constant - (nu + 1) / 2 * logl((a + u) / a), at_anchor - (nu + 1) / 2 * (u - u0) / (a + u0)};
}

// l + l' delta - (w + k rho) delta^2 / 2 inside the radius.
RowTerms cubic(const World& world, RowId row, const Vector& theta) {
  const Vector offset = theta - world.anchor.theta;
  const double rho = std::sqrt(offset.dot(world.anchor.metric.matrix() * offset));
  Vector x(world.store.features());
  for (Index j = 0; j < x.size(); ++j) x[j] = world.store.value(row, j);
  const double reach = std::sqrt(x.dot(world.anchor.metric.matrix().ldlt().solve(x)));
  const Long side = world.store.target(row) > 0.5 ? 1 : -1;
  const Long m = side * predictors(world, row, theta)[0], m0 = side * predictors(world, row, world.anchor.theta)[0];
  const Long p = expl(log_sigmoid_exactly(-m0)), q = expl(log_sigmoid_exactly(m0)), delta = m - m0;
  const Long curvature = p * q + reach / (18 * sqrtl(3)) * rho;
  return {log_sigmoid_exactly(m), log_sigmoid_exactly(m0) + p * delta - curvature * delta * delta / 2};
}

// log p(theta, z) inside the radius, with L for a lit row; beyond it log p(nearest, z) + log posterior(theta) - log
// posterior(nearest).
Long explicit_joint(const World& world, const Explicit& terms, const Vector& theta, const BrightSet& z) {
  Long sum = world.model.prior().log_density(theta);
  const Vector nearest = world.zone_point(theta);
  for (RowId row = 0; row < world.store.rows(); ++row) {
    const RowTerms at = terms(world, row, nearest);
    EXPECT_LE(at.log_bound, at.log_likelihood + 1e-15L);
    // Bright: B (L/B - 1); dark: B.
    if (world.bound.lit().contains(row))
      sum += at.log_likelihood;
    else
      sum += at.log_bound;
    if (z.is_bright(row)) sum += logl(expm1l(at.log_likelihood - at.log_bound));
    sum += terms(world, row, theta).log_likelihood - at.log_likelihood;
  }
  return sum;
}

// A limit of the rounding error of the bright rows' terms: a gap has an absolute error of a few ulps of delta^2 times
// its curvature (below 2 here), which is not small relative to the gap near a second touching point of the bound.
double rounding(const World& world, const State& state) {
  double sum = 0.0;
  for (std::size_t i = 0; i < state.z.fixed.size(); ++i) {
    const auto here = predictors(world, state.z.fixed.row[i], world.zone_point(state.theta));
    const auto there = predictors(world, state.z.fixed.row[i], world.anchor.theta);
    for (std::size_t k = 0; k < here.size(); ++k)
      sum += 1e-14 * static_cast<double>(powl(here[k] - there[k], 2)) / state.at.bright.gap[i];
  }
  return sum;
}

// Density and gradient at several distances from the anchor, with no row, some and all rows bright.
void expect_density(const World& world, const Explicit& terms, const std::vector<double>& spreads) {
  for (const double spread : spreads)
    for (const RowId nth : {0, 4, 1}) {
      SCOPED_TRACE(testing::Message() << world.bound.rule().name() << " " << world.model.family().name() << ", "
                                      << spread << " away, every " << nth << "-th row bright");
      const Vector theta = world.theta(spread, 3);
      const State state = world.state(theta, nth);
      const auto expected = static_cast<double>(explicit_joint(world, terms, theta, state.z.set));
      EXPECT_NEAR(state.at.log_density, expected, 2e-11 * (1.0 + std::abs(expected)) + rounding(world, state));
      expect_settled(world, state);

      Evaluation there;
      for (Index j = 0; j < theta.size(); ++j) {
        const double h = 2e-6;  // small relative to the least |delta| of a bright row, where log(gap) is most curved
        const auto value = [&](double step) {
          world.joint.evaluate(theta + step * Vector::Unit(theta.size(), j), state.z, false, there);
          return there.log_density;
        };
        // Fourth order: (8 (f(h) - f(-h)) - (f(2h) - f(-2h))) / 12h.
        const double slope = (8.0 * (value(h) - value(-h)) - (value(2 * h) - value(-2 * h))) / (12.0 * h);
        EXPECT_NEAR(state.at.gradient[j], slope, 1e-6 * (1.0 + std::abs(slope))) << j;
      }
    }
}

const Prior some_prior = Prior::normal(0.2, 2.0);

TEST(JointDensity, LogisticIsItsDefinition) {
  expect_density(World(Logistic{}, some_prior, 60, 3, 11), logistic_anchored, {0.5, 2.0});
  expect_density(World(Logistic{}, some_prior, 60, 3, 11, std::make_shared<FixedJaakkolaJordanRule>()), logistic_fixed,
                 {0.5, 2.0});
}

TEST(JointDensity, SoftmaxIsItsDefinition) {
  expect_density(World(Softmax{3}, Prior::student_t(3.0, 0.0, 1.0), 50, 2, 12), softmax_anchored, {0.5, 2.0});
}

TEST(JointDensity, StudentTIsItsDefinition) {
  expect_density(World(StudentT(4.0, 0.8), Prior::laplace(0.0, 1.0), 60, 3, 13), student_t_anchored, {0.5, 2.0});
}

// Inside the radius the bound grows, outside all rows are evaluated; 1.0 and 6.0 standard deviations per coefficient
// are clearly on either side of a radius of 5.
TEST(JointDensity, ABoundThatGrowsIsItsDefinition) {
  const World world(Logistic{}, some_prior, 60, 3, 14, std::make_shared<CubicRule>(5.0));
  ASSERT_LT(world.bound.at(world.theta(1.0, 3), false).rho, 4.9);
  ASSERT_GT(world.bound.at(world.theta(6.0, 3), false).beyond, 1.02);
  expect_density(world, cubic, {0.3, 1.0, 6.0});
}

// Lit rows add their likelihood, for any bound.
TEST(JointDensity, LitRowsAreTheirLikelihood) {
  for (const double above : {0.0, 0.3, 0.6}) {
    const World world(Logistic{}, some_prior, 60, 3, 14, std::make_shared<CubicRule>(5.0), {.above = above});
    if (above == 0.0) {
      ASSERT_EQ(world.bound.lit().size(), 60u);
    } else {
      ASSERT_GT(world.bound.lit().size(), 1u);
      ASSERT_LT(world.bound.lit().size(), 40u);
    }
    expect_density(world, cubic, {0.3, 1.0, 6.0});
  }
  const World anchored(Softmax{3}, Prior::student_t(3.0, 0.0, 1.0), 50, 2, 12, std::make_shared<AnchoredRule>(),
                       {.above = 0.4});
  ASSERT_GT(anchored.bound.lit().size(), 1u);
  ASSERT_LT(anchored.bound.lit().size(), 40u);
  expect_density(anchored, softmax_anchored, {0.5, 2.0});
  const World student_t(StudentT(4.0, 0.8), Prior::laplace(0.0, 1.0), 60, 3, 13, std::make_shared<AnchoredRule>(),
                        {.above = 0.05});
  ASSERT_GT(student_t.bound.lit().size(), 1u);
  ASSERT_LT(student_t.bound.lit().size(), 50u);
  expect_density(student_t, student_t_anchored, {0.5, 2.0});
}

TEST(JointDensity, QueriesAreTheBrightRows) {
  const World world(Softmax{3}, some_prior, 50, 2, 15);
  State state = world.state(world.theta(1.0), 5);
  EXPECT_EQ(world.count(), 10);  // the evaluated rows
  EXPECT_EQ(world.joint.evaluate(world.theta(2.0), state.z, true, state.proposed), 10);
  EXPECT_EQ(world.count(), 10);
  const std::vector<RowId> rows = {1, 2, 3};
  BoundRows fixed;
  Gaps gaps;
  EXPECT_EQ(world.joint.evaluate_rows(state, rows, fixed, gaps), 3);
  EXPECT_EQ(world.count(), 3);
  world.joint.brighten(state, fixed, gaps, 1);
  world.joint.darken(state, 45);
  world.joint.update(state);
  EXPECT_EQ(world.count(), 0);
  EXPECT_EQ(world.joint.evaluate(state.theta, BrightRows(50), false, state.proposed), 0);
  EXPECT_EQ(world.count(), 0);
}

// One query per bright row and per lit row; two additional passes beyond the radius.
TEST(JointDensity, QueriesOfLitRowsAndBeyondTheRadius) {
  for (const Lighting& lighting : {Lighting{}, Lighting{.above = 0.8}})
    for (const bool framed : {false, true}) {
      const World world(Softmax{3}, some_prior, 50, 2, 15, std::make_shared<SharpRule>(Zone{2.4, 5.0}), lighting);
      const auto frame = std::make_shared<const SplitFrame>(*collapsed_frame(world.bound, world.model.prior()));
      const JointDensity joint(world.store, world.bound, world.model.shared_term(), framed ? frame : nullptr);
      const auto lit = static_cast<RowId>(world.bound.lit().size());
      EXPECT_EQ(lit > 0, std::isfinite(lighting.above));
      const State state = world.state(world.at_rho(2.0), 2);
      const RowId bright = state.z.set.bright_count();
      EXPECT_GT(bright, 3);
      Evaluation at;
      Vector gradient;
      for (const bool with_gradient : {false, true})
        for (const bool beyond : {false, true}) {
          const Vector theta = world.at_rho(beyond ? 5.5 : 4.5);
          const RowId expected = bright + lit + (beyond ? 100 : 0);
          world.count();
          EXPECT_EQ(joint.evaluate(theta, state.z, with_gradient, at), expected);
          EXPECT_EQ(world.count(), expected);
          EXPECT_EQ(joint.kick(*frame, frame->position(theta), state.z, gradient), expected);
          EXPECT_EQ(world.count(), expected);
        }
    }
}

// Rows become bright and dark in random order; after each update the state equals a new evaluation.
TEST(JointDensity, ChangesInPlaceAreAnEvaluationAnew) {
  std::vector<std::unique_ptr<World>> worlds;
  worlds.push_back(std::make_unique<World>(Logistic{}, some_prior, 40, 3, 16));
  worlds.push_back(std::make_unique<World>(Softmax{4}, some_prior, 40, 3, 16));
  worlds.push_back(std::make_unique<World>(StudentT(4.0, 0.8), some_prior, 40, 3, 16));
  worlds.push_back(
      std::make_unique<World>(Logistic{}, some_prior, 40, 3, 16, std::make_shared<FixedJaakkolaJordanRule>()));
  worlds.push_back(std::make_unique<World>(Logistic{}, some_prior, 40, 3, 16, std::make_shared<CubicRule>(5.0)));
  worlds.push_back(std::make_unique<World>(Logistic{}, some_prior, 40, 3, 16, std::make_shared<CubicRule>(5.0),
                                           Lighting{.above = 0.5}));
  ASSERT_GT(worlds.back()->bound.lit().size(), 2u);
  ASSERT_LT(worlds.back()->bound.lit().size(), 30u);
  const PhiloxRandom random(17, 0, 0);
  for (const auto& world : worlds)
    for (const double spread : {1.0, 8.0})
      for (const bool with_gradient : {true, false}) {
        SCOPED_TRACE(testing::Message() << world->bound.rule().name() << ", gradient " << with_gradient);
        State state = world->state(world->theta(spread), 0, with_gradient);
        for (std::uint64_t round = 0; round < 30; ++round) {
          std::vector<RowId> dark;
          for (std::uint64_t i = 0; i < 10; ++i) {
            const auto row = static_cast<RowId>(random.choose(Purpose::pick, 100 * round + i, 40));
            if (!world->joint.has_z(row)) continue;
            if (state.z.set.is_bright(row))
              world->joint.darken(state, row);
            else if (std::find(dark.begin(), dark.end(), row) == dark.end())
              dark.push_back(row);
          }
          BoundRows fixed;
          Gaps gaps;
          world->joint.evaluate_rows(state, dark, fixed, gaps);
          for (std::size_t i = 0; i < dark.size(); ++i) world->joint.brighten(state, fixed, gaps, i);
          world->joint.update(state);
          ASSERT_EQ(state.at.has_slopes(), with_gradient);
          expect_settled(*world, state);
        }
        EXPECT_GT(state.z.set.bright_count(), 5);
      }
}

// Contents left in an evaluation from another theta, z or zone have no effect.
TEST(JointDensity, OldContentsOfAnEvaluationDoNotMatter) {
  const World world(Logistic{}, some_prior, 40, 3, 18, std::make_shared<CubicRule>(5.0));
  const State inside = world.state(world.theta(1.0), 3), outside = world.state(world.theta(9.0), 2);
  Evaluation used = inside.at;
  world.joint.evaluate(outside.theta, outside.z, true, used);
  expect_same(used, outside.at);
  world.joint.evaluate(inside.theta, inside.z, true, used);
  expect_same(used, inside.at);
  world.joint.evaluate(inside.theta, inside.z, false, used);
  EXPECT_EQ(used.log_density, inside.at.log_density);
  EXPECT_EQ(used.gradient.size(), 0);
}

TEST(JointDensity, AThetaThatIsNotFiniteGivesADensityThatIsNotFinite) {
  std::vector<std::unique_ptr<World>> worlds;
  for (const Prior& prior : {some_prior, Prior::flat()}) {
    worlds.push_back(std::make_unique<World>(Logistic{}, prior, 80, 2, 19));
    worlds.push_back(std::make_unique<World>(StudentT(4.0, 0.8), prior, 80, 2, 19));
    worlds.push_back(std::make_unique<World>(Logistic{}, prior, 80, 2, 19, std::make_shared<CubicRule>(4.0)));
    worlds.push_back(
        std::make_unique<World>(Logistic{}, prior, 80, 2, 19, std::make_shared<FixedJaakkolaJordanRule>()));
  }
  worlds.push_back(std::make_unique<World>(Softmax{3}, some_prior, 80, 2, 19));
  for (const auto& world : worlds)
    for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL, 1e200, -1e308})
      for (const bool with_gradient : {true, false})
        for (const RowId nth : {0, 3}) {
          const State state = world->state(world->theta(1.0), nth);
          Vector theta = state.theta;
          theta[1] = bad;
          Evaluation out;
          EXPECT_NO_THROW(world->joint.evaluate(theta, state.z, with_gradient, out));
          EXPECT_FALSE(std::isfinite(out.log_density))
              << world->model.family().name() << " " << world->bound.rule().name() << " " << bad;
          EXPECT_NO_THROW(world->full.evaluate(theta, state.z, with_gradient, out));
          if (!std::isfinite(bad)) {
            EXPECT_FALSE(std::isfinite(out.log_density)) << world->model.family().name() << " " << bad;
          }
        }
}

// A logistic family with an invalid bound: nine tenths of the needed curvature.
struct Overrated : Logistic {
  std::string name() const { return "overrated"; }
  void global_curvature(double y, Predictor eta, std::span<double> out) const {
    Logistic::global_curvature(y, eta, out);
    out[0] *= 0.9;
  }
};

TEST(JointDensity, ABoundThatIsNoneIsFatalAndNamesTheRow) {
  const World world(Overrated{}, some_prior, 60, 2, 20);
  State state = world.state(world.theta(1.0), 0);
  BoundRows fixed;
  Gaps gaps;
  std::vector<RowId> sound;
  for (RowId row = 0; row < 60; ++row) {
    const std::string message =
        message_of<BoundViolation>([&] { world.joint.evaluate_rows(state, std::vector<RowId>{row}, fixed, gaps); });
    if (message == "no error")
      sound.push_back(row);
    else
      EXPECT_EQ(message.find("row " + std::to_string(row) + ": the anchored bound lies above the overrated"), 0u)
          << message;
  }
  ASSERT_GT(sound.size(), 3u);
  ASSERT_LT(sound.size(), 57u);

  // A move is caught, too: rows that are bright where their bounds hold cause an error on the way out.
  world.joint.evaluate_rows(state, sound, fixed, gaps);
  for (std::size_t i = 0; i < sound.size(); ++i) world.joint.brighten(state, fixed, gaps, i);
  int fatal = 0;
  for (double spread = 0.5; spread < 20.0; spread += 0.5) {
    const Vector theta = world.theta(spread);
    if (message_of<BoundViolation>([&] { world.joint.evaluate(theta, state.z, true, state.proposed); }) != "no error")
      ++fatal;
  }
  EXPECT_GT(fatal, 0);
}

TEST(FullDensity, IsThePriorAndAllRows) {
  for (const Model& model : problems::models()) {
    const problems::Problem problem = problems::make(model, 20000, 2, 22);
    ASSERT_GT(problem.store.blocks(), 1u);
    const FullDensity density(problem.store, model);
    EXPECT_EQ(density.dimension(), problem.theta.size());
    const BrightRows none(0);
    Evaluation out, plain, there;
    EXPECT_EQ(density.evaluate(problem.theta, none, true, out), 20000);
    EXPECT_EQ(density.evaluate(problem.theta, none, false, plain), 20000);
    EXPECT_EQ(plain.log_density, out.log_density);
    EXPECT_EQ(plain.gradient.size(), 0);

    Long sum = model.prior().log_density(problem.theta);
    const Matrix weights = model.arrangement().columns(problem.theta);
    for (RowId row = 0; row < 20000; ++row) {
      Vector x(2);
      for (Index j = 0; j < 2; ++j) x[j] = problem.store.value(row, j);
      const Vector eta = weights.transpose() * x;
      const double y = problem.store.target(row);
      double value;
      model.family().likelihood({&y, 1}, {eta.data(), static_cast<std::size_t>(eta.size())}, {&value, 1}, {}, {});
      sum += value;
    }
    EXPECT_NEAR(out.log_density, static_cast<double>(sum), 1e-12 * std::abs(out.log_density));
    for (Index j = 0; j < problem.theta.size(); ++j) {
      const double h = 1e-4;
      const auto value = [&](double step) {
        density.evaluate(problem.theta + step * Vector::Unit(problem.theta.size(), j), none, false, there);
        return there.log_density;
      };
      const double slope = (8.0 * (value(h) - value(-h)) - (value(2 * h) - value(-2 * h))) / (12.0 * h);
      EXPECT_NEAR(out.gradient[j], slope, 1e-5 * (1.0 + std::abs(slope))) << model.family().name() << " " << j;
    }
  }
}

// Bright and dark rows together give the posterior: summed over all z, the joint is the full density.
TEST(JointDensity, SumsOverZToTheFullDensity) {
  const World world(Logistic{}, some_prior, 8, 2, 23);
  for (const double spread : {0.5, 3.0}) {
    const Vector theta = world.theta(spread);
    Long total = 0;
    Evaluation full;
    world.full.evaluate(theta, BrightRows(0), false, full);
    for (unsigned z = 0; z < 256; ++z) {
      State state = world.state(theta, 1);
      for (RowId row = 0; row < 8; ++row)
        if (!(z >> row & 1u)) world.joint.darken(state, row);
      world.joint.update(state);
      total += expl(state.at.log_density - full.log_density);
    }
    EXPECT_NEAR(static_cast<double>(total), 1.0, 1e-12);
  }
}

// So far out that the bound's decrease and the gaps cancel beyond double precision.
TEST(JointDensity, SaysWhereRoundingWouldDecide) {
  const Model model(Logistic{}, Prior::normal(0.0, 2.0));
  const auto problem = problems::make(model, 1000, 2, 6);
  const problems::Machine machine;
  const Bound bound(problem.store, model.shared_family(), std::make_shared<AnchoredRule>(), Vector::Zero(2),
                    machine.execution());
  const JointDensity joint(problem.store, bound, model.shared_term());
  const BrightRows dark(problem.store.rows());
  Evaluation at;
  joint.evaluate(Vector::Constant(2, 1e3), dark, false, at);
  EXPECT_TRUE(std::isfinite(at.log_density));
  joint.evaluate(Vector::Constant(2, 1e6), dark, false, at);
  EXPECT_FALSE(std::isfinite(at.log_density));
}

// The rows' terms at the anchor cancel in every ratio. They only count against a density once their own rounding would
// be visible.
TEST(JointDensity, ManyRowsAreNoReasonThatRoundingWouldDecide) {
  const Model model(Logistic{}, Prior::normal(0.0, 2.0));
  const problems::Machine machine;
  for (const auto& [weight, computed] : {std::pair{1e6, true}, {1e11, true}, {1e13, false}}) {
    const std::vector<double> x = {1.0};
    StoreBuilder builder({"x"}, NumberType::float64, {.weight = true, .offset = false});
    for (const double y : {0.0, 1.0}) builder.append(x, {y, weight, 0.0});
    const Store store = builder.finish();
    const Bound bound(store, model.shared_family(), std::make_shared<AnchoredRule>(), Vector::Zero(1),
                      machine.execution());
    const JointDensity joint(store, bound, model.shared_term());
    Evaluation at;
    joint.evaluate(Vector::Constant(1, 1.0 / std::sqrt(weight)), BrightRows(2), false, at);
    EXPECT_EQ(std::isfinite(at.log_density), computed) << weight;
  }
}

// Whether a density can be computed must not depend on z; otherwise a sweep could reach a state that no move leaves.
TEST(JointDensity, NoSweepLeadsToWhereRoundingWouldDecide) {
  const World world(Logistic{}, Prior::normal(0.0, 1e9), 6, 1, 24);
  int finite = 0;
  for (double far = 1e3; far < 1e6; far *= 1.05) {
    const Vector theta = world.anchor.theta + Vector::Constant(1, far);
    const bool dark = std::isfinite(world.state(theta, 0).at.log_density);
    EXPECT_EQ(std::isfinite(world.state(theta, 1).at.log_density), dark) << far;
    finite += dark ? 1 : 0;
  }
  EXPECT_GT(finite, 10);  // the limit is among these
  EXPECT_LT(finite, 140);
}

// All classes may move together as far as the prior allows. Sums of dark rows and gaps equal the full density there.
TEST(JointDensity, ClassesThatMoveTogetherLeaveNothingThatCancels) {
  for (const double wide : {1e2, 1e5, 1e6})
    for (const bool framed : {false, true}) {
      if (framed && wide > 1e5) continue;  // the data hide so wide a prior, and the frame says so
      const World world(Softmax{3}, Prior::normal(0.0, wide), 3000, 2, 25, std::make_shared<SharpRule>(Zone{3.0, 6.0}));
      const JointDensity density(
          world.store, world.bound, world.model.shared_term(),
          framed ? std::make_shared<const SplitFrame>(*collapsed_frame(world.bound, world.model.prior())) : nullptr);
      const Vector theta = world.theta(0.01).array() + wide;
      Evaluation full;
      State state(theta, world.store.rows());
      density.evaluate(theta, state.z, true, state.at);
      world.full.evaluate(theta, BrightRows(0), false, full);
      std::vector<RowId> rows(static_cast<std::size_t>(world.store.rows()));
      std::iota(rows.begin(), rows.end(), 0);
      BoundRows fixed;
      Gaps gaps;
      density.evaluate_rows(state, rows, fixed, gaps);
      Long sum = state.at.log_density;
      for (const double gap : gaps.gap) sum += gap;
      EXPECT_NEAR(static_cast<double>(sum), full.log_density, 1e-6) << wide << " framed " << framed;
    }
}

}  // namespace
}  // namespace flymc
