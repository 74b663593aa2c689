// Pieces of an arena do not overlap, and keep what is written to them.
#include "flymc/core/arena.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <vector>

namespace flymc {
namespace {

TEST(Arena, HandsOutPiecesThatDoNotOverlap) {
  constexpr std::size_t mib = std::size_t{1} << 20;
  Arena arena;
  std::vector<std::span<unsigned char>> pieces;
  // Small pieces, pieces that end a chunk early, and one larger than a chunk.
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{0}, 3 * mib + 5, 40 * mib, 40 * mib, 100 * mib + 1,
                                  std::size_t{64}, std::size_t{65}, 20 * mib})
    pieces.emplace_back(static_cast<unsigned char*>(arena.allocate(bytes)), bytes);
  const auto ends = [](std::size_t i) { return static_cast<unsigned char>(i + 1); };
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pieces[i].data()) % 64, 0u) << i;
    if (!pieces[i].empty()) pieces[i].front() = pieces[i].back() = ends(i);
  }
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].empty()) continue;
    EXPECT_EQ(pieces[i].front(), ends(i));
    EXPECT_EQ(pieces[i].back(), ends(i));
    for (std::size_t j = 0; j < i; ++j)
      EXPECT_TRUE(pieces[j].data() + pieces[j].size() <= pieces[i].data() ||
                  pieces[i].data() + pieces[i].size() <= pieces[j].data())
          << i << " and " << j;
  }
}

}  // namespace
}  // namespace flymc
