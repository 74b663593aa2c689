// References for split HMC: worlds of every kind that a frame supports, and trajectories by their definition.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kernel/support.hpp"

namespace flymc::problems {

// Supplies the momentum and the angle of a trajectory, and accepts it for any probability.
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

inline std::shared_ptr<const BoundRule> sharp(double radius) { return std::make_shared<SharpRule>(Zone{1.7, radius}); }

// The prior of most worlds.
inline const Prior shifted_prior = Prior::normal(0.3, 2.0);

// Worlds of every kind that a frame supports: no growth, growth with a radius, several predictors, drops, priors that
// are not normal, and lit rows.
inline std::vector<std::unique_ptr<World>> worlds() {
  std::vector<std::unique_ptr<World>> out;
  out.push_back(std::make_unique<World>(Logistic{}, shifted_prior, 60, 3, 81));
  out.push_back(std::make_unique<World>(Logistic{}, shifted_prior, 60, 3, 82, sharp(4.7)));
  out.push_back(std::make_unique<World>(Softmax{3}, shifted_prior, 60, 2, 83, sharp(5.4)));
  out.push_back(std::make_unique<World>(StudentT(4.0, 0.8), Prior::laplace(0.2, 1.0), 60, 3, 84, sharp(4.7)));
  out.push_back(std::make_unique<World>(StudentT(4.0, 0.8), Prior::student_t(3.0, 0.5, 0.7), 60, 3, 85));
  out.push_back(std::make_unique<World>(Logistic{}, Prior::flat(), 60, 3, 86, std::make_shared<CubicRule>(3.0)));
  out.push_back(
      std::make_unique<World>(Logistic{}, shifted_prior, 60, 3, 87, std::make_shared<FixedJaakkolaJordanRule>(1.5)));
  out.push_back(std::make_unique<World>(Logistic{}, shifted_prior, 60, 3, 82, sharp(4.7), Lighting{.above = 0.3}));
  out.push_back(std::make_unique<World>(Softmax{3}, Prior::student_t(5.0, 0.0, 1.0), 60, 2, 83, sharp(5.4),
                                        Lighting{.above = 0.5}));
  return out;
}

inline std::string describe(const World& world) {
  return world.model.family().name() + ", " + world.bound.rule().name() + ", " + world.model.prior().describe() + ", " +
         std::to_string(world.bound.lit().size()) + " lit";
}

// The gradient in b of the log density without its Gaussian part, computed from the gradient in theta.
inline Vector exact_rest(const World& world, const SplitFrame& frame, const BrightRows& z, const Vector& b) {
  Evaluation at;
  world.joint.evaluate(frame.theta(b), z, true, at);
  return frame.to_theta.transpose() * at.gradient + b - frame.centre;
}

inline double rho_of(const World& world, const Vector& theta) {
  const Vector offset = theta - world.bound.anchor();
  return std::sqrt(offset.dot(world.metric->matrix() * offset));
}

// The force computed by a density with the frame, inside the radius: bright rows and lit rows at the exact rho, growth
// and the bright rows' dependence on rho with d rho / d b = stretch b / |b|. Beyond the radius it is exact. If only
// growth is left, kicks along a trajectory approximate rho by stretch |b|.
inline Vector own_rest(const World& world, const SplitFrame& frame, const BrightRows& z, const Vector& b,
                       bool on_the_way) {
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
  gaps = lit_gaps(world.bound, point);
  add(lit.fixed, false);
  if (frame.growth.size() > 0) {
    out -= rho * frame.growth.cwiseProduct(b);
    by_rho -= 0.5 * frame.growth.dot(b.cwiseAbs2());
    out += by_rho * frame.stretch / b.norm() * b;
  }
  if (!prior.quadratic()) {
    Vector slope = Vector::Zero(d), stand_in = Vector::Zero(d);
    prior.log_density(theta, &slope);
    prior.surrogate(frame.origin, stand_in);
    SparseSymmetric bend = prior.curvature(Term::Of::surrogate, frame.origin);
    bend -= prior.curvature(Term::Of::corner, frame.origin);
    out += frame.to_theta.transpose() * (slope - stand_in + bend * (theta - frame.origin));
  }
  return out;
}

// A trajectory as the header defines it, by a density with this frame (`own`) or without one. Kicks have a length of at
// most 3.
struct Trajectory {
  Vector b, p;
  double log_ratio;
  RowId queries;  // without those of the first gradient
  int shortened;
};
inline Trajectory reference(const World& world, const SplitFrame& frame, bool own, const State& from, const Vector& p0,
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
    // A kick that approximates rho by stretch |b| does not detect the radius.
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

// The change of the end and of the log ratio due to a relative change of the momentum by 1e-12.
inline double sensitivity(const World& world, const SplitFrame& frame, bool own, const State& from, const Vector& p,
                          double turn, int steps) {
  const Trajectory one = reference(world, frame, own, from, p, turn, steps);
  const Trajectory other = reference(world, frame, own, from, (1.0 + 1e-12) * p, turn, steps);
  return (one.b - other.b).norm() + (one.p - other.p).norm() + std::abs(one.log_ratio - other.log_ratio);
}

}  // namespace flymc::problems
