// Compares moves between the places of narrow priors with sums over a grid, on a posterior of four modes.
#include "flymc/kernel/crossing.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "flymc/anchor/anchor.hpp"
#include "flymc/chain/chain.hpp"
#include "flymc/core/error.hpp"
#include "flymc/kernel/split_hmc.hpp"
#include "flymc/model/gaussian.hpp"

namespace flymc {
namespace {

constexpr double scale = 0.05, nu = 3.0, of_third = 2.0;

// Two correlated columns under narrow t_3 priors and a third under a normal one, which is correlated with both. The
// targets are chosen so that each of the two may be at 0 or not.
struct FourModes {
  Store store = [] {
    StoreBuilder builder({"x0", "x1", "x2"});
    for (int i = 0; i < 24; ++i) {
      const double a = std::sin(1.7 * i), b = std::cos(2.9 * i + 0.4), c = std::sin(0.6 * i + 1.0);
      const Vector x{{0.35 * a + 0.12 * b, 0.33 * b + 0.12 * a, c + 0.2 * a}};
      builder.append(std::vector<double>{x[0], x[1], x[2]},
                     2.6 * x[0] + 2.4 * x[1] - 0.5 * x[2] + 0.8 * std::sin(11.0 * i));
    }
    return builder.finish();
  }();
  Model model{Gaussian{1.0}, Prior::each({Prior::student_t(nu, 0.0, scale), Prior::student_t(nu, 0.0, scale),
                                          Prior::normal(0.0, of_third)})};
  Threads threads{1};
  Execution execution{threads};
  FullDensity density{store, model};
  Anchor anchor = find_likeliest_anchor(store, model, execution, 1);
  std::shared_ptr<const LongTails> tails = std::make_shared<const LongTails>(model, rows_at(model, anchor));
};

// P(theta_0 near 0), P(theta_1 near 0), P(both), E theta_0, E theta_1, E theta_2.
using Functions = std::array<double, 6>;
Functions functions(double t0, double t1, double t2) {
  const double at0 = std::abs(t0) < 0.3 ? 1.0 : 0.0, at1 = std::abs(t1) < 0.3 ? 1.0 : 0.0;
  return {at0, at1, at0 * at1, t0, t1, t2};
}

// The third coefficient is normal given the others, so a sum over two coefficients suffices.
Functions by_grid(const FourModes& world) {
  Matrix h = Matrix::Zero(3, 3);
  Vector g = Vector::Zero(3);
  for (RowId i = 0; i < world.store.rows(); ++i) {
    RowCopies row;
    FactColumns facts;
    row.copy(world.store, std::vector<RowId>{i}, facts);
    const Vector x{{row.value(0, 0), row.value(0, 1), row.value(0, 2)}};
    h += x * x.transpose();
    g += facts.spans()[0].target * x;
  }
  h(2, 2) += 1.0 / (of_third * of_third);
  std::vector<double> at, width;
  for (double t = -8.0; t < 12.0; t += std::abs(t) < 0.6 ? 0.004 : 0.04) at.push_back(t);
  for (std::size_t i = 0; i < at.size(); ++i)
    width.push_back(0.5 * (at[std::min(i + 1, at.size() - 1)] - at[i > 0 ? i - 1 : 0]));
  Functions sums{};
  double total = 0.0, largest = -HUGE_VAL;
  const auto log_t = [](double x) { return -0.5 * (nu + 1.0) * std::log1p(x * x / (scale * scale * nu)); };
  for (const bool summing : {false, true})
    for (std::size_t i = 0; i < at.size(); ++i)
      for (std::size_t k = 0; k < at.size(); ++k) {
        const double a = at[i], b = at[k], left = g[2] - h(2, 0) * a - h(2, 1) * b;
        const double l = g[0] * a + g[1] * b - 0.5 * (h(0, 0) * a * a + h(1, 1) * b * b) - h(0, 1) * a * b +
                         0.5 * left * left / h(2, 2) + log_t(a) + log_t(b);
        if (!summing) {
          largest = std::max(largest, l);
          continue;
        }
        const double mass = std::exp(l - largest) * width[i] * width[k];
        total += mass;
        const Functions f = functions(a, b, left / h(2, 2));
        for (std::size_t j = 0; j < f.size(); ++j) sums[j] += mass * f[j];
      }
  for (double& sum : sums) sum /= total;
  return sums;
}

// Compares means over steps of these kernels, with errors from batches, with the grid's; each comparison fails with
// probability 7e-6 if the kernels are right.
template <class Step>
void expect_grid(const FourModes& world, int steps, std::size_t first, const Step& step) {
  constexpr int batches = 100;
  State state(Vector(Vector::Zero(3)), 0);
  world.density.evaluate(state.theta, state.z, true, state.at);
  std::vector<Functions> means(batches, Functions{});
  for (int i = 0; i < steps; ++i) {
    step(state);
    ++state.iteration;
    const Functions f = functions(state.theta[0], state.theta[1], state.theta[2]);
    for (std::size_t j = 0; j < f.size(); ++j)
      means[static_cast<std::size_t>(i) * batches / static_cast<std::size_t>(steps)][j] += f[j] * batches / steps;
  }
  const Functions expected = by_grid(world);
  for (std::size_t j = 0; j < first; ++j) {
    double mean = 0.0, square = 0.0;
    for (const Functions& batch : means) mean += batch[j] / batches;
    for (const Functions& batch : means) square += (batch[j] - mean) * (batch[j] - mean) / (batches - 1);
    const double error = std::sqrt(square / batches);
    EXPECT_GT(error, 0.0);
    EXPECT_LT(std::abs(mean - expected[j]), 4.5 * error) << "function " << j << ": " << mean << " for " << expected[j];
  }
}

TEST(Crossing, HasFourPlacesThatMatter) {
  const FourModes world;
  ASSERT_EQ(world.tails->size(), 2u);
  const Functions truth = by_grid(world);
  for (std::size_t j = 0; j < 2; ++j) {
    EXPECT_GT(truth[j], 0.1);
    EXPECT_LT(truth[j], 0.9);
    ASSERT_TRUE(world.tails->share_of_spike(j));
    // Given the likeliest place of the other coefficient.
    EXPECT_NEAR(*world.tails->share_of_spike(j), truth[j], 0.35);
  }
}

TEST(Crossing, WithSplitHmcItHasTheSharesOfEachPlace) {
  const FourModes world;
  const Crossing crossing(world.density, world.tails, 1);
  Anchor wide = world.anchor;
  wide.metric = Precision::of(world.tails->precision()).value();
  const auto frame = std::make_shared<const SplitFrame>(laplace_frame(wide, world.tails->mean()));
  const SplitHmc hmc(world.density, frame, 1.5, 3, world.tails);
  expect_grid(world, 60'000, 6, [&](State& state) {
    crossing.step(state, PhiloxRandom(5, 0, state.iteration, 0));
    hmc.step(state, PhiloxRandom(5, 0, state.iteration, 1));
  });
}

// A trajectory that ends where other coefficients are held would have another reverse, so it is rejected.
TEST(Crossing, TrajectoriesLeaveHeldCoefficientsAsTheyAreAndHoldNoOthers) {
  const FourModes world;
  Anchor wide = world.anchor;
  wide.metric = Precision::of(world.tails->precision()).value();
  const auto frame = std::make_shared<const SplitFrame>(laplace_frame(wide, world.tails->mean()));
  const SplitHmc hmc(world.density, frame, 1.5, 3, world.tails);
  const auto held = [&](const State& state, Index j) {
    return std::abs(state.theta[j]) < std::max(4.0 * scale, 0.3 * world.tails->sd()[j]);
  };
  int moved = 0, some_held = 0;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const PhiloxRandom random(8, 0, i, 0);
    Vector theta(3);
    random.normals(Purpose::start, 0, {theta.data(), 3});
    State state(theta, 0);
    world.density.evaluate(state.theta, state.z, true, state.at);
    const State before = state;
    hmc.step(state, random);
    moved += state.theta != before.theta ? 1 : 0;
    for (const Index j : {0, 1}) {
      EXPECT_EQ(held(state, j), held(before, j)) << i;
      if (!held(before, j)) continue;
      ++some_held;
      EXPECT_EQ(state.theta[j], before.theta[j]) << i;
    }
  }
  EXPECT_GT(moved, 500);
  EXPECT_GT(some_held, 100);
}

