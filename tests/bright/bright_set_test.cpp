// Both representations against std::set under random changes, and the documented order.
#include "flymc/bright/bright_set.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "flymc/core/random.hpp"

namespace flymc {
namespace {

std::vector<RowId> bright_rows(const BrightSet& set) {
  std::vector<RowId> rows;
  for (RowId i = 0; i < set.bright_count(); ++i) rows.push_back(set.bright(i));
  return rows;
}

// Bright and dark rows together are all rows, each once, and position() finds every bright one.
void expect_sound(const BrightSet& set, const std::set<RowId>& bright) {
  ASSERT_EQ(set.bright_count(), static_cast<RowId>(bright.size()));
  ASSERT_EQ(set.bright_count() + set.dark_count(), set.rows());
  std::set<RowId> seen;
  for (RowId i = 0; i < set.bright_count(); ++i) {
    const RowId row = set.bright(i);
    ASSERT_TRUE(bright.count(row));
    ASSERT_EQ(set.position(row), i);
    seen.insert(row);
  }
  for (RowId i = 0; i < set.dark_count(); ++i) {
    ASSERT_FALSE(bright.count(set.dark(i)));
    seen.insert(set.dark(i));
  }
  ASSERT_EQ(static_cast<RowId>(seen.size()), set.rows());
  for (RowId row = 0; row < set.rows(); ++row) ASSERT_EQ(set.is_bright(row), bright.count(row) == 1);
}

TEST(BrightSet, AgreesWithASetUnderRandomChanges) {
  const RowId rows = 57;
  const PhiloxRandom random(1, 0, 0);
  BrightSet set(rows);
  std::set<RowId> reference;
  std::vector<RowId> order;  // bright rows in the documented order: the newest last, the last fills a gap
  expect_sound(set, reference);
  for (std::uint64_t i = 0; i < 3000; ++i) {
    const auto row = static_cast<RowId>(random.choose(Purpose::pick, i, static_cast<std::uint64_t>(rows)));
    // Drifts from few bright rows to nearly all and back; half of the calls change nothing.
    const bool brighten = random.bernoulli(Purpose::gibbs, i, i / 500 % 2 == 0 ? 0.8 : 0.2);
    if (brighten) {
      set.brighten(row);
      if (reference.insert(row).second) order.push_back(row);
    } else {
      set.darken(row);
      if (reference.erase(row)) {
        const auto gap = std::find(order.begin(), order.end(), row);
        *gap = order.back();
        order.pop_back();
      }
    }
    expect_sound(set, reference);
    ASSERT_EQ(bright_rows(set), order);
  }
}

TEST(BrightSet, StartsDarkAndInOrder) {
  const BrightSet set(4);
  EXPECT_EQ(set.rows(), 4);
  EXPECT_EQ(set.bright_count(), 0);
  for (RowId i = 0; i < 4; ++i) EXPECT_EQ(set.dark(i), i);
}

TEST(BrightSet, ARepeatedChangeIsNone) {
  BrightSet set(5);
  for (const RowId row : {3, 1, 4, 3, 1}) set.brighten(row);
  EXPECT_EQ(bright_rows(set), (std::vector<RowId>{3, 1, 4}));
  set.darken(0);
  set.darken(3);
  set.darken(3);
  EXPECT_EQ(bright_rows(set), (std::vector<RowId>{4, 1}));  // the last row takes the place of the first
}

TEST(BrightSet, AllBrightAndNoRows) {
  BrightSet all(3), none(0);
  for (const RowId row : {0, 1, 2}) all.brighten(row);
  EXPECT_EQ(all.dark_count(), 0);
  for (const RowId row : {0, 1, 2}) all.darken(row);
  EXPECT_EQ(all.bright_count(), 0);
  EXPECT_EQ(none.rows(), 0);
  EXPECT_EQ(none.dark_count(), 0);
}

// From a list to arrays as rows brighten, still in arrays as they darken: order and answers as in one representation.
TEST(BrightSet, AFewRowsOfManyThenManyThenFew) {
  const RowId rows = 6400;
  const PhiloxRandom random(2, 0, 0);
  BrightSet set(rows);
  std::set<RowId> reference;
  std::vector<RowId> order;
  const auto change = [&](std::uint64_t i, double share) {
    const auto row = static_cast<RowId>(random.choose(Purpose::pick, i, 300)) * 21;
    if (random.bernoulli(Purpose::gibbs, i, share)) {
      set.brighten(row);
      if (reference.insert(row).second) order.push_back(row);
    } else {
      set.darken(row);
      if (reference.erase(row)) {
        *std::find(order.begin(), order.end(), row) = order.back();
        order.pop_back();
      }
    }
  };
  for (std::uint64_t i = 0; i < 3000; ++i) {
    change(i, i < 1000 ? 0.2 : (i < 2000 ? 0.8 : 0.05));  // about 60 bright rows, then 240, then 15; arrays from 100 on
    ASSERT_EQ(bright_rows(set), order);
    if (i % 100 == 99) expect_sound(set, reference);
  }
}

TEST(BrightSet, MoreRowsThanArraysHold) {
  const RowId last = (RowId{1} << 40) - 1;
  BrightSet set(last + 1);
  set.brighten(last);
  set.brighten(5);
  set.brighten(0);
  EXPECT_EQ(bright_rows(set), (std::vector<RowId>{last, 5, 0}));
  set.darken(last);
  EXPECT_EQ(bright_rows(set), (std::vector<RowId>{0, 5}));
  EXPECT_EQ(set.dark(0), 1);
  EXPECT_EQ(set.dark(4), 6);
  EXPECT_EQ(set.dark(set.dark_count() - 1), last);
}

}  // namespace
}  // namespace flymc
