// A chain that stops anywhere and continues from its checkpoint makes the same draws as one that never stopped.
#include "flymc/chain/chain_run.hpp"

#include <gtest/gtest.h>

#include "bright/support.hpp"
#include "flymc/core/error.hpp"
#include "flymc/kernel/explicit_sweep.hpp"
#include "flymc/kernel/implicit_sweep.hpp"
#include "flymc/kernel/mala.hpp"
#include "flymc/kernel/random_walk.hpp"
#include "flymc/kernel/slice.hpp"
#include "flymc/kernel/split_hmc.hpp"

namespace flymc {
namespace {

using problems::message_of;
using problems::World;

using MakeTuners = std::function<Tuners(const World&)>;

ChainPlan plan_of(const World& world, const MakeTuners& make) {
  return {[&world](ChainId id, RowId& queries) {
            return start_joint(world.joint, world.theta(1.0, id.chain), id, queries);
          },
          [&world](const Place& place, RowId& queries) { return restore_joint(world.joint, place, queries); },
          [&world, make] { return make(world); }};
}

// The same for the full posterior, with one move.
ChainPlan full_plan_of(const World& world, const std::function<std::unique_ptr<Tuner>()>& make) {
  return {[&world](ChainId, RowId& queries) { return start_full(world.full, world.theta(1.0), queries); },
          [&world](const Place& place, RowId& queries) { return restore_full(world.full, place, queries); },
          [make] {
            Tuners out;
            out.push_back(make());
            return out;
          }};
}

template <class Move, class... Arguments>
MakeTuners implicit_and(Arguments... arguments) {
  return [=](const World& world) {
    Tuners out;
    out.push_back(std::make_unique<ImplicitSweepTuner>(world.joint));
    out.push_back(std::make_unique<Move>(world.joint, arguments(world)...));
    return out;
  };
}

const auto metric_of = [](const World& world) { return world.metric; };
const auto step_one = [](const World&) { return 1.0; };
const auto widths = [](const World& world) { return Vector(Vector::Constant(world.joint.dimension(), 0.3)); };

// An explicit sweep and two moves, the first without a gradient and the second with one.
Tuners mixture(const World& world) {
  Tuners out;
  out.push_back(
      std::make_unique<Untuned<ExplicitSweep>>(ExplicitSweep(world.joint, 20, ExplicitSweep::Choice::consecutive)));
  out.push_back(std::make_unique<StepTuner<Mala>>(world.joint, world.metric, 1.0));
  out.push_back(std::make_unique<StepTuner<RandomWalk>>(world.joint, world.metric, 1.0));
  return out;
}

void expect_same(const MemorySink& a, const MemorySink& b) {
  ASSERT_EQ(a.draws(0), b.draws(0));
  for (std::size_t n = 0; n < a.draws(0); ++n) {
    for (Index c = 0; c < a.coefficients(); ++c) ASSERT_EQ(a.value(0, n, c), b.value(0, n, c)) << n;
    ASSERT_EQ(a.stats(0)[n].log_density, b.stats(0)[n].log_density);
    ASSERT_EQ(a.stats(0)[n].bright, b.stats(0)[n].bright);
    ASSERT_EQ(a.stats(0)[n].queries, b.stats(0)[n].queries);
    ASSERT_EQ(a.stats(0)[n].acceptance, b.stats(0)[n].acceptance);
  }
}

TEST(ChainRun, GoesOnFromAnyCheckpoint) {
  // Many rows are bright, because a sum over few rows may not reveal its order.
  const World world(Logistic{}, Prior::normal(0.0, 2.0), 4000, 3, 111, std::make_shared<FixedJaakkolaJordanRule>());
  const std::vector<MakeTuners> all = {
      implicit_and<StepTuner<RandomWalk>>(metric_of, step_one), implicit_and<StepTuner<Mala>>(metric_of, step_one),
      implicit_and<SliceCoordinatesTuner>(widths), implicit_and<SliceDirectionTuner>(metric_of, step_one), mixture};
  const ChainOptions options{.warmup = 30, .draws = 25, .thin = 2, .seed = 3};
  for (std::size_t kind = 0; kind < all.size(); ++kind) {
    const ChainPlan plan = plan_of(world, all[kind]);
    MemorySink whole(1, 3);
    ChainRun undisturbed(4, plan, options);
    undisturbed.advance(whole, 0);

    // Stops after every seventh iteration or draw; another object continues each time.
    MemorySink pieces(1, 3);
    RowId restored = 0;
    std::optional<Checkpoint> last;
    for (int stops = 0; !last || last->draws < options.draws; ++stops) {
      ChainRun piece = last ? ChainRun(4, plan, options, *last) : ChainRun(4, plan, options);
      if (last) restored += static_cast<RowId>(last->place.bright.size());
      int steps = 0;
      piece.advance(pieces, 0, [&](const ChainRun&) { return ++steps < 7; });
      last = piece.checkpoint();
      ASSERT_LT(stops, 20);
    }
    SCOPED_TRACE(kind);
    EXPECT_GT(last->place.bright.size(), 30u);
    expect_same(whole, pieces);
    const ChainReport &a = undisturbed.report(), &b = last->report;
    EXPECT_EQ(a.start_queries + restored, b.start_queries);
    EXPECT_EQ(a.warmup_queries, b.warmup_queries);
    EXPECT_EQ(a.sampling_queries, b.sampling_queries);
    EXPECT_EQ(a.iterations, b.iterations);
    EXPECT_EQ(a.acceptance, b.acceptance);
    EXPECT_EQ(a.bright_mean, b.bright_mean);
  }
}

TEST(ChainRun, GoesOnOnTheFullPosterior) {
  const World world(StudentT(4.0, 1.0), Prior::normal(0.0, 2.0), 100, 2, 112);
  const ChainPlan plan =
      full_plan_of(world, [&] { return std::make_unique<StepTuner<Mala>>(world.full, world.metric, 1.0); });
  const ChainOptions options{.warmup = 10, .draws = 10, .thin = 1, .seed = 3};
  MemorySink whole(1, 2), pieces(1, 2);
  ChainRun(0, plan, options).advance(whole, 0);
  ChainRun first(0, plan, options);
  first.advance(pieces, 0, [](const ChainRun& run) { return run.draws() < 4; });
  ChainRun second(0, plan, options, first.checkpoint());
  second.advance(pieces, 0);
  expect_same(whole, pieces);
}

// If all rows are evaluated, warm-up of split HMC ends once it has settled, and does not begin again.
TEST(ChainRun, ThatEndedItsWarmupEarlyIsNotWarmingUpAgain) {
  const World world(Logistic{}, Prior::normal(0.0, 2.0), 300, 2, 112);
  const auto frame = std::make_shared<const SplitFrame>(laplace_frame(world.anchor));
  const ChainPlan plan = full_plan_of(world, [&] { return std::make_unique<SplitHmcTuner>(world.full, frame); });
  const ChainOptions options{.warmup = 1000, .draws = 10, .thin = 1, .seed = 3};
  MemorySink whole(1, 2), pieces(1, 2);
  ChainRun(0, plan, options).advance(whole, 0);
  ChainRun first(0, plan, options);
  first.advance(pieces, 0, [](const ChainRun& run) { return run.draws() < 4; });
  ASSERT_LT(first.report().warmup_iterations, 900);
  ChainRun second(0, plan, options, first.checkpoint());
  EXPECT_FALSE(second.warming_up());
  second.advance(pieces, 0);
  expect_same(whole, pieces);
}

TEST(ChainRun, IsExtendedWithoutASeam) {
  const World world(Logistic{}, Prior::normal(0.0, 2.0), 200, 2, 113);
  const ChainPlan plan = plan_of(world, implicit_and<StepTuner<Mala>>(metric_of, step_one));
  MemorySink whole(1, 2), pieces(1, 2);
  ChainRun(0, plan, {.warmup = 20, .draws = 30, .thin = 1, .seed = 3}).advance(whole, 0);
  ChainRun run(0, plan, {.warmup = 20, .draws = 10, .thin = 1, .seed = 3});
  run.advance(pieces, 0);
  EXPECT_EQ(run.draws(), 10);
  run.extend(30);
  run.advance(pieces, 0);
  expect_same(whole, pieces);
}

TEST(ChainRun, RefusesACheckpointThatIsNotIts) {
  const World world(Logistic{}, Prior::normal(0.0, 2.0), 200, 2, 114);
  const ChainOptions options{.warmup = 20, .draws = 10, .thin = 1, .seed = 3};
  const ChainPlan plan = plan_of(world, implicit_and<StepTuner<Mala>>(metric_of, step_one));
  MemorySink sink(1, 2);
  ChainRun run(0, plan, options);
  run.advance(sink, 0, [](const ChainRun&) { return false; });
  const Checkpoint good = run.checkpoint();
  const auto message = [&](const ChainPlan& with, const Checkpoint& from) {
    return message_of<InputError>([&] { ChainRun(0, with, options, from); });
  };
  EXPECT_EQ(message(plan_of(world, mixture), good), "the checkpoint is of a chain with other kernels");
  EXPECT_EQ(message(plan_of(world, implicit_and<SliceDirectionTuner>(metric_of, step_one)), good),
            "a kernel's memory has 2 numbers, not 3: it is another kernel's");
  Checkpoint bad = good;
  bad.place.bright = {5, 5};
  EXPECT_EQ(message(plan, bad), "row 5 cannot be bright: it is none of 200 rows, or is named twice");
  bad.place.bright = {200};
  EXPECT_EQ(message(plan, bad), "row 200 cannot be bright: it is none of 200 rows, or is named twice");
  bad = good;
  bad.place.theta = Vector::Zero(3);
  EXPECT_EQ(message(plan, bad), "a chain must start at 2 finite numbers");
}

}  // namespace
}  // namespace flymc
