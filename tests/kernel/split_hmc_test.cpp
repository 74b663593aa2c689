// Split HMC: the frame against the densities that it stands for, the trajectory against its definition, and the tuner.
#include "flymc/kernel/split_hmc.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "flymc/core/error.hpp"
#include "flymc/core/numerics.hpp"
#include "kernel/support.hpp"

namespace flymc {
namespace {

using problems::AuditingRandom;
using problems::collapsed;
using problems::CubicRule;
using problems::expect_same_state;
using problems::expect_settled;
using problems::World;

const Prior some_prior = Prior::normal(0.3, 2.0);

std::shared_ptr<const BoundRule> sharp(double radius) { return std::make_shared<SharpRule>(Zone{1.7, radius}); }

Matrix whole(const Matrix& lower) { return Matrix(lower.selfadjointView<Eigen::Lower>()); }

// Supplies the momentum and the angle of a trajectory, and accepts it whatever its probability.
class GivenRandom final : public Random {
 public:
  GivenRandom(Vector momentum, double angle) : momentum_(std::move(momentum)), angle_(angle) {}
  double uniform(Purpose purpose, std::uint64_t) const override {
    EXPECT_EQ(purpose, Purpose::angle);
    return angle_;
  }
  std::array<double, 4> uniforms(Purpose, std::uint64_t) const override { throw std::logic_error("not asked for"); }
  bool bernoulli(Purpose purpose, std::uint64_t, double) const override {
    EXPECT_EQ(purpose, Purpose::accept);
    return true;
  }
  std::uint64_t choose(Purpose, std::uint64_t, std::uint64_t) const override {
    throw std::logic_error("not asked for");
  }
  std::uint64_t skip(Purpose, std::uint64_t, double, std::uint64_t) const override {
    throw std::logic_error("not asked for");
  }
  void normals(Purpose purpose, std::uint64_t, std::span<double> out) const override {
    EXPECT_EQ(purpose, Purpose::move);
    ASSERT_EQ(static_cast<Index>(out.size()), momentum_.size());
    std::copy(momentum_.begin(), momentum_.end(), out.begin());
  }

