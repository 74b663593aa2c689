// Sums over several ranks have the bits of the sum over one; shares cover everything once.
#include "flymc/comm/execution.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "flymc/core/random.hpp"
#include "problems/thread_ranks.hpp"

namespace flymc {
namespace {

using problems::ThreadRanks;

TEST(Shares, CoverEveryThingOnceAndEvenly) {
  for (const int ranks : {1, 2, 3, 7, 64})
    ThreadRanks::run(ranks, [&](const Communicator& communicator) {
      for (const std::size_t count : {0u, 1u, 2u, 3u, 50u, 64u, 1001u}) {
        const Share own = own_share(count, communicator);
        EXPECT_LE(own.last - own.first, count / static_cast<std::size_t>(ranks) + 1);
        for (std::size_t i = own.first; i < own.last; ++i)
          EXPECT_EQ(owner_of(i, count, communicator), communicator.rank());
        std::size_t all = 0;
        for (int r = 0; r < ranks; ++r) {
          const Share share = share_of(count, communicator, r);
          EXPECT_EQ(share.first, all);
          all = share.last;
        }
        EXPECT_EQ(all, count);
      }
    });
}

TEST(GatherAll, IsInTheOrderOfTheRanks) {
  ThreadRanks::run(4, [](const Communicator& communicator) {
    std::vector<int> own(static_cast<std::size_t>(communicator.rank()), communicator.rank());
    EXPECT_EQ(gather_all(communicator, std::span<const int>(own)), (std::vector<int>{1, 2, 2, 3, 3, 3}));
    EXPECT_TRUE(any(communicator, communicator.rank() == 2));
    EXPECT_FALSE(any(communicator, false));
  });
  EXPECT_TRUE(any(Communicator::alone(), true));
}

// A number whose sum depends on the order of addition, and a second part of another size.
struct Sum {
  double one = 0.0;
  std::vector<double> more;
  Sum& operator+=(const Sum& other) {
    one += other.one;
    for (std::size_t i = 0; i < more.size(); ++i) more[i] += other.more[i];
    return *this;
  }
  template <class F>
  void each_part(const F& f) {
    f(std::span<double>(&one, 1));
    f(std::span<double>(more));
  }
};

TEST(Reduce, HasTheSameBitsOnAnyNumberOfRanksAndThreads) {
  const Sum zero{0.0, std::vector<double>(3)};
  const PhiloxRandom random(1, 0, 0);
  const auto add = [&](Sum& sum, std::size_t block) {
    double z[4];
    random.normals(Purpose::simulate, 4 * block, z);
    sum.one += z[0] * std::exp(5.0 * z[1]);
    for (std::size_t i = 0; i < 3; ++i) sum.more[i] += z[i + 1] * std::exp(z[0]);
  };
  for (const std::size_t blocks : {1u, 2u, 3u, 5u, 64u, 100u, 513u}) {
    const Sum expected = Threads(1).reduce(0, blocks, zero, add);
    for (const int ranks : {1, 2, 3, 4, 7, 64})
      ThreadRanks::run(ranks, [&](const Communicator& communicator) {
        const Threads threads(1 + communicator.rank() % 2);
        std::atomic<std::size_t> added = 0;
        const Sum sum = Execution{threads, communicator}.reduce(blocks, zero, [&](Sum& part, std::size_t block) {
          EXPECT_TRUE(own_share(blocks, communicator).contains(block));
          ++added;
          add(part, block);
        });
        EXPECT_EQ(sum.one, expected.one) << blocks << " blocks on " << ranks << " ranks";
        EXPECT_EQ(sum.more, expected.more);
        const Share own = own_share(blocks, communicator);
        EXPECT_EQ(added, own.last - own.first);
      });
    // A sum from left to right has other bits, so the test would notice another tree.
    Sum in_order = zero;
    for (std::size_t b = 0; b < blocks; ++b) add(in_order, b);
    if (blocks > 50) {
      EXPECT_NE(in_order.one, expected.one);
    }
  }
}

}  // namespace
}  // namespace flymc
