// Rounds of draws end at fixed numbers of draws, when the criterion is met.
#include "../../../src/run/files/folder/enough.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace flymc {
namespace {

constexpr Worth good{500.0, 1.005}, few{300.0, 1.005}, apart{500.0, 1.02}, unknown{0.0, HUGE_VAL};

Settings settings(bool until_enough, double target_ess, int chains = 4) {
  Settings out;
  out.until_enough = until_enough;
  out.target_ess = target_ess;
  out.fit.chains = chains;
  return out;
}

TEST(Enough, SoManyDrawsAreAskedFor) {
  EXPECT_TRUE(Enough(settings(false, 0.0)).fixed());
  EXPECT_FALSE(Enough(settings(true, 0.0)).fixed());
  EXPECT_FALSE(Enough(settings(false, 100.0)).fixed());
}

TEST(Enough, OneGoodRoundWillDoIfItIsTheFirst) {
  const Enough enough(settings(true, 0.0));
  EXPECT_TRUE(enough.reached(unknown, good, 1000));
  EXPECT_FALSE(enough.reached(unknown, few, 1000));
  EXPECT_FALSE(enough.reached(unknown, apart, 1000));
  EXPECT_FALSE(enough.reached(few, good, 2000));
  EXPECT_FALSE(enough.reached(apart, good, 2000));
  EXPECT_TRUE(enough.reached(good, good, 3000));
  EXPECT_FALSE(enough.reached(good, few, 4000));
  EXPECT_FALSE(enough.last(9000));
  EXPECT_TRUE(enough.last(10000));
}

// The limit of the warnings is 100 per chain, so a run that stops by itself gives no warning.
TEST(Enough, ManyChainsNeedMore) {
  EXPECT_FALSE(Enough(settings(true, 0.0, 16)).reached(good, good, 3000));
  EXPECT_TRUE(Enough(settings(true, 0.0, 16)).reached({1600.0, 1.0}, {1600.0, 1.0}, 3000));
  EXPECT_FALSE(Enough(settings(true, 0.0, 1)).reached(few, few, 3000));
}

TEST(Enough, ATargetIsConfirmedAndAsksForNothingElse) {
  const Enough enough(settings(true, 400.0));
  EXPECT_FALSE(enough.reached(unknown, good, 1000));
  EXPECT_TRUE(enough.reached(apart, apart, 2000));
  EXPECT_FALSE(enough.last(99000));
  EXPECT_TRUE(enough.last(100000));
}

}  // namespace
}  // namespace flymc