 private:
  Vector momentum_;
  double angle_;
};

// Worlds of every shape that a frame knows: no growth, growth with a radius, several predictors, drops, priors that are
// not normal, and lit rows.
std::vector<std::unique_ptr<World>> worlds() {
  std::vector<std::unique_ptr<World>> out;
  out.push_back(std::make_unique<World>(Logistic{}, some_prior, 60, 3, 81));
  out.push_back(std::make_unique<World>(Logistic{}, some_prior, 60, 3, 82, sharp(4.7)));
  out.push_back(std::make_unique<World>(Softmax{3}, some_prior, 60, 2, 83, sharp(5.4)));
  out.push_back(std::make_unique<World>(StudentT(4.0, 0.8), Prior::laplace(0.2, 1.0), 60, 3, 84, sharp(4.7)));
  out.push_back(std::make_unique<World>(StudentT(4.0, 0.8), Prior::student_t(3.0, 0.5, 0.7), 60, 3, 85));
  out.push_back(std::make_unique<World>(Logistic{}, Prior::flat(), 60, 3, 86, std::make_shared<CubicRule>(3.0)));
  out.push_back(
      std::make_unique<World>(Logistic{}, some_prior, 60, 3, 87, std::make_shared<FixedJaakkolaJordanRule>(1.5)));
  out.push_back(std::make_unique<World>(Logistic{}, some_prior, 60, 3, 82, sharp(4.7), Lighting{.above = 0.3}));
  out.push_back(std::make_unique<World>(Softmax{3}, Prior::student_t(5.0, 0.0, 1.0), 60, 2, 83, sharp(5.4),
                                        Lighting{.above = 0.5}));
  return out;
}

std::string describe(const World& world) {
  return world.model.family().name() + ", " + world.bound.rule().name() + ", " + world.model.prior().describe() + ", " +
         std::to_string(world.bound.lit().size()) + " lit";
}

// What is left of the log density once its Gaussian part is taken out: its gradient in b, from that in theta.
Vector exact_rest(const World& world, const SplitFrame& frame, const BrightRows& z, const Vector& b) {
  Evaluation at;
  world.joint.evaluate(frame.theta(b), z, true, at);
  return frame.to_theta.transpose() * at.gradient + b - frame.centre;
}

double rho_of(const World& world, const Vector& theta) {
  const Vector offset = theta - world.bound.anchor();
  return std::sqrt(offset.dot(world.metric->precision() * offset));
}

TEST(SplitFrame, DiagonalisesBothMatrices) {
  for (const auto& world : worlds()) {
    SCOPED_TRACE(describe(*world));
    const SplitFrame frame = *collapsed_frame(world->bound);
    const BoundSums& sums = world->bound.sums();
    const Index d = frame.origin.size();
    Matrix a = whole(sums.curvature);
    a.diagonal() += frame.prior_curvature;
    const Matrix& v = frame.to_theta;
    EXPECT_EQ(frame.origin, world->bound.anchor());
    EXPECT_LT((v.transpose() * a * v - Matrix::Identity(d, d)).norm(), 1e-10);
    EXPECT_LT((frame.from_theta * v - Matrix::Identity(d, d)).norm(), 1e-10);
    EXPECT_LT((frame.centre - v.transpose() * (sums.slope + frame.prior_slope)).norm(), 1e-10);
    EXPECT_EQ(frame.growth.size(), world->bound.rule().grows() ? d : 0);
    if (frame.growth.size() > 0) {
      const Matrix q = v.transpose() * whole(sums.growth) * v;
      EXPECT_GT(q.norm(), 1e-4);
      EXPECT_LT((q - Matrix(frame.growth.asDiagonal())).norm(), 1e-10 * std::max(1.0, q.norm()));
    }
    const Vector theta = world->theta(1.3);
    EXPECT_LT((frame.theta(frame.position(theta)) - theta).norm(), 1e-11);
  }
}

// In the frame's coordinates the log density of a state whose rows are all dark is, up to a constant,
//   -|b - centre|^2 / 2 - rho sum growth b^2 / 2
// within the bound's zone, where a normal prior is part of the first.
TEST(SplitFrame, IsTheDensityOfDarkRows) {
  int inside = 0;
  for (const auto& world : worlds()) {
    if (!world->model.prior().quadratic() || world->bound.lit().size() > 0) continue;
    SCOPED_TRACE(describe(*world));
    const SplitFrame frame = *collapsed_frame(world->bound);
    const auto by_frame = [&](const Vector& b) {
      const BoundPoint point = world->bound.at(frame.theta(b), false);
      double value = -0.5 * (b - frame.centre).squaredNorm();
      if (frame.growth.size() > 0) value -= 0.5 * point.rho * frame.growth.dot(b.cwiseAbs2());
      return value;
    };
    const double constant = world->state(frame.theta(Vector::Zero(frame.origin.size())), 0).at.log_density -
                            by_frame(Vector::Zero(frame.origin.size()));
    for (const double spread : {0.1, 1.0, 2.0, 4.0})
      for (const std::uint64_t number : {0, 1}) {
        const Vector theta = world->theta(spread, number);
        if (world->bound.at(theta, false).outside()) continue;
        ++inside;
        EXPECT_NEAR(world->state(theta, 0).at.log_density, constant + by_frame(frame.position(theta)), 1e-9);
      }
  }
  EXPECT_GT(inside, 20);
}

TEST(SplitFrame, OfTheFullDensityIsLaplace) {
  const World world(Logistic{}, some_prior, 60, 3, 88);
  const SplitFrame frame = laplace_frame(world.anchor);
  EXPECT_LT((frame.to_theta.transpose() * world.metric->precision() * frame.to_theta - Matrix::Identity(3, 3)).norm(),
            1e-10);
  EXPECT_LT((frame.from_theta * frame.to_theta - Matrix::Identity(3, 3)).norm(), 1e-10);
  EXPECT_EQ(frame.centre, Vector::Zero(3));
  EXPECT_EQ(frame.origin, world.anchor.theta);
}

TEST(SplitFrame, IsNothingForABoundThatIsNotGaussian) {
  const World world(Logistic{}, Prior::flat(), 60, 2, 89);
  BoundSums sums = world.bound.sums();
  sums.curvature(1, 1) = -1.0;
  const Bound bent(world.model, std::make_shared<AnchoredRule>(), world.bound.anchor(), sums, 0);
  EXPECT_FALSE(collapsed_frame(bent));
}

// A density that has the frame: the same log density by other coordinates, and as gradient what is to be kicked. The
// frame takes rho's gradient to be that of stretch |b|; without growth nothing depends on it, and beyond the radius it
// is not used: there the gradient is exact.
TEST(SplitFrame, GivesADensityTheSameValuesAndItsKicks) {
  int compared = 0, beyond = 0;
  for (const auto& world : worlds()) {
    SCOPED_TRACE(describe(*world));
    const auto frame = collapsed(*world);
    const JointDensity quick(world->store, world->bound, frame);
    for (const RowId nth : {0, 9, 3})
      for (const double spread : {0.0, 0.5, 1.5, 4.0}) {
        const State state = world->state(world->theta(spread, 5), nth);
        if (!std::isfinite(state.at.log_density)) continue;
        Evaluation at;
        const bool outside = rho_of(*world, state.theta) > world->bound.rule().radius();
        const RowId rows = state.z.set.bright_count() + static_cast<RowId>(world->bound.lit().size());
        EXPECT_EQ(quick.evaluate(state.theta, state.z, true, at), rows + (outside ? 120 : 0));
        EXPECT_NEAR(at.log_density, state.at.log_density, 1e-9 * (1.0 + std::abs(state.at.log_density)));
        EXPECT_LT((at.b - frame->position(state.theta)).norm(), 1e-10);
        EXPECT_EQ(at.point.outside(), outside);
        beyond += outside;
        if (frame->growth.size() == 0 || outside) {
          const Vector exact = frame->pull(state.at.gradient) + at.b - frame->centre;
          EXPECT_LT((at.gradient - exact).norm(), 1e-7 * (1.0 + exact.norm()));
        }
        Vector kick;
        quick.kick(*frame, at.b, state.z, kick);
        if (rows > 0 || !world->model.prior().quadratic()) {
          EXPECT_LT((at.gradient - kick).norm(), 1e-7 * (1.0 + kick.norm()));
        }
        ++compared;
      }
    EXPECT_THROW(SplitHmc(quick, collapsed(*world), 1.0, 1), InputError);  // another frame than its density's
  }
  EXPECT_GT(compared, 80);
  EXPECT_GT(beyond, 8);
}

// Nothing bright, no growth, a normal prior: nothing is left to kick. The move is a rotation about the centre by the
// angle that was drawn, and keeps the density of position and momentum together.
TEST(SplitHmc, IsARotationWhereNothingIsLeft) {
  for (const Prior& prior : {some_prior, Prior::flat()}) {
    const World world(Logistic{}, prior, 60, 3, 90);
    const auto frame = collapsed(world);
    for (const int steps : {1, 2, 7})
      for (const double u : {0.0, 0.37, 1.0}) {
        State state = world.state(world.theta(2.0), 0);
        const Vector b = frame->position(state.theta), p{{0.3, -1.2, 0.8}};
        world.count();
        const Info info = SplitHmc(world.joint, frame, 1.4, steps).step(state, GivenRandom(p, u));
        EXPECT_EQ(world.count(), 0);
        EXPECT_EQ(info.queries, 0);
        EXPECT_NEAR(info.acceptance, 1.0, 1e-9);
        const double angle = 1.4 * (0.8 + 0.4 * u);
        const Vector turned = frame->centre + std::cos(angle) * (b - frame->centre) + std::sin(angle) * p;
        EXPECT_LT((frame->position(state.theta) - turned).norm(), 1e-9);
        expect_settled(world, state);
      }
  }
}

// What is left by a density that has the frame, within the radius: bright rows and lit rows with rho exact, growth and
// the bright rows' dependence on rho by d rho / d b = stretch b / |b|. Beyond the radius it is exact. Where nothing but
// growth is left, kicks on the way take rho to be stretch |b|.
Vector own_rest(const World& world, const SplitFrame& frame, const BrightRows& z, const Vector& b, bool on_the_way) {
  const Index d = b.size();
  const Vector theta = frame.theta(b);
  const Prior& prior = world.model.prior();
  const LitRows& lit = world.bound.lit();
  const bool whole_kick = !on_the_way || z.fixed.size() > 0 || lit.size() > 0 || !prior.quadratic();
  double rho = frame.stretch * b.norm();
  if (whole_kick || rho > world.bound.rule().radius()) rho = rho_of(world, theta);
  if (rho > world.bound.rule().radius()) return exact_rest(world, frame, z, b);
  const BoundPoint point = world.bound.at(theta, false);
  Gaps gaps;
  Vector out = Vector::Zero(d);
  double by_rho = 0.0;
  const auto k = static_cast<std::size_t>(world.model.predictors());
  const auto add = [&](const BoundRows& rows, bool bright) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double outer = bright ? 1.0 / -std::expm1(-gaps.gap[i]) : 1.0;  // d log expm1(g) / d g
      Vector x(world.store.features());
      for (Index j = 0; j < x.size(); ++j) x[j] = world.store.value(rows.row[i], j);
      for (std::size_t j = 0; j < k; ++j)
        out += frame.to_theta.middleRows(static_cast<Index>(j) * x.size(), x.size()).transpose() * x *
               (outer * gaps.slope[i * k + j]);
      if (!gaps.rho_slope.empty()) by_rho += outer * gaps.rho_slope[i];
    }
  };
  world.bound.gaps(z.fixed, point, true, gaps);
  add(z.fixed, true);
  world.bound.lit_gaps(point, true, gaps);
  add(lit.fixed, false);
  if (frame.growth.size() > 0) {
    out -= rho * frame.growth.cwiseProduct(b);
    by_rho -= 0.5 * frame.growth.dot(b.cwiseAbs2());
    out += by_rho * frame.stretch / b.norm() * b;
  }
  if (!prior.quadratic()) {
    Vector slope = Vector::Zero(d), stand_in = Vector::Zero(d), bend = Vector::Zero(d);
    prior.log_density(theta, &slope);
    prior.surrogate(frame.origin, stand_in, bend);
    out += frame.to_theta.transpose() * (slope - stand_in + bend.cwiseProduct(theta - frame.origin));
  }
  return out;
}

