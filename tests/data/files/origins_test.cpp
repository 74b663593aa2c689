// Runs of rows, and their text.
#include "flymc/data/files/store/origins.hpp"

#include <gtest/gtest.h>

#include "flymc/core/error.hpp"

namespace flymc {
namespace {

TEST(Origins, AreRunsOfRows) {
  Origins origins;
  EXPECT_FALSE(origins.of(0));
  const std::vector<std::pair<std::int64_t, RowId>> from = {{0, 1}, {0, 2}, {0, 4}, {0, 5}, {2, 1}, {2, 2}, {2, 2}};
  for (std::size_t i = 0; i < from.size(); ++i) origins.add(static_cast<RowId>(i), from[i].first, from[i].second);
  EXPECT_EQ(origins.runs().size(), 4u);
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto found = origins.of(static_cast<RowId>(i));
    ASSERT_TRUE(found);
    EXPECT_EQ(std::pair(found->file, found->row), from[i]);
  }
  // As text, appended to other origins.
  Origins again;
  again.add(0, 1, 9);
  again.add_text(origins.to_text(0), 1, 7, 3);
  for (std::size_t i = 0; i < from.size(); ++i) {
    const auto found = again.of(static_cast<RowId>(i) + 1);
    EXPECT_EQ(std::pair(found->file, found->row), from[i]);
  }
  EXPECT_EQ(again.of(0)->row, 9);
}

TEST(Origins, ThatCannotBeAreRefused) {
  for (const std::string text : {"", "{}", "7", "[7]", "[[0,0]]", "[[0,0,0]]", "[[0,3,1]]", "[[7,0,1]]", "[[-1,0,1]]",
                                 "[[0,0,1],[0,0,5]]", "[[3,0,1],[2,0,5]]", "[[0,0,1.5]]", "[[0,0,\"1\"]]"}) {
    Origins origins;
    EXPECT_THROW(origins.add_text(text, 0, 7, 3), InputError) << text;
  }
}

}  // namespace
}  // namespace flymc
