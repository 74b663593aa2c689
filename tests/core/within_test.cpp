#include "flymc/core/within.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace flymc {
namespace {

TEST(Within, limits_magnitudes_and_refuses_what_is_no_number) {
  EXPECT_TRUE(all_within({}, 0.0));
  const double above = std::nextafter(1e150, HUGE_VAL);
  for (const std::size_t place : {0u, 1u, 6u}) {
    std::vector<double> values = {0.0, -0.0, 1e150, -1e150, std::numeric_limits<double>::denorm_min(), 1.0, -2.0};
    EXPECT_TRUE(all_within(values, 1e150));
    for (const double bad : {above, -above, HUGE_VAL, -HUGE_VAL, std::nan(""), -std::nan("")}) {
      values[place] = bad;
      EXPECT_FALSE(all_within(values, 1e150)) << bad;
    }
    values[place] = std::numeric_limits<double>::max();
    EXPECT_TRUE(all_within(values, std::numeric_limits<double>::max()));
  }
}

}  // namespace
}  // namespace flymc
