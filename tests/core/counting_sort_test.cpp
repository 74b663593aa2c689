// Places in the order of keys: as a stable sort gives them, on any number of threads.
#include "flymc/core/counting_sort.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace flymc {
namespace {

using Keys = std::vector<std::uint32_t>;

// Cuts the keys into pieces of unequal sizes, some of them empty.
std::vector<std::span<const std::uint32_t>> cut(const Keys& keys) {
  std::vector<std::span<const std::uint32_t>> pieces;
  for (std::size_t at = 0, i = 0; at < keys.size(); ++i) {
    const std::size_t size = std::min(keys.size() - at, (i % 5) * (1 + keys.size() / 30));
    pieces.push_back(std::span(keys).subspan(at, size));
    at += size;
  }
  return pieces;
}

template <class Place>
void expect_stable_order(const Keys& keys, std::uint32_t most) {
  std::vector<Place> expected(keys.size());
  std::iota(expected.begin(), expected.end(), Place{0});
  std::ranges::stable_sort(expected, {}, [&](Place i) { return keys[i]; });
  const bool ascend = std::ranges::is_sorted(keys);
  for (const int count : {1, 2, 7}) {
    const Threads threads(count);
    const SortedPlaces<Place> sorted = sort_places<Place>(cut(keys), most, threads);
    ASSERT_FALSE(sorted.stray);
    ASSERT_EQ(sorted.begin.size(), most + 1u);
    for (std::uint32_t k = 0; k <= most; ++k)
      ASSERT_EQ(sorted.begin[k],
                static_cast<std::uint64_t>(std::ranges::count_if(keys, [&](auto key) { return key < k; })));
    EXPECT_EQ(sorted.order, ascend ? std::vector<Place>() : expected) << count << " threads";
  }
}

TEST(CountingSort, IsAStableSortWhateverTheThreads) {
  std::mt19937 random(7);
  for (const std::size_t items : {1u, 2u, 100u, 5000u})
    for (const std::uint32_t most : {1u, 3u, 40u, 3000u}) {
      Keys keys(items);
      for (std::uint32_t& key : keys) key = static_cast<std::uint32_t>(random() % most);
      expect_stable_order<std::uint32_t>(keys, most);
      expect_stable_order<std::uint64_t>(keys, most);
      std::ranges::sort(keys);
      expect_stable_order<std::uint32_t>(keys, most);
      // One item out of order, at either end.
      if (keys.front() == keys.back()) continue;
      std::swap(keys.front(), keys.back());
      expect_stable_order<std::uint32_t>(keys, most);
    }
}

// Chunks that ascend by themselves, but not one after the other.
TEST(CountingSort, SeesThatAscendingChunksDoNotFollowEachOther) {
  Keys keys;
  for (int chunk = 0; chunk < 8; ++chunk)
    for (std::uint32_t k = 0; k < 50; ++k) keys.push_back(k / 25);
  std::vector<std::span<const std::uint32_t>> pieces;
  for (std::size_t p = 0; p < 8; ++p) pieces.push_back(std::span(keys).subspan(50 * p, 50));
  const Threads threads(8);
  EXPECT_EQ(sort_places<std::uint32_t>(pieces, 2, threads).order.size(), keys.size());
}

TEST(CountingSort, FindsTheFirstKeyThatIsTooLarge) {
  Keys keys(4000, 1);
  keys[3999] = keys[3100] = keys[700] = 3;
  keys[701] = 4'000'000'000u;
  for (const int count : {1, 2, 7}) {
    const Threads threads(count);
    const auto sorted = sort_places<std::uint32_t>(cut(keys), 3, threads);
    EXPECT_EQ(sorted.stray, 700u);
    EXPECT_TRUE(sorted.order.empty() && sorted.begin.empty());
  }
}

TEST(CountingSort, OfNoItemsHasEmptyGroups) {
  const Threads threads(2);
  const auto sorted = sort_places<std::uint32_t>({}, 4, threads);
  EXPECT_EQ(sorted.begin, std::vector<std::uint64_t>(5, 0));
  EXPECT_TRUE(sorted.order.empty());
}

}  // namespace
}  // namespace flymc