// Given the held coefficients, the third is normal. In a frame that is much too wide many trajectories are rejected, so
// the test is sensitive to their energies. The comparison fails with probability 1.4e-5 if they are right.
TEST(Crossing, TrajectoriesLeaveTheOthersInvariantGivenTheHeld) {
  const FourModes world;
  constexpr double of_frame = 0.2;
  Anchor wide = world.anchor;
  wide.metric = Precision::of(of_frame * world.tails->precision()).value();
  const auto frame = std::make_shared<const SplitFrame>(laplace_frame(wide, world.tails->mean()));
  const SplitHmc hmc(world.density, frame, 1.5, 1, world.tails);
  State state(Vector{{0.01, -0.01, -0.4}}, 0);
  world.density.evaluate(state.theta, state.z, true, state.at);
  // The slope of the log density along the third coefficient is linear.
  const auto slope_at = [&](double x) {
    Evaluation at;
    world.density.evaluate(Vector{{0.01, -0.01, x}}, state.z, true, at);
    return at.gradient[2];
  };
  const double precision = slope_at(0.0) - slope_at(1.0), mean = slope_at(0.0) / precision;
  constexpr int batches = 100, steps = 40'000;
  std::vector<double> squares(batches, 0.0);
  double accepted = 0.0;
  for (; state.iteration < steps; ++state.iteration) {
    accepted += hmc.step(state, PhiloxRandom(9, 0, state.iteration, 0)).acceptance / steps;
    ASSERT_EQ(state.theta[0], 0.01);
    ASSERT_EQ(state.theta[1], -0.01);
    const double away = state.theta[2] - mean;
    squares[static_cast<std::size_t>(state.iteration) * batches / steps] += precision * away * away * batches / steps;
  }
  EXPECT_LT(accepted, 0.8);
  double square = 0.0, variance = 0.0;
  for (const double of_batch : squares) square += of_batch / batches;
  for (const double of_batch : squares) variance += (of_batch - square) * (of_batch - square) / (batches - 1);
  EXPECT_LT(std::abs(square - 1.0), 4.5 * std::sqrt(variance / batches)) << square;
}

