// Many chains: each depends only on its seed and number, and reports its queries exactly.
#include "flymc/chain/run_chains.hpp"

#include <gtest/gtest.h>

#include "bright/support.hpp"
#include "flymc/core/error.hpp"
#include "flymc/kernel/implicit_sweep.hpp"
#include "flymc/kernel/mala.hpp"
#include "flymc/kernel/random_walk.hpp"

namespace flymc {
namespace {

using problems::message_of;
using problems::some_prior;
using problems::World;

ChainPlan joint_plan(const World& world) {
  return {[&world](ChainId id, RowId& queries) {
            return start_joint(world.joint, world.theta(1.0, id.chain), id, queries);
          },
          [&world](const Place& place, RowId& queries) { return restore_joint(world.joint, place, queries); },
          [&world] {
            Tuners out;
            out.push_back(std::make_unique<ImplicitSweepTuner>(world.joint));
            out.push_back(std::make_unique<StepTuner<Mala>>(world.joint, world.metric, 1.0));
            return out;
          }};
}

ChainPlan full_plan(const World& world) {
  return {[&world](ChainId id, RowId& queries) { return start_full(world.full, world.theta(1.0, id.chain), queries); },
          [&world](const Place& place, RowId& queries) { return restore_full(world.full, place, queries); },
          [&world] {
            Tuners out;
            out.push_back(std::make_unique<StepTuner<RandomWalk>>(world.full, world.metric, 1.0));
            return out;
          }};
}

struct Outcome {
  MemorySink sink;
  std::vector<ChainReport> reports;
};
Outcome run(const std::vector<std::uint64_t>& chains, const ChainPlan& plan, const ChainOptions& options, int threads,
            Index coefficients) {
  Outcome out{MemorySink(chains.size(), coefficients), {}};
  out.reports = run_chains(chains, plan, options, {Threads(threads)}, out.sink);
  return out;
}

void expect_same_draws(const Outcome& a, std::size_t i, const Outcome& b, std::size_t j) {
  ASSERT_EQ(a.sink.draws(i), b.sink.draws(j));
  for (std::size_t n = 0; n < a.sink.draws(i); ++n) {
    for (Index c = 0; c < a.sink.coefficients(); ++c) ASSERT_EQ(a.sink.value(i, n, c), b.sink.value(j, n, c));
    const DrawStats &one = a.sink.stats(i)[n], &other = b.sink.stats(j)[n];
    ASSERT_EQ(one.log_density, other.log_density);
    ASSERT_EQ(one.bright, other.bright);
    ASSERT_EQ(one.queries, other.queries);
    ASSERT_EQ(one.acceptance, other.acceptance);
  }
  EXPECT_EQ(a.reports[i].start_queries, b.reports[j].start_queries);
  EXPECT_EQ(a.reports[i].warmup_queries, b.reports[j].warmup_queries);
  EXPECT_EQ(a.reports[i].sampling_queries, b.reports[j].sampling_queries);
  EXPECT_EQ(a.reports[i].acceptance, b.reports[j].acceptance);
  EXPECT_EQ(a.reports[i].bright_mean, b.reports[j].bright_mean);
}

const ChainOptions short_run{.warmup = 60, .draws = 40, .thin = 1, .seed = 5};

TEST(RunChains, SameDrawsOnAnyThreadsAndInAnyCompany) {
  for (const bool full : {false, true}) {
    const World world(Softmax{3}, some_prior, 200, 2, 101);
    const ChainPlan plan = full ? full_plan(world) : joint_plan(world);
    const Outcome together = run({0, 1, 2}, plan, short_run, 1, 6);
    const Outcome threads = run({0, 1, 2}, plan, short_run, 2, 6);
    const Outcome alone = run({1}, plan, short_run, 2, 6);
    const Outcome backwards = run({2, 1, 0}, plan, short_run, 2, 6);
    for (std::size_t i = 0; i < 3; ++i) {
      expect_same_draws(threads, i, together, i);
      expect_same_draws(backwards, 2 - i, together, i);
    }
    expect_same_draws(alone, 0, together, 1);
    // Different chains have different draws.
    EXPECT_NE(together.sink.value(0, 0, 0), together.sink.value(1, 0, 0));
    ChainOptions reseeded = short_run;
    reseeded.seed = 6;
    EXPECT_NE(run({0}, plan, reseeded, 1, 6).sink.value(0, 39, 0), together.sink.value(0, 39, 0));
  }
}

TEST(RunChains, ReportsEveryQuery) {
  for (const bool full : {false, true})
    for (const int thin : {1, 3}) {
      const World world(Logistic{}, some_prior, 250, 3, 102);
      ChainOptions options = short_run;
      options.thin = thin;
      world.count();
      const Outcome both = run({0, 1}, full ? full_plan(world) : joint_plan(world), options, 2, 3);
      RowId reported = 0;
      for (std::size_t i = 0; i < 2; ++i) {
        const ChainReport& report = both.reports[i];
        EXPECT_EQ(report.start_queries, 250);
        EXPECT_EQ(report.iterations, 40 * thin);
        EXPECT_EQ(report.not_finite, 0);
        EXPECT_GE(report.sampling_seconds, 0.0);
        reported += report.start_queries + report.warmup_queries + report.sampling_queries;
        RowId drawn = 0;
        for (const DrawStats& stats : both.sink.stats(i)) drawn += stats.queries;
        EXPECT_EQ(drawn, report.sampling_queries);
        if (full) {
          EXPECT_EQ(report.sampling_queries, 250 * 40 * thin);
          EXPECT_EQ(report.warmup_queries, 250 * 60);
          EXPECT_EQ(report.bright_mean, 0.0);
        }
      }
      EXPECT_EQ(reported, world.count());
    }
}

// Thinning omits draws and changes none; without thinning, means in the report are means over the draws.
TEST(RunChains, ThinsByLeavingOut) {
  const World world(Logistic{}, some_prior, 250, 3, 103);
  ChainOptions every{.warmup = 30, .draws = 60, .thin = 1, .seed = 5},
      third{.warmup = 30, .draws = 20, .thin = 3, .seed = 5};
  const Outcome all = run({0}, joint_plan(world), every, 1, 3), thinned = run({0}, joint_plan(world), third, 1, 3);
  ASSERT_EQ(thinned.sink.draws(0), 20u);
  double acceptance = 0.0, bright = 0.0;
  for (std::size_t n = 0; n < 20; ++n) {
    RowId queries = 0;
    for (std::size_t i = 3 * n; i < 3 * n + 3; ++i) {
      queries += all.sink.stats(0)[i].queries;
      acceptance += all.sink.stats(0)[i].acceptance;
      bright += static_cast<double>(all.sink.stats(0)[i].bright);
    }
    for (Index j = 0; j < 3; ++j) EXPECT_EQ(thinned.sink.value(0, n, j), all.sink.value(0, 3 * n + 2, j));
    EXPECT_EQ(thinned.sink.stats(0)[n].queries, queries);
    EXPECT_EQ(thinned.sink.stats(0)[n].log_density, all.sink.stats(0)[3 * n + 2].log_density);
    EXPECT_EQ(thinned.sink.stats(0)[n].bright, all.sink.stats(0)[3 * n + 2].bright);
  }
  for (const Outcome* one : {&all, &thinned}) {
    EXPECT_NEAR(one->reports[0].acceptance, acceptance / 60.0, 1e-13);
    EXPECT_NEAR(one->reports[0].bright_mean, bright / 60.0, 1e-12);
    EXPECT_EQ(one->reports[0].iterations, 60);
  }
}

TEST(RunChains, NoWarmupIsAllowed) {
  const World world(Logistic{}, some_prior, 100, 2, 104);
  const Outcome none = run({0}, joint_plan(world), {.warmup = 0, .draws = 5, .thin = 1, .seed = 1}, 1, 2);
  EXPECT_EQ(none.reports[0].warmup_queries, 0);
  EXPECT_EQ(none.sink.draws(0), 5u);
}

TEST(RunChains, BadOptionsAreRefused) {
  const World world(Logistic{}, some_prior, 100, 2, 105);
  const auto message = [&](const std::vector<std::uint64_t>& chains, const ChainOptions& options) {
    return message_of<InputError>([&] { run(chains, joint_plan(world), options, 1, 2); });
  };
  const std::string expected = "warm-up must be 0 or more, draws and thinning 1 or more";
  EXPECT_EQ(message({}, short_run), "at least one chain is needed");
  EXPECT_EQ(message({0}, {.warmup = -1, .draws = 1, .thin = 1, .seed = 1}), expected);
  EXPECT_EQ(message({0}, {.warmup = 0, .draws = 0, .thin = 1, .seed = 1}), expected);
  EXPECT_EQ(message({0}, {.warmup = 0, .draws = 1, .thin = 0, .seed = 1}), expected);
  EXPECT_EQ(world.count(), 0);
}

TEST(RunChains, AnErrorInOneChainIsTheRunsError) {
  const World world(Logistic{}, some_prior, 100, 2, 106);
  ChainPlan plan = joint_plan(world);
  const auto start = plan.start;
  plan.start = [&](ChainId id, RowId& queries) {
    if (id.chain >= 1) throw InputError("chain " + std::to_string(id.chain));
    return start(id, queries);
  };
  for (const int threads : {1, 2})
    EXPECT_EQ(message_of<InputError>([&] { run({0, 1, 2}, plan, short_run, threads, 2); }), "chain 1");
}

}  // namespace
}  // namespace flymc