// A trajectory as the header defines it, by a density with this frame (`own`) or without one. Kicks are at most 3 long.
struct Trajectory {
  Vector b, p;
  double log_ratio;
  RowId queries;  // but for those of the first gradient
  int shortened;
};
Trajectory reference(const World& world, const SplitFrame& frame, bool own, const State& from, const Vector& p0,
                     double turn, int steps) {
  Trajectory out{frame.position(from.theta), p0, 0.0, 0, 0};
  const auto push = [&](double time, bool on_the_way) {
    const Vector kick =
        time * (own ? own_rest(world, frame, from.z, out.b, on_the_way) : exact_rest(world, frame, from.z, out.b));
    out.p += kick.norm() > 3.0 ? Vector(3.0 / kick.norm() * kick) : kick;
    out.shortened += kick.norm() > 3.0;
  };
  const auto count = [&](bool on_the_way) {
    const auto rows = from.z.set.bright_count() + static_cast<RowId>(world.bound.lit().size());
    const double radius = world.bound.rule().radius();
    // A kick that takes rho to be stretch |b| never knows where it is.
    const bool quick =
        own && on_the_way && rows == 0 && world.model.prior().quadratic() && frame.stretch * out.b.norm() <= radius;
    out.queries += rows + (!quick && rho_of(world, frame.theta(out.b)) > radius ? 2 * world.store.rows() : 0);
  };
  Evaluation at;
  push(turn / 2.0, false);
  for (int i = 0; i < steps; ++i) {
    if (i > 0) count(true), push(turn, true);
    const Vector b = out.b - frame.centre, p = out.p;
    out.b = frame.centre + std::cos(turn) * b + std::sin(turn) * p;
    out.p = std::cos(turn) * p - std::sin(turn) * b;
  }
  count(false);
  push(turn / 2.0, false);
  world.joint.evaluate(frame.theta(out.b), from.z, false, at);
  out.log_ratio = at.log_density - from.at.log_density + 0.5 * p0.squaredNorm() - 0.5 * out.p.squaredNorm();
  return out;
}

