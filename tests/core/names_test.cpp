// Names in messages.
#include "flymc/core/names.hpp"

#include <gtest/gtest.h>

namespace flymc {
namespace {

TEST(Names, TheClosestAreOffered) {
  EXPECT_EQ(closest("aeg", {"age", "income"}), "did you mean 'age'?");
  EXPECT_EQ(close_names("bat", {"cat", "hat", "dog"}), (std::vector<std::string>{"cat", "hat"}));
  EXPECT_TRUE(close_names("zebra", {"age", "income"}).empty());
  EXPECT_TRUE(close_names("w", {"x", "y"}).empty());
  EXPECT_EQ(close_names("W", {"w", "x"}), (std::vector<std::string>{"w"}));
  EXPECT_EQ(closest("bat", {"cat", "hat", "dog"}), "did you mean 'cat' or 'hat'?");
  EXPECT_EQ(closest("INCOME", {"age", "income"}), "did you mean 'income'?");
  EXPECT_EQ(closest("zebra", {"age", "income"}), "");
  EXPECT_EQ(did_you_mean("aeg", {"age", "income"}), "; did you mean 'age'?");
  EXPECT_EQ(did_you_mean("zebra", {"age", "income"}), "; there are 'age', 'income'");
}

TEST(Names, ListsAreCut) {
  EXPECT_EQ(quoted_list({"a", "b", "c"}, 2), "'a', 'b' and 1 more");
  EXPECT_EQ(joined({"a", "b"}, "-"), "a-b");
}

TEST(Names, StayOnOneLine) {
  EXPECT_EQ(on_one_line("a\nb\tc\x01"), "a\\nb\\tc\\u0001");
  EXPECT_EQ(on_one_line("abcdef", 3), "abc...");
  EXPECT_EQ(on_one_line("abc", 3), "abc");
  EXPECT_EQ(on_one_line("gr\xc3\xb6\xc3\x9f", 3), "gr\xc3\xb6...");  // not cut inside of a letter
}

}  // namespace
}  // namespace flymc