TEST(Crossing, AloneItMovesAmongThePlacesOfTwoCoefficients) {
  FourModes world;
  // The third coefficient is never moved by itself; a very narrow prior keeps it in place.
  world.model = Model{Gaussian{1.0}, Prior::each({Prior::student_t(nu, 0.0, scale), Prior::student_t(nu, 0.0, scale),
                                                  Prior::normal(0.0, 1e-4)})};
  const FullDensity density(world.store, world.model);
  const auto tails =
      std::make_shared<const LongTails>(world.model, rows_at(world.model, world.anchor), std::vector<Index>{0, 1});
  ASSERT_FALSE(tails->empty());
  State state(Vector(Vector::Zero(3)), 0);
  density.evaluate(state.theta, state.z, true, state.at);
  const Crossing crossing(density, tails, 3);
  int changes = 0;
  for (; state.iteration < 1000; ++state.iteration) {
    const bool before = std::abs(state.theta[0]) < 0.3;
    const Info info = crossing.step(state, PhiloxRandom(6, 0, state.iteration, 0));
    EXPECT_EQ(info.evaluations, 3);
    EXPECT_EQ(info.queries, 3 * world.store.rows());
    changes += before != (std::abs(state.theta[0]) < 0.3) ? 1 : 0;
  }
  EXPECT_GT(changes, 20);
}

TEST(Crossing, RefusesWhatItCannotMove) {
  const FourModes world;
  const auto none = std::make_shared<const LongTails>(world.model);
  EXPECT_THROW(Crossing(world.density, none, 1), InputError);
}

}  // namespace
}  // namespace flymc