// How far a change of the momentum by 1e-12 of itself moves the end, and the log ratio.
double sensitivity(const World& world, const SplitFrame& frame, bool own, const State& from, const Vector& p,
                   double turn, int steps) {
  const Trajectory one = reference(world, frame, own, from, p, turn, steps);
  const Trajectory other = reference(world, frame, own, from, (1.0 + 1e-12) * p, turn, steps);
  return (one.b - other.b).norm() + (one.p - other.p).norm() + std::abs(one.log_ratio - other.log_ratio);
}

// Positions, acceptance probabilities (with the exact densities at both ends) and queries, kick by kick.
void expect_trajectories(bool own) {
  int below_one = 0, outside = 0, inside = 0, sharply = 0, shortened = 0;
  for (const auto& world : worlds()) {
    SCOPED_TRACE(describe(*world));
    const auto frame = collapsed(*world);
    const JointDensity density(world->store, world->bound, own ? frame : nullptr);
    const Index d = frame->origin.size();
    for (const int steps : {1, 2, 5})
      for (const RowId nth : {0, 9, 3})
        for (const double spread : {0.5, 1.5, 4.0}) {
          State state = world->state(world->theta(spread, static_cast<std::uint64_t>(steps)), nth);
          density.evaluate(state.theta, state.z, true, state.at);
          const State before = state;
          Vector p(d);
          PhiloxRandom(91, static_cast<std::uint64_t>(steps), static_cast<std::uint64_t>(nth))
              .normals(Purpose::move, 0, {p.data(), static_cast<std::size_t>(d)});
          const double u = 0.3, angle = 0.9;
          const double turn = angle * (0.8 + 0.4 * u) / steps;
          const Trajectory expected = reference(*world, *frame, own, before, p, turn, steps);
          const double slack = 1e-9 + 100.0 * sensitivity(*world, *frame, own, before, p, turn, steps);
          world->count();
          const Info info = SplitHmc(density, frame, angle, steps).step(state, GivenRandom(p, u));
          EXPECT_EQ(world->count(), info.queries);
          EXPECT_EQ(info.evaluations, steps);
          if (!std::isfinite(expected.log_ratio)) {  // a bright row threw it where nothing can be computed
            EXPECT_EQ(info.acceptance, 0.0);
            continue;
          }
          // A query per bright row, lit row and kick, but for the first, whose gradient is known; beyond the radius two
          // passes more.
          if (slack < 1e-7) {
            EXPECT_EQ(info.queries, expected.queries);
          }
          EXPECT_NEAR(info.acceptance, std::min(1.0, std::exp(expected.log_ratio)), slack);
          EXPECT_LT((frame->position(state.theta) - expected.b).norm(), slack);
          sharply += slack < 1e-7;
          shortened += slack < 1e-7 && expected.shortened > 0;
          below_one += expected.log_ratio < -1e-3 && expected.log_ratio > -5.0;
          ++(before.at.point.outside() ? outside : inside);
          expect_settled(*world, state, &density);
        }
  }
  EXPECT_GT(below_one, 20);
  EXPECT_GT(outside, 5);
  EXPECT_GT(inside, 20);
  EXPECT_GT(sharply, 200);  // of 243; the others were thrown about by a bright row
  EXPECT_GT(shortened, 5);
}
TEST(SplitHmc, IsTheTrajectoryThatItSays) { expect_trajectories(false); }
TEST(SplitHmc, IsTheTrajectoryThatItSaysWhereTheDensityHasTheFrame) { expect_trajectories(true); }

