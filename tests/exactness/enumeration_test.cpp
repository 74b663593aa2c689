// Every z-sweep leaves p(z | theta) invariant: over all 2^N states of a tiny problem and all branches of the kernel.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "exactness/branching_random.hpp"
#include "flymc/kernel/explicit_sweep.hpp"
#include "flymc/kernel/implicit_sweep.hpp"
#include "flymc/kernel/row_sweep.hpp"
#include "problems/problems.hpp"

namespace flymc {
namespace {

constexpr RowId rows = 5;
constexpr std::size_t states = 1u << rows;

// Rows of numbers; with weights, and offsets if the family takes them; or with a code.
enum class Rows { plain, facts, codes };

// A problem of five rows with an anchor away from the mode and a theta away from the anchor, so that all gaps are
// clearly positive.
struct Tiny {
  // The `lights` rows with the largest spread are lit.
  Tiny(const Model& model, std::shared_ptr<const BoundRule> rule, double scale, std::size_t lights, Rows kind)
      : problem(problems::make(model, rows, 2, 11)) {
    if (kind == Rows::facts) problem.store = with_facts(problem.store, !model.family().only_differences());
    if (kind == Rows::codes) problem.store = with_codes(problem.store);
    const Index dimension = model.coefficients(problem.store);
    Vector anchor(dimension);
    for (Index j = 0; j < dimension; ++j) anchor[j] = 0.3 * std::sin(1.0 + static_cast<double>(j));
    theta = anchor;
    for (Index j = 0; j < dimension; ++j) theta[j] += scale * std::cos(2.0 * static_cast<double>(j));
    // With this metric the spread is |x|^2 / 4, or twice that for a difference of two predictors.
    const double unit = model.family().only_differences() ? 0.5 : 0.25;
    std::vector<std::pair<double, RowId>> spread;
    for (RowId i = 0; i < rows; ++i)
      spread.emplace_back(-unit * (std::pow(problem.store.value(i, 0), 2) + std::pow(problem.store.value(i, 1), 2)), i);
    std::sort(spread.begin(), spread.end());
    Lighting lighting;
    if (lights > 0) lighting.above = lights < rows ? -0.5 * (spread[lights - 1].first + spread[lights].first) : 0.0;
    for (std::size_t i = 0; i < lights; ++i) lit |= std::size_t{1} << spread[i].second;
    bound = std::make_unique<Bound>(problem.store, model.shared_family(), std::move(rule), anchor, machine.execution(),
                                    Precision::of(4.0 * Matrix::Identity(dimension, dimension)), lighting);
    density = std::make_unique<JointDensity>(problem.store, *bound, model.shared_term());
  }

  static Store with_facts(const Store& plain, bool offsets) {
    StoreBuilder builder(plain.columns(), plain.number_type(), {.weight = true, .offset = offsets});
    const double weight[] = {0.4, 2.5, 1.0, 6.0, 0.7}, offset[] = {0.8, -0.5, 0.0, 0.3, -1.1};
    for (RowId i = 0; i < rows; ++i)
      builder.append(std::vector{plain.value(i, 0), plain.value(i, 1)}, {plain.target(i), weight[i], offset[i]});
    return builder.finish();
  }

  // The rows' number, and a code of one level.
  static Store with_codes(const Store& plain) {
    StoreBuilder builder(Layout(plain.columns(), plain.number_type(), {0, 1}));
    for (RowId i = 0; i < rows; ++i)
      builder.append(std::vector{plain.value(i, 1), static_cast<double>(i % 2)}, plain.target(i));
    return builder.finish();
  }

  // A lit row is never bright.
  bool possible(std::size_t z) const { return (z & lit) == 0; }

  // The factor by which gaps exceed the expected ones: a power of rho / sqrt(D), at least 1. It is 1 for a bound that
  // does not touch, which has no expected gaps.
  double growth() const {
    if (!bound->rule().touches()) return 1.0;
    const double rho = std::min(bound->rule().radius(), 2.0 * (theta - bound->anchor()).norm());
    return std::max(1.0, std::pow(rho / std::sqrt(static_cast<double>(theta.size())), bound->rule().grows() ? 3 : 2));
  }

