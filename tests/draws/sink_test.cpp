// Draws in memory are returned as they were written, chain by chain.
#include "flymc/draws/sink.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace flymc {
namespace {

Vector draw(std::size_t chain, std::size_t i) {
  Vector theta(3);
  for (Index j = 0; j < 3; ++j)
    theta[j] = 100.0 * static_cast<double>(chain) + static_cast<double>(i) + 0.1 * static_cast<double>(j);
  return theta;
}

TEST(MemorySink, GivesBackWhatItTook) {
  MemorySink sink(2, 3);
  EXPECT_EQ(sink.chains(), 2u);
  EXPECT_EQ(sink.coefficients(), 3);
  EXPECT_EQ(sink.draws(0), 0u);
  // Chains alternate and end with different numbers of draws.
  for (std::size_t i = 0; i < 5; ++i)
    for (std::size_t chain = 0; chain < 2; ++chain)
      if (chain == 0 || i < 3)
        sink.write(chain, draw(chain, i),
                   {.log_density = -1.0 * static_cast<double>(i),
                    .bright = static_cast<RowId>(i),
                    .queries = 7,
                    .acceptance = 0.25});
  EXPECT_EQ(sink.draws(0), 5u);
  EXPECT_EQ(sink.draws(1), 3u);
  for (std::size_t chain = 0; chain < 2; ++chain) {
    ASSERT_EQ(sink.stats(chain).size(), sink.draws(chain));
    for (std::size_t i = 0; i < sink.draws(chain); ++i) {
      for (Index j = 0; j < 3; ++j) EXPECT_EQ(sink.value(chain, i, j), draw(chain, i)[j]);
      EXPECT_EQ(sink.stats(chain)[i].log_density, -1.0 * static_cast<double>(i));
      EXPECT_EQ(sink.stats(chain)[i].bright, static_cast<RowId>(i));
      EXPECT_EQ(sink.stats(chain)[i].queries, 7);
      EXPECT_EQ(sink.stats(chain)[i].acceptance, 0.25);
    }
  }
  const auto second = sink.coefficient(1);
  ASSERT_EQ(second.size(), 2u);
  EXPECT_EQ(second[0], (std::vector<double>{0.1, 1.1, 2.1, 3.1, 4.1}));
  EXPECT_EQ(second[1].size(), 3u);
}

TEST(MemorySink, TakesChainsAtTheSameTime) {
  MemorySink sink(2, 3);
  const auto write = [&](std::size_t chain) {
    for (std::size_t i = 0; i < 1000; ++i) sink.write(chain, draw(chain, i), {});
  };
  std::thread other(write, 1);
  write(0);
  other.join();
  for (std::size_t chain = 0; chain < 2; ++chain)
    for (std::size_t i = 0; i < 1000; ++i) ASSERT_EQ(sink.value(chain, i, 2), draw(chain, i)[2]);
}

}  // namespace
}  // namespace flymc