// Back again: from where a trajectory ended, with its momentum turned round, the same kernel leads to where it began,
// with the inverse ratio.
TEST(SplitHmc, LeadsBackWithTheInverseRatio) {
  for (const bool own : {false, true}) {
    int there_and_back = 0, across_the_radius = 0;
    for (const auto& world : worlds()) {
      SCOPED_TRACE(describe(*world));
      const auto frame = collapsed(*world);
      const JointDensity density(world->store, world->bound, own ? frame : nullptr);
      const Index d = frame->origin.size();
      for (const int steps : {1, 3, 6})
        for (std::uint64_t number = 0; number < 12; ++number) {
          const double u = 0.6, angle = 0.8;
          const SplitHmc move(density, frame, angle, steps);
          State start = world->state(world->theta(1.5, number), 7);
          density.evaluate(start.theta, start.z, true, start.at);
          Vector p(d);
          PhiloxRandom(92, number, 0).normals(Purpose::move, 0, {p.data(), static_cast<std::size_t>(d)});
          const double turn = angle * (0.8 + 0.4 * u) / steps;
          const Trajectory out = reference(*world, *frame, own, start, p, turn, steps);
          State there = start;
          move.step(there, GivenRandom(p, u));
          // A bright row can throw a trajectory about so much that rounding decides where it ends. What is left here
          // magnifies an error by at most a thousand each way.
          if (!(sensitivity(*world, *frame, own, start, p, turn, steps) < 1e-9) ||
              !(sensitivity(*world, *frame, own, there, -out.p, turn, steps) < 1e-9))
            continue;
          State back = there;
          const Info info = move.step(back, GivenRandom(-out.p, u));
          EXPECT_LT((frame->position(back.theta) - frame->position(start.theta)).norm(), 1e-8);
          EXPECT_NEAR(info.acceptance, std::min(1.0, std::exp(-out.log_ratio)), 1e-8);
          there_and_back += std::abs(out.log_ratio) > 1e-3;
          across_the_radius += there.at.point.outside() != start.at.point.outside();
        }
    }
    EXPECT_GT(there_and_back, 100);
    EXPECT_GT(across_the_radius, 5);
  }
}

