// Sums and errors must not depend on the number of threads.
#include "flymc/core/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

namespace flymc {
namespace {

struct Sum {
  double value = 0.0;
  int blocks = 0;
  Sum& operator+=(const Sum& other) {
    value += other.value;
    blocks += other.blocks;
    return *this;
  }
};

TEST(Threads, SumsAreTheSameBitForBit) {
  const auto add = [](Sum& sum, std::size_t block) {
    sum.value += std::sin(static_cast<double>(block)) * std::pow(10.0, static_cast<double>(block % 17));
    ++sum.blocks;
  };
  for (std::size_t blocks : {0u, 1u, 2u, 3u, 1000u, 4097u}) {
    const Sum alone = Threads(1).reduce(0, blocks, Sum{}, add);
    EXPECT_EQ(alone.blocks, static_cast<int>(blocks));
    for (int threads : {2, 3, 8})
      for (int repeat = 0; repeat < 3; ++repeat) {
        const Sum sum = Threads(threads).reduce(0, blocks, Sum{}, add);
        EXPECT_EQ(sum.value, alone.value);
        EXPECT_EQ(sum.blocks, alone.blocks);
      }
  }
}

TEST(Threads, RunsEveryTaskOnceAndNests) {
  const Threads threads(3);
  std::vector<std::atomic<int>> done(64);
  threads.run(8, [&](std::size_t i) { threads.run(8, [&, i](std::size_t j) { ++done[8 * i + j]; }); });
  for (const auto& count : done) EXPECT_EQ(count, 1);
}

TEST(Threads, ReportsTheFirstErrorInOrderNotInTime) {
  const Threads threads(4);
  for (int repeat = 0; repeat < 20; ++repeat) {
    std::string message;
    try {
      threads.run(10, [](std::size_t i) {
        if (i >= 3) throw std::runtime_error("task " + std::to_string(i));
      });
    } catch (const std::runtime_error& error) {
      message = error.what();
    }
    EXPECT_EQ(message, "task 3");
  }
}

}  // namespace
}  // namespace flymc
