#include "flymc/core/nesting.hpp"

#include <gtest/gtest.h>

#include <string>

namespace flymc {
namespace {

TEST(Nesting, counts_brackets_outside_of_strings) {
  const auto nested = [](int depth) {
    return std::string(static_cast<std::size_t>(depth), '[') + std::string(static_cast<std::size_t>(depth), ']');
  };
  EXPECT_FALSE(too_deep(""));
  EXPECT_FALSE(too_deep(nested(deepest_nesting)));
  EXPECT_TRUE(too_deep(nested(deepest_nesting + 1)));
  EXPECT_TRUE(too_deep(std::string(100, '{')));
  EXPECT_FALSE(too_deep("\"" + nested(1000) + "\""));
  EXPECT_FALSE(too_deep("\"\\\"" + nested(1000) + "\""));
  EXPECT_TRUE(too_deep("\"a\\\\\"" + nested(1000)));
  std::string side_by_side;
  for (int i = 0; i < 1000; ++i) side_by_side += "[]";
  EXPECT_FALSE(too_deep(side_by_side));
}

}  // namespace
}  // namespace flymc