// A bright row close to where its gap is zero: as large a force as one likes, and a kick of length 3 along it, at both
// ends of a trajectory, so that it leads back.
TEST(SplitHmc, AKickIsAtMostThreeLong) {
  const World world(Logistic{}, some_prior, 80, 3, 102, sharp(4.7));
  const auto frame = collapsed(world);
  for (const bool own : {false, true}) {
    const JointDensity density(world.store, world.bound, own ? frame : nullptr);
    for (const RowId row : {0, 17, 44}) {
      // At an offset of 1e-5 of the row's own predictor.
      Vector x(3);
      for (Index j = 0; j < 3; ++j) x[j] = world.store.value(row, j);
      Vector offset = world.at_rho(1.5, static_cast<std::uint64_t>(row)) - world.anchor.theta;
      offset += (1e-5 - x.dot(offset)) / x.squaredNorm() * x;
      State state(world.anchor.theta + offset, 80);
      density.evaluate(state.theta, state.z, true, state.at);
      BoundRows fixed;
      Gaps gaps;
      density.look(state, std::vector<RowId>{row}, fixed, gaps);
      density.brighten(state, fixed, gaps, 0);
      density.settle(state);
      const State start = state;
      const double angle = 0.7;  // with 0.5 for the angle's number
      const Vector b = frame->position(start.theta), force = exact_rest(world, *frame, start.z, b);
      ASSERT_GT(angle / 2.0 * force.norm(), 1e4);
      // Without momentum of its own the position tells the kick.
      SplitHmc(density, frame, angle, 1).step(state, GivenRandom(Vector::Zero(3), 0.5));
      const Vector kick =
          (frame->position(state.theta) - frame->centre - std::cos(angle) * (b - frame->centre)) / std::sin(angle);
      EXPECT_NEAR(kick.norm(), 3.0, 1e-9);
      EXPECT_GT(kick.dot(force), 0.999 * kick.norm() * force.norm());
      for (const int steps : {1, 2}) {
        const Vector p{{0.4, -0.9, 1.1}};
        const Trajectory out = reference(world, *frame, own, start, p, angle / steps, steps);
        EXPECT_GT(out.shortened, 0);
        State there = start;
        const SplitHmc move(density, frame, angle, steps);
        EXPECT_NEAR(move.step(there, GivenRandom(p, 0.5)).acceptance, std::min(1.0, std::exp(out.log_ratio)), 1e-8);
        State back = there;
        EXPECT_NEAR(move.step(back, GivenRandom(-out.p, 0.5)).acceptance, std::min(1.0, std::exp(-out.log_ratio)),
                    1e-4);
        EXPECT_LT((frame->position(back.theta) - b).norm(), 1e-8);
      }
    }
  }
  // The full density has no walls, and its kicks are as long as they are.
  auto wide = std::make_shared<SplitFrame>(laplace_frame(world.anchor));
  wide->to_theta *= 20.0;
  wide->from_theta /= 20.0;
  wide->pack();
  State state(world.theta(3.0), 0);
  world.full.evaluate(state.theta, state.z, true, state.at);
  const Vector b = wide->position(state.theta), force = wide->pull(state.at.gradient) + b;
  ASSERT_GT(0.35 * force.norm(), 3.5);
  SplitHmc(world.full, wide, 0.7, 1).step(state, GivenRandom(Vector::Zero(3), 0.5));
  EXPECT_LT((wide->position(state.theta) - std::cos(0.7) * b - std::sin(0.7) * 0.35 * force).norm(),
            1e-9 * force.norm());
}

TEST(SplitHmc, EvaluatesAGradientThatIsMissing) {
  const World world(Logistic{}, some_prior, 80, 3, 93, sharp(9.0));
  State with = world.state(world.theta(1.0), 4), without = world.state(world.theta(1.0), 4, false);
  const SplitHmc move(world.joint, collapsed(world), 1.0, 3);
  world.count();
  EXPECT_EQ(move.step(with, PhiloxRandom(2, 0, 0)).queries, 60);
  EXPECT_EQ(world.count(), 60);
  EXPECT_EQ(move.step(without, PhiloxRandom(2, 0, 0)).queries, 80);
  EXPECT_EQ(world.count(), 80);
  expect_same_state(with, without);
}

TEST(SplitHmc, DrawsMomentumAngleAndAcceptanceOnceEach) {
  const World world(Logistic{}, some_prior, 80, 3, 94, sharp(4.7));
  const auto frame = collapsed(world);
  State state = world.state(world.theta(1.0), 4);
  for (std::uint64_t i = 0; i < 20; ++i) {
    const AuditingRandom random(PhiloxRandom(3, 0, i));
    SplitHmc(world.joint, frame, 1.5, 4).step(state, random);
    EXPECT_EQ(random.repeats(), 0u);
    EXPECT_EQ(random.purposes(), (std::set<Purpose>{Purpose::move, Purpose::angle, Purpose::accept}));
    for (const Purpose purpose : random.purposes()) EXPECT_EQ(random.indices(purpose), std::set<std::uint64_t>{0});
  }
}

// The angle is uniform on 0.8 to 1.2 times the one that is set.
TEST(SplitHmc, JittersItsAngle) {
  const World world(Logistic{}, some_prior, 60, 1, 95);
  const auto frame = collapsed(world);
  const SplitHmc move(world.joint, frame, 1.0, 1);
  for (const double u : {0.0, 0.5, 1.0}) {
    State state = world.state(frame->theta(frame->centre), 0);
    move.step(state, GivenRandom(Vector::Ones(1), u));
    EXPECT_NEAR(frame->position(state.theta)[0] - frame->centre[0], std::sin(0.8 + 0.4 * u), 1e-9);
  }
}