  // pi(z) is proportional to the product over bright rows of L/B - 1, from likelihoods and bounds without the library's
  // gaps; beyond the radius at the nearest point of the zone.
  Vector stationary() const {
    const Index k = problem.model.predictors();
    const double far = 2.0 * (theta - bound->anchor()).norm(), rho = std::min(far, bound->rule().radius());
    const Matrix offset = bound->family().arrangement().columns(Vector((theta - bound->anchor()) * (rho / far)));
    std::vector<RowId> ids(rows);
    for (RowId i = 0; i < rows; ++i) ids[static_cast<std::size_t>(i)] = i;
    BoundRows fixed;
    bound->prepare(problem.store, ids, fixed);
    Vector odds(rows);
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto width = static_cast<std::size_t>(k);
      const Vector eta = Eigen::Map<const Vector>(fixed.eta_anchor.data() + i * width, k);
      Vector delta(k);
      problem.store.project({&ids[i], 1}, offset, {delta.data(), width});
      const Vector moved = eta + delta;
      double at_anchor = 0.0, here = 0.0;
      Vector slope(k);
      problem.model.family().likelihood(fixed.facts.spans().row(i), {eta.data(), width}, {&at_anchor, 1},
                                        {slope.data(), width}, {});
      problem.model.family().likelihood(fixed.facts.spans().row(i), {moved.data(), width}, {&here, 1}, {}, {});
      const Coefficients& c = fixed.coefficients;
      Matrix bend = Eigen::Map<const Matrix>(c.curvature.data() + i * width * width, k, k);
      if (!c.growth.empty()) bend += rho * Eigen::Map<const Matrix>(c.growth.data() + i * width * width, k, k);
      if (!c.value_drop.empty()) at_anchor -= c.value_drop[i], slope[0] -= c.slope_drop[i];
      const double log_bound = at_anchor + slope.dot(delta) - 0.5 * delta.dot(bend * delta);
      odds[static_cast<Index>(i)] = std::expm1(here - log_bound);
    }
    Vector pi(states);
    for (std::size_t z = 0; z < states; ++z) {
      pi[static_cast<Index>(z)] = possible(z) ? 1.0 : 0.0;
      for (RowId i = 0; i < rows; ++i)
        if (z >> i & 1u) pi[static_cast<Index>(z)] *= odds[i];
    }
    return pi / pi.sum();
  }

  State at(std::size_t z) const {
    State state(theta, rows);
    density->evaluate(theta, state.z, true, state.at);
    for (RowId i = 0; i < rows; ++i)
      if (z >> i & 1u) {
        BoundRows fixed;
        Gaps gaps;
        density->evaluate_rows(state, {&i, 1}, fixed, gaps);
        density->brighten(state, fixed, gaps, 0);
      }
    density->update(state);
    return state;
  }

  static std::size_t code(const State& state) {
    std::size_t z = 0;
    for (RowId i = 0; i < rows; ++i) z |= static_cast<std::size_t>(state.z.set.is_bright(i)) << i;
    return z;
  }

  Matrix transition(const Kernel& kernel, std::uint64_t iteration = 0) const {
    return transition([&](State& state, const Random& random) {
      state.iteration = iteration;
      kernel.step(state, random);
    });
  }

  // Proposals have tests of their own. So this goes through every set of proposed rows, bright and dark ones alike,
  // weighted by the product of q over its rows and of 1 - q over the others.
  Matrix transition(const RowSweep& sweep, const Proposals& proposals) const {
    Matrix t = Matrix::Zero(states, states);
    for (std::size_t set = 0; set < states; ++set) {
      std::vector<RowId> proposed;
      double weight = 1.0;
      for (RowId i = 0; i < rows; ++i) {
        const bool in_set = set >> i & 1u;
        const double q = proposals.q(i, growth());
        weight *= in_set ? q : 1.0 - q;
        if (in_set) proposed.push_back(i);
      }
      t += weight * transition([&](State& state, const Random& random) { sweep.step(state, random, proposed); });
    }
    return t;
  }

