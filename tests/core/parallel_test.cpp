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

TEST(Stream, TakesUpEveryPieceInOrder) {
  for (const int count : {1, 2, 4}) {
    const Threads threads(count);
    std::vector<int> slots(3), taken;
    Threads::Stream stream(
        threads, slots.size(), [&](std::size_t s) { slots[s] *= slots[s]; },
        [&](std::size_t s) { taken.push_back(slots[s]); });
    for (int i = 0; i < 100; ++i) {
      slots[stream.slot()] = i;
      stream.start();
    }
    EXPECT_EQ(taken.size(), 97u);
    stream.finish();
    ASSERT_EQ(taken.size(), 100u);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(taken[static_cast<std::size_t>(i)], i * i);
  }
}

// It does not matter which piece fails first in time, and whether it fails in `work` or in `then`.
TEST(Stream, ReportsTheFirstErrorInOrderAndTakesUpNothingAfterIt) {
  for (const int count : {1, 4})
    for (int repeat = 0; repeat < 20; ++repeat)
      for (const bool at_work : {true, false}) {
        const Threads threads(count);
        std::vector<int> slots(4), taken;
        const auto fail = [](int piece) { throw std::runtime_error("piece " + std::to_string(piece)); };
        Threads::Stream stream(
            threads, slots.size(),
            [&](std::size_t s) {
              if (slots[s] > 5 || (at_work && slots[s] == 5)) fail(slots[s]);
            },
            [&](std::size_t s) {
              if (slots[s] == 5) fail(5);
              taken.push_back(slots[s]);
            });
        std::string message;
        try {
          for (int i = 0; i < 20; ++i) {
            slots[stream.slot()] = i;
            stream.start();
          }
        } catch (const std::runtime_error& error) {
          message = error.what();
        }
        EXPECT_EQ(message, "piece 5");
        stream.finish();
        EXPECT_EQ(taken, (std::vector{0, 1, 2, 3, 4}));
      }
}

// The destructor waits for the started work, whose data is destroyed after it.
TEST(Stream, WaitsForWhatWasStarted) {
  const Threads threads(2);
  std::vector<int> done(4);
  {
    Threads::Stream stream(
        threads, done.size(), [&](std::size_t s) { done[s] = 1; }, [](std::size_t) { FAIL(); });
    for (int i = 0; i < 4; ++i) {
      stream.slot();
      stream.start();
    }
  }
  EXPECT_EQ(done, std::vector(4, 1));
}

}  // namespace
}  // namespace flymc