// Momenta so large that the end is nowhere, or not a number: rejected, counted, and what is reported stays a number.
TEST(SplitHmc, RejectsWhatCannotBeComputed) {
  const auto check = [](const World& world, const Kernel& move, State state) {
    const State before = state;
    for (const double size : {1e160, 1e300, HUGE_VAL, std::nan("")}) {
      SCOPED_TRACE(size);
      world.count();
      const Info info = move.step(state, GivenRandom(Vector::Constant(before.theta.size(), size), 0.5));
      EXPECT_EQ(info.queries, world.count());
      EXPECT_EQ(info.acceptance, 0.0);
      EXPECT_EQ(info.not_finite, 1);
      EXPECT_EQ(info.moved, 0.0);
      expect_same_state(state, before);
    }
  };
  for (const auto& world : worlds()) {
    SCOPED_TRACE(describe(*world));
    for (const int steps : {1, 3}) {
      check(*world, SplitHmc(world->joint, collapsed(*world), 1.0, steps), world->state(world->theta(1.0), 4));
      State full(world->theta(1.0), 0);
      world->full.evaluate(full.theta, full.z, true, full.at);
      check(*world, SplitHmc(world->full, std::make_shared<SplitFrame>(laplace_frame(world->anchor)), 1.0, steps),
            full);
    }
  }
}

TEST(SplitHmc, RefusesSettingsThatAreNone) {
  const World world(Logistic{}, some_prior, 60, 3, 96), other(Logistic{}, some_prior, 60, 2, 96);
  const auto frame = collapsed(world);
  for (const double angle : {0.0, -1.0, HUGE_VAL, std::nan("")})
    EXPECT_THROW(SplitHmc(world.joint, frame, angle, 1), InputError);
  EXPECT_THROW(SplitHmc(world.joint, frame, 1.0, 0), InputError);
  EXPECT_THROW(SplitHmc(other.joint, frame, 1.0, 1), InputError);
  EXPECT_THROW(SplitHmc(other.full, frame, 1.0, 1), InputError);
}

// A tuner that recalls another's memory goes on as that one: same steps, same kernel in the end.
TEST(SplitHmcTuner, GoesOnFromItsMemory) {
  const World world(Logistic{}, some_prior, 80, 3, 97, sharp(4.7));
  const auto frame = collapsed(world);
  const ImplicitSweep sweep(world.joint, 0.3);
  SplitHmcTuner one(world.joint, frame);
  State state = world.state(world.theta(1.0), 4);
  const auto go_on = [&](Tuner& tuner, State& at, std::uint64_t until) {
    for (; at.iteration < until; ++at.iteration) {
      sweep.step(at, PhiloxRandom(4, 0, at.iteration, 0));
      tuner.step(at, PhiloxRandom(4, 0, at.iteration, 1));
    }
  };
  for (const std::uint64_t until : {1u, 20u, 137u}) {  // before, at and after the first round of all arms
    go_on(one, state, until);
    SplitHmcTuner two(world.joint, frame);
    const std::vector<double> memory = one.memory();
    two.recall(memory);
    EXPECT_EQ(two.memory(), memory);
    State copy = state;
    go_on(one, state, until + 60);
    go_on(two, copy, until + 60);
    expect_same_state(state, copy);
    EXPECT_EQ(one.memory(), two.memory());
    State a = state, b = state;
    one.freeze()->step(a, PhiloxRandom(5, 0, 0));
    two.freeze()->step(b, PhiloxRandom(5, 0, 0));
    expect_same_state(a, b);
  }
  EXPECT_THROW(one.recall(std::vector<double>(3)), InputError);
}

// With nothing bright a single step is an independent draw, and more of them cost without a gain.
TEST(SplitHmcTuner, TakesFewStepsWhereNothingIsBright) {
  const World world(Logistic{}, some_prior, 60, 4, 98);
  SplitHmcTuner tuner(world.joint, collapsed(world));
  State state = world.state(world.theta(1.0), 0);
  for (; state.iteration < 400; ++state.iteration) tuner.step(state, PhiloxRandom(6, 0, state.iteration));
  EXPECT_EQ(tuner.freeze()->step(state, PhiloxRandom(6, 0, 400)).evaluations, 1);
}