  Matrix transition(const std::function<void(State&, const Random&)>& step) const {
    Matrix t = Matrix::Zero(states, states);
    for (std::size_t z = 0; z < states; ++z) {
      if (!possible(z)) {
        t(static_cast<Index>(z), static_cast<Index>(z)) = 1.0;
        continue;
      }
      const State start = at(z);
      EXPECT_EQ(code(start), z);
      State state = start;
      BranchingRandom::every_branch(
          [&](const Random& random) {
            state = start;
            step(state, random);
          },
          [&](double p) {
            t(static_cast<Index>(z), static_cast<Index>(code(state))) += p;
            EXPECT_TRUE(possible(code(state))) << "a lit row is bright";
            // The state's stored values equal a new evaluation, and belong to the bright rows.
            ASSERT_EQ(static_cast<RowId>(state.z.fixed.size()), state.z.set.bright_count());
            for (std::size_t i = 0; i < state.z.fixed.size(); ++i)
              EXPECT_EQ(state.z.fixed.row[i], state.z.set.bright(static_cast<RowId>(i)));
            Evaluation fresh;
            density->evaluate(theta, state.z, true, fresh);
            EXPECT_EQ(fresh.log_density, state.at.log_density);
            EXPECT_EQ(fresh.gradient, state.at.gradient);
          });
    }
    return t;
  }

