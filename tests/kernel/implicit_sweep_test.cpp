// Implicit sweeps: proposals with probability q, acceptance by the corrected rule, and the tuned q.
#include "flymc/kernel/implicit_sweep.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "flymc/core/error.hpp"
#include "flymc/core/numerics.hpp"
#include "kernel/support.hpp"

namespace flymc {
namespace {

using problems::AuditingRandom;
using problems::expect_settled;
using problems::message_of;
using problems::some_prior;
using problems::World;

TEST(ImplicitSweep, RefusesAQThatIsNone) {
  const World world(Logistic{}, some_prior, 30, 2, 51);
  for (const double q : {0.0, -0.1, 1.0001, HUGE_VAL})
    EXPECT_NE(message_of<InputError>([&] { ImplicitSweep(world.joint, q); }).find("an implicit sweep needs 0 < q <= 1"),
              std::string::npos);
  EXPECT_THROW(ImplicitSweep(world.joint, std::nan("")), InputError);
  EXPECT_EQ(ImplicitSweep(world.joint, 1.0).q(), 1.0);
  EXPECT_NO_THROW(ImplicitSweep(world.joint, 1e-300));
}

TEST(ImplicitSweep, ProposesEveryDarkRowAtQOne) {
  const World world(Logistic{}, some_prior, 60, 2, 52);
  const ImplicitSweep sweep(world.joint, 1.0);
  for (const RowId nth : {0, 1, 4}) {  // none, all, some bright
    State state = world.state(world.theta(3.0), nth);
    const RowId dark = state.z.set.dark_count();
    world.count();
    const AuditingRandom random(PhiloxRandom(1, 0, 0));
    EXPECT_EQ(sweep.step(state, random).queries, dark);
    EXPECT_EQ(world.count(), dark);
    EXPECT_EQ(static_cast<RowId>(random.indices(Purpose::brighten).size()), dark);
    EXPECT_EQ(static_cast<RowId>(random.indices(Purpose::darken).size()), 60 - dark);
    expect_settled(world, state);
  }
}

// With a q so small that no row is proposed, a sweep takes no query; bright rows may still become dark.
TEST(ImplicitSweep, ProposesNothingAtATinyQ) {
  const World world(Logistic{}, some_prior, 60, 2, 53);
  State state = world.state(world.theta(3.0), 1);
  world.count();
  const ImplicitSweep sweep(world.joint, 1e-300);
  EXPECT_EQ(sweep.step(state, PhiloxRandom(2, 0, 0)).queries, 0);
  EXPECT_EQ(world.count(), 0);
  EXPECT_EQ(state.z.set.bright_count(), 60);  // becoming dark is as rare: q / expm1(gap)
}

// Dark rows are proposed independently with probability q: tests the mean and the variance of their number, and each
// row's share. 62 comparisons at 5 standard deviations (of a normal approximation): false alarm 4e-5.
TEST(ImplicitSweep, ProposesEachDarkRowWithProbabilityQ) {
  const World world(Logistic{}, some_prior, 60, 2, 54);
  const State dark = world.state(world.theta(0.01), 0);  // gaps so small that rows hardly ever become bright
  const double q = 0.15;
  const ImplicitSweep sweep(world.joint, q);
  const int steps = 4000;
  std::vector<int> share(60);
  double sum = 0.0, square = 0.0;
  for (std::uint64_t i = 0; i < steps; ++i) {
    State state = dark;
    const AuditingRandom random(PhiloxRandom(3, 0, i));
    world.count();
    const Info info = sweep.step(state, random);
    const auto proposed = random.indices(Purpose::brighten);
    EXPECT_EQ(info.queries, static_cast<RowId>(proposed.size()));
    EXPECT_EQ(world.count(), info.queries);
    for (const std::uint64_t row : proposed) ++share[row];
    const double excess = static_cast<double>(proposed.size()) - 60 * q;
    sum += excess;
    square += excess * excess;
  }
  const double variance = 60 * q * (1 - q);
  EXPECT_LT(std::abs(sum), 5.0 * std::sqrt(steps * variance));
  EXPECT_LT(std::abs(square - steps * variance), 5.0 * std::sqrt(steps * 2.0) * variance);
  for (const int count : share) EXPECT_LT(std::abs(count - steps * q), 5.0 * std::sqrt(steps * q * (1 - q)));
}

// Both acceptance rules, decision by decision: a bright row becomes dark iff u < q / expm1(gap), a proposed dark row
// becomes bright iff u < expm1(gap) / q.
TEST(ImplicitSweep, DecidesByTheCorrectedRule) {
  const World world(Logistic{}, some_prior, 80, 2, 55);
  int darkened = 0, brightened = 0;
  for (const double q : {0.02, 0.3, 1.0})
    for (std::uint64_t iteration = 0; iteration < 20; ++iteration) {
      const State before = world.state(world.theta(5.0), 2), known = world.state(world.theta(5.0), 1);
      State after = before;
      const PhiloxRandom random(4, 0, iteration);
      const AuditingRandom audit(random);
      ImplicitSweep(world.joint, q).step(after, audit);
      const auto proposed = audit.indices(Purpose::brighten);
      for (RowId row = 0; row < 80; ++row) {
        const auto index = static_cast<std::uint64_t>(row);
        const double odds =
            std::expm1(known.at.bright.gap[static_cast<std::size_t>(known.z.set.position(row))]);  // L/B - 1
        bool expected = before.z.set.is_bright(row);
        if (expected)
          expected = !(random.uniform(Purpose::darken, index) < q / odds);
        else if (proposed.count(index))
          expected = random.uniform(Purpose::brighten, index) < odds / q;
        EXPECT_EQ(after.z.set.is_bright(row), expected);
        darkened += before.z.set.is_bright(row) && !expected;
        brightened += !before.z.set.is_bright(row) && expected;
      }
      expect_settled(world, after);
    }
  EXPECT_GT(darkened, 20);
  EXPECT_GT(brightened, 20);
}

// A sweep depends on the set of bright rows, not on the order in which they became bright.
TEST(ImplicitSweep, DoesNotDependOnTheOrderOfBrightRows) {
  const World world(Logistic{}, some_prior, 60, 2, 56);
  State one = world.state(world.theta(4.0), 3), other = world.state(world.theta(4.0), 1);
  for (RowId row = 59; row >= 0; --row)
    if (row % 3 != 0) world.joint.darken(other, row);
  world.joint.update(other);
  ASSERT_NE(one.z.fixed.row, other.z.fixed.row);
  const ImplicitSweep sweep(world.joint, 0.3);
  sweep.step(one, PhiloxRandom(5, 0, 0));
  sweep.step(other, PhiloxRandom(5, 0, 0));
  for (RowId row = 0; row < 60; ++row) EXPECT_EQ(one.z.set.is_bright(row), other.z.set.is_bright(row));
}

TEST(ImplicitSweepTuner, ProposesAsManyRowsAsAreBright) {
  const World world(Logistic{}, some_prior, 200, 3, 57, std::make_shared<FixedJaakkolaJordanRule>());
  State state = world.state(world.theta(1.0), 1);
  ImplicitSweepTuner tuner(world.joint);
  LateMean bright;
  for (state.iteration = 0; state.iteration < 200; ++state.iteration) {
    bright.add(static_cast<double>(state.z.set.bright_count()));
    const AuditingRandom random(PhiloxRandom(6, 0, state.iteration));
    world.count();
    const Info info = tuner.step(state, random);
    EXPECT_EQ(info.queries, world.count());
    EXPECT_EQ(random.repeats(), 0u);
  }
  const auto frozen = tuner.freeze();
  const auto* sweep = dynamic_cast<const ImplicitSweep*>(frozen.get());
  ASSERT_NE(sweep, nullptr);
  ASSERT_GT(bright.value(), 3.0);  // more than coefficients
  EXPECT_DOUBLE_EQ(sweep->q(), bright.value() / 200.0);
  EXPECT_LT(sweep->q(), 1.0);
}

// With almost no bright rows the tuner still proposes as many rows as there are coefficients. If all rows are bright,
// or there are fewer rows than coefficients, q is 1.
TEST(ImplicitSweepTuner, StaysWithinItsRange) {
  const World world(Logistic{}, some_prior, 50, 2, 58), wide(Logistic{}, some_prior, 3, 5, 58);
  const auto q = [](const Tuner& tuner) { return dynamic_cast<const ImplicitSweep&>(*tuner.freeze()).q(); };
  ImplicitSweepTuner dark(world.joint), bright(world.joint);
  EXPECT_EQ(q(dark), 2.0 / 50.0);
  State state = world.state(world.theta(1e-3), 0);
  dark.step(state, PhiloxRandom(7, 0, 0));
  EXPECT_EQ(q(dark), 2.0 / 50.0);
  state = world.state(world.theta(1.0), 1);
  bright.step(state, PhiloxRandom(7, 0, 0));
  EXPECT_EQ(q(bright), 1.0);
  EXPECT_EQ(q(ImplicitSweepTuner(wide.joint)), 1.0);
}

}  // namespace
}  // namespace flymc