// A frame that fits badly, a density that is far narrower than it in one direction: then a single long kick is
// rejected, and warm-up must find a number of steps that is not.
TEST(SplitHmcTuner, TakesMoreStepsWhereTheyAreNeeded) {
  const World world(Logistic{}, some_prior, 400, 3, 99);
  auto frame = std::make_shared<SplitFrame>(laplace_frame(world.anchor));
  frame->to_theta *= 3.0;  // standard deviations three times too long
  frame->from_theta /= 3.0;
  frame->pack();
  SplitHmcTuner tuner(world.full, frame);
  State state(world.anchor.theta, 0);
  world.full.evaluate(state.theta, state.z, true, state.at);
  for (; state.iteration < 600; ++state.iteration) tuner.step(state, PhiloxRandom(7, 0, state.iteration));
  const auto frozen = tuner.freeze();
  double acceptance = 0.0;
  for (std::uint64_t i = 0; i < 300; ++i) {
    const Info info = frozen->step(state, PhiloxRandom(7, 1, i));
    EXPECT_GE(info.evaluations, 3);
    acceptance += info.acceptance / 300.0;
  }
  EXPECT_GT(acceptance, 0.4);
}

// Turns 1.15 quarters, 1.25 where the posterior is skewed: rows are lit, or nothing is known of it.
TEST(SplitHmcTuner, TurnsFurtherWhereThePosteriorIsSkewed) {
  const auto frozen = [](const World& world, double turn) {
    const auto frame = collapsed(world);
    SplitHmcTuner tuner(world.joint, frame);
    State state = world.state(world.theta(1.0), 0);
    for (; state.iteration < 100; ++state.iteration) tuner.step(state, PhiloxRandom(9, 0, state.iteration));
    const State before = state;
    const Vector p = 0.1 * Vector::Ones(state.theta.size());
    const auto steps = static_cast<int>(tuner.freeze()->step(state, GivenRandom(p, 0.5)).evaluations);
    const double angle = turn * 0.5 * std::numbers::pi;
    const Trajectory out = reference(world, *frame, false, before, p, angle / steps, steps);
    EXPECT_LT((frame->position(state.theta) - out.b).norm(), 1e-8);
  };
  frozen(World(Logistic{}, some_prior, 200, 3, 103, sharp(5.7)), 1.15);
  const World lit(Logistic{}, some_prior, 200, 3, 103, sharp(5.7), Lighting{.above = 0.15});
  ASSERT_GT(lit.bound.lit().size(), 0u);
  frozen(lit, 1.25);

  const World world(Logistic{}, some_prior, 200, 3, 103);
  const auto frame = std::make_shared<const SplitFrame>(laplace_frame(world.anchor));
  SplitHmcTuner tuner(world.full, frame);
  State state(world.anchor.theta, 0);
  world.full.evaluate(state.theta, state.z, true, state.at);
  State by_tuner = state;
  const Vector p{{0.1, 0.1, 0.1}};
  const auto steps = static_cast<int>(tuner.freeze()->step(by_tuner, GivenRandom(p, 0.5)).evaluations);
  SplitHmc(world.full, frame, 1.25 * 0.5 * std::numbers::pi, steps).step(state, GivenRandom(p, 0.5));
  EXPECT_EQ(by_tuner.theta, state.theta);
}

// Where no trajectory was ever accepted there is nothing to compare, and the most careful number of steps is taken.
TEST(SplitHmcTuner, TakesTheMostStepsWhereNothingWasAccepted) {
  const World world(Logistic{}, some_prior, 60, 2, 101);
  SplitHmcTuner tuner(world.joint, collapsed(world));
  State state = world.state(world.theta(1.0), 0);
  const GivenRandom nowhere(Vector::Constant(2, HUGE_VAL), 0.5);
  for (int i = 0; i < 18; ++i) tuner.step(state, nowhere);
  EXPECT_EQ(tuner.freeze()->step(state, nowhere).evaluations, 8);  // the last number was not tried yet
  tuner.step(state, nowhere);
  EXPECT_EQ(tuner.freeze()->step(state, nowhere).evaluations, 32);
}

// One trajectory of a warm-up that ends nowhere must not spoil what was learnt of its number of steps.
TEST(SplitHmcTuner, SurvivesATrajectoryThatEndsNowhere) {
  const World world(Logistic{}, some_prior, 60, 2, 100);
  SplitHmcTuner tuner(world.joint, collapsed(world));
  State state = world.state(world.theta(1.0), 0);
  for (int i = 0; i < 20; ++i) tuner.step(state, GivenRandom(Vector::Constant(2, HUGE_VAL), 0.5));
  for (; state.iteration < 400; ++state.iteration) tuner.step(state, PhiloxRandom(8, 0, state.iteration));
  for (const double number : tuner.memory()) EXPECT_TRUE(std::isfinite(number));
  EXPECT_EQ(tuner.freeze()->step(state, PhiloxRandom(8, 0, 400)).evaluations, 1);
}

}  // namespace
}  // namespace flymc