  problems::Machine machine;
  problems::Problem problem;
  Vector theta;
  std::unique_ptr<Bound> bound;
  std::unique_ptr<JointDensity> density;
  std::size_t lit = 0;  // the lit rows, as bits like z
};

// Rows sum to one, pi T = pi, and (if requested) every possible state reaches every other.
void expect_invariant(const Vector& pi, const Matrix& t, bool irreducible) {
  EXPECT_LT((t.rowwise().sum() - Vector::Ones(states)).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_LT((pi.transpose() * t - pi.transpose()).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_GE(t.minCoeff(), 0.0);
  if (irreducible) {
    for (Index from = 0; from < pi.size(); ++from)
      for (Index to = 0; to < pi.size(); ++to)
        EXPECT_EQ(t(from, to) > 0.0, pi[from] > 0.0 ? pi[to] > 0.0 : from == to) << from << " to " << to;
  }
}

struct Case {
  std::string name;
  Model model;
  std::shared_ptr<const BoundRule> rule;
  double scale;  // distance of theta from the anchor
  std::size_t lights = 0;
  Rows kind = Rows::plain;
};

class EverySweep : public testing::TestWithParam<Case> {
 protected:
  EverySweep()
      : tiny(GetParam().model, GetParam().rule, GetParam().scale, GetParam().lights, GetParam().kind),
        pi(tiny.stationary()) {}
  Tiny tiny;
  Vector pi;
};

TEST_P(EverySweep, ProblemIsNotTrivial) {
  // The point is inside or outside the bound's zone as the case's name says.
  EXPECT_EQ(tiny.bound->at(tiny.theta, false).outside(), GetParam().name.find("Outside") != std::string::npos);
  EXPECT_EQ(tiny.bound->lit().size(), GetParam().lights);
  EXPECT_NEAR(tiny.bound->gap_growth(tiny.bound->at(tiny.theta, false)), tiny.growth(), 1e-12 * tiny.growth());
  if (GetParam().name.find("Far") != std::string::npos) {
    EXPECT_GT(tiny.growth(), 2.0);
  }
  // Both z of every row that has one must have a considerable probability; otherwise the test of invariance is weak.
  for (RowId i = 0; i < rows; ++i) {
    EXPECT_EQ(tiny.density->has_z(i), !(tiny.lit >> i & 1u));
    if (tiny.lit >> i & 1u) continue;
    double bright = 0.0;
    for (std::size_t z = 0; z < states; ++z)
      if (z >> i & 1u) bright += pi[static_cast<Index>(z)];
    EXPECT_GT(bright, 1e-7);
    EXPECT_LT(bright, 1.0 - 1e-7);
  }
}

TEST_P(EverySweep, Implicit) {
  for (const double q : {0.01, 0.2, 0.7, 1.0})
    expect_invariant(pi, tiny.transition(ImplicitSweep(*tiny.density, q)), false);
  expect_invariant(
      pi, tiny.transition(ImplicitSweep(*tiny.density, 0.2)) * tiny.transition(ImplicitSweep(*tiny.density, 0.2)),
      true);
}

TEST_P(EverySweep, ExplicitWithReplacement) {
  // Five steps with one row each reach every state from every other.
  Matrix five = tiny.transition(ExplicitSweep{*tiny.density, 1, ExplicitSweep::Choice::with_replacement});
  five = five * five * five * five * five;
  expect_invariant(pi, five, true);
  for (const RowId count : {1, 3})
    expect_invariant(pi, tiny.transition(ExplicitSweep{*tiny.density, count, ExplicitSweep::Choice::with_replacement}),
                     false);
}

TEST_P(EverySweep, ExplicitWithoutReplacement) {
  for (const RowId count : {1, 3})
    expect_invariant(
        pi, tiny.transition(ExplicitSweep{*tiny.density, count, ExplicitSweep::Choice::without_replacement}), false);
  // With all rows: a Gibbs draw of z, independent of the previous z.
  const Matrix t = tiny.transition(ExplicitSweep{*tiny.density, rows, ExplicitSweep::Choice::without_replacement});
  for (std::size_t z = 0; z < states; ++z)
    if (tiny.possible(z)) {
      EXPECT_LT((t.row(static_cast<Index>(z)) - pi.transpose()).cwiseAbs().maxCoeff(), 1e-12);
    }
}

TEST_P(EverySweep, ExplicitConsecutive) {
  Matrix round = Matrix::Identity(states, states);
  for (const std::uint64_t iteration : {0u, 1u, 2u}) {
    const Matrix t = tiny.transition(ExplicitSweep{*tiny.density, 2, ExplicitSweep::Choice::consecutive}, iteration);
    expect_invariant(pi, t, false);
    round *= t;
  }
  expect_invariant(pi, round, true);
}

// With q from the bound's own expected gaps and from others: the sweep is exact for every table of fixed numbers.
TEST_P(EverySweep, ByRows) {
  if (!tiny.bound->rule().touches()) {
    EXPECT_THROW(Proposals(tiny.bound->expected_gaps(), 6.0), InputError);
    return;
  }
  const auto expect_exact = [&](const ExpectedGaps& gaps, double s) {
    const auto proposals = std::make_shared<const Proposals>(gaps, s);
    const RowSweep sweep(*tiny.density, proposals);
    const Matrix t = tiny.transition(sweep, *proposals);
    expect_invariant(pi, t, false);
    // Rows change independently, and each may both stay and change unless an acceptance is certain: two sweeps reach
    // every state.
    expect_invariant(pi, t * t, true);
  };
  for (const double s : {0.3, 6.0}) expect_exact(tiny.bound->expected_gaps(), s);
  // Lit rows are never proposed; if all rows are lit, no row is proposed.
  const Proposals proposals(tiny.bound->expected_gaps(), 6.0);
  EXPECT_EQ(proposals.rate() == 0.0, tiny.lit == states - 1);
  for (RowId i = 0; i < rows; ++i) EXPECT_EQ(proposals.q(i, tiny.growth()) == 0.0, (tiny.lit >> i & 1u) != 0);
  for (std::uint64_t i = 0; i < 100; ++i)
    for (const RowId row : proposals.draw(PhiloxRandom(1, 0, i), tiny.growth())) EXPECT_FALSE(tiny.lit >> row & 1u);
  // q from 0.9, its maximum, down to 0.002: above and below the rows' probabilities of being bright.
  expect_exact(ExpectedGaps(std::vector<std::uint8_t>{255, 245, 235, 225, 215}), 1.0);
  expect_exact(ExpectedGaps(std::vector<std::uint8_t>{215, 225, 235, 245, 255}), 1.0);
}

// Compares the whole matrix: rows change independently, a bright one becomes dark with probability min(1, q / odds), a
// dark one becomes bright with q min(1, odds / q), where odds = L/B - 1.
TEST_P(EverySweep, ByRowsAcceptsAsTheFormulaSays) {
  if (!tiny.bound->rule().touches()) return;
  const ExpectedGaps levels(std::vector<std::uint8_t>{250, 243, 236, 229, 222});
  const auto proposals = std::make_shared<const Proposals>(levels, 1.0);
  const Matrix t = tiny.transition(RowSweep(*tiny.density, proposals), *proposals);
  // The matrix is the product over rows of each row's own two by two matrix.
  for (std::size_t from = 0; from < states; ++from)
    for (std::size_t to = 0; to < states; ++to) {
      if (!tiny.possible(from)) continue;
      double p = 1.0;
      for (RowId i = 0; i < rows; ++i) {
        const double odds = pi[Index{1} << i] / pi[0], most = -std::log1p(-proposals->q(i));
        const double q = -std::expm1(-tiny.growth() * most);
        const double change = from >> i & 1u ? std::min(1.0, q / odds) : q * std::min(1.0, odds / q);
        p *= (from >> i & 1u) == (to >> i & 1u) ? 1.0 - change : change;
      }
      EXPECT_NEAR(t(static_cast<Index>(from), static_cast<Index>(to)), p, 1e-12);
    }
}

std::vector<Case> cases() {
  const auto m = problems::models();
  const Model poisson(Poisson{}, Prior::normal(0.0, 1.0));
  const auto anchored = std::make_shared<AnchoredRule>();
  // Theta is at a rho of about 2 scale sqrt(dimension): inside the radius, in the last cases beyond it.
  const auto sharp = std::make_shared<SharpRule>(Zone{2.0, 5.0});
  const auto narrow = std::make_shared<SharpRule>(Zone{0.3, 0.9});
  const auto wide = std::make_shared<SharpRule>(Zone{2.0, 9.0});
  return {{"LogisticNear", m[0], anchored, 0.3},
          {"LogisticFar", m[0], anchored, 4.0},
          {"LogisticUntuned", m[0], std::make_shared<FixedJaakkolaJordanRule>(), 1.0},
          {"LogisticCubic", m[0], std::make_shared<problems::CubicRule>(3.0), 0.8},
          {"Softmax", m[1], anchored, 1.0},
          {"StudentT", m[2], anchored, 1.0},
          {"LogisticSharp", m[0], sharp, 1.0},
          {"SoftmaxSharp", m[1], sharp, 0.7},
          {"StudentTSharp", m[2], sharp, 1.0},
          {"LogisticSharpOutside", m[0], narrow, 1.0},
          {"SoftmaxSharpOutside", m[1], narrow, 1.0},
          {"StudentTSharpOutside", m[2], narrow, 1.0},
          // Far from the anchor q grows with rho.
          {"LogisticSharpFar", m[0], wide, 2.5},
          {"SoftmaxSharpFar", m[1], wide, 1.3},
          {"StudentTSharpFar", m[2], wide, 1.6},
          {"LogisticSharpFarOutside", m[0], std::make_shared<SharpRule>(Zone{2.0, 2.5}), 2.5},
          // Lit rows, which have no z.
          {"LogisticOneLit", m[0], anchored, 0.3, 1},
          {"LogisticSharpOneLit", m[0], sharp, 1.0, 1},
          {"SoftmaxSharpTwoLit", m[1], sharp, 0.7, 2},
          {"StudentTSharpOneLitFar", m[2], wide, 1.6, 1},
          {"LogisticSharpOneLitOutside", m[0], narrow, 1.0, 1},
          {"LogisticSharpAllLit", m[0], sharp, 1.0, 5},
          {"SoftmaxSharpFourLitOutside", m[1], narrow, 1.0, 4},
          // Weights and offsets.
          {"LogisticFacts", m[0], anchored, 1.0, 0, Rows::facts},
          {"LogisticUntunedFacts", m[0], std::make_shared<FixedJaakkolaJordanRule>(), 1.0, 0, Rows::facts},
          {"LogisticSharpFacts", m[0], sharp, 1.0, 0, Rows::facts},
          {"SoftmaxSharpFacts", m[1], sharp, 0.7, 0, Rows::facts},
          {"StudentTSharpFacts", m[2], sharp, 1.0, 0, Rows::facts},
          {"LogisticSharpOneLitFacts", m[0], sharp, 1.0, 1, Rows::facts},
          {"PoissonSharp", poisson, sharp, 1.0},
          {"PoissonSharpOutside", poisson, narrow, 1.0},
          {"PoissonSharpOneLit", poisson, sharp, 1.0, 1},
          {"PoissonSharpFacts", poisson, sharp, 1.0, 0, Rows::facts},
          {"LogisticSharpCodes", m[0], sharp, 1.0, 0, Rows::codes},
          {"SoftmaxSharpCodes", m[1], sharp, 0.7, 0, Rows::codes},
          {"StudentTSharpCodes", m[2], sharp, 1.0, 0, Rows::codes},
          {"LogisticSharpOneLitCodes", m[0], sharp, 1.0, 1, Rows::codes}};
}

INSTANTIATE_TEST_SUITE_P(Exactness, EverySweep, testing::ValuesIn(cases()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace flymc
