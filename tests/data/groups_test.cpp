// Groups of rows in a store, and the index from groups to rows.
#include "flymc/data/groups.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "flymc/core/error.hpp"
#include "flymc/data/group_index.hpp"
#include "problems/message_of.hpp"
#include "problems/thread_ranks.hpp"

namespace flymc {
namespace {

using problems::message_of;

const std::vector<GroupFactor> two_factors = {{"hospital", 40}, {"region", 3}};

Group hospital_of(RowId row) { return static_cast<Group>(row * 7919 % 37); }  // hospitals 37 to 39 have no rows
Group region_of(RowId row) { return static_cast<Group>(row / 9000 % 3); }

Store grouped(RowId rows, FactKinds kinds = {}) {
  StoreBuilder builder(Layout({"x", "y", "z"}, NumberType::float32), kinds, two_factors);
  for (RowId i = 0; i < rows; ++i) {
    const auto number = static_cast<double>(i);
    builder.append(std::vector{1.0, number, 2.0}, {number, 2.0, 3.0}, std::array{hospital_of(i), region_of(i)});
  }
  return builder.finish();
}

TEST(GroupsOfRows, StayWithTheirRows) {
  for (const FactKinds kinds : {FactKinds{}, FactKinds{true, true}}) {
    const Store store = grouped(20000, kinds);
    EXPECT_EQ(store.factors(), two_factors);
    ASSERT_GT(store.blocks(), 1u);
    for (std::size_t b = 0; b < store.blocks(); ++b) {
      const Block& block = store.block(b);
      ASSERT_EQ(block.groups(1).size(), static_cast<std::size_t>(block.rows()));
      for (Index i = 0; i < block.rows(); ++i) {
        ASSERT_EQ(block.groups(0)[static_cast<std::size_t>(i)], hospital_of(block.first_row() + i));
        ASSERT_EQ(store.group(block.first_row() + i, 1), region_of(block.first_row() + i));
        ASSERT_EQ(store.value(block.first_row() + i, 1), static_cast<double>(block.first_row() + i));
      }
    }
    const Block part = store.block(1).part(100, 30);
    for (Index i = 0; i < 30; ++i)
      EXPECT_EQ(part.groups(0)[static_cast<std::size_t>(i)], hospital_of(part.first_row() + i));
    EXPECT_EQ(part.groups(0).size(), 30u);

    const std::vector<RowId> chosen = {19999, 5, 17000, 0};
    const Store few = store.select(chosen);
    EXPECT_EQ(few.factors(), two_factors);
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      EXPECT_EQ(few.group(static_cast<RowId>(i), 0), hospital_of(chosen[i]));
      EXPECT_EQ(few.group(static_cast<RowId>(i), 1), region_of(chosen[i]));
      EXPECT_EQ(few.target(static_cast<RowId>(i)), static_cast<double>(chosen[i]));
    }
  }
  EXPECT_TRUE(Store::from_matrix(RowMatrix::Ones(2, 1), Vector::Ones(2)).factors().empty());
}

TEST(GroupsOfRows, AreGatheredFromAllRanks) {
  const Store store = grouped(50000);
  problems::ThreadRanks::run(3, [&](const Communicator& communicator) {
    const RowRange own = own_rows(store, communicator);
    const std::vector<RowId> named = {own.first, own.first + 7, own.last - 1};
    const Store all = select(store, named, communicator);
    ASSERT_EQ(all.rows(), 9);
    for (RowId i = 0; i < 9; ++i) {
      const auto row = static_cast<RowId>(all.target(i));
      EXPECT_EQ(all.group(i, 0), hospital_of(row));
      EXPECT_EQ(all.group(i, 1), region_of(row));
    }
  });
}

TEST(GroupsOfRows, ThatCannotBeAreRefused) {
  const auto refusal = [](const std::vector<GroupFactor>& factors) {
    return message_of<InputError>([&] { StoreBuilder(Layout({"x"}), {}, factors); });
  };
  EXPECT_EQ(refusal({{"", 3}}), "a grouping factor has no name");
  EXPECT_EQ(refusal({{"a", 3}, {"b", 1}, {"a", 5}}), "the grouping factor 'a' is there twice");
  EXPECT_EQ(refusal({{"a", 0}}), "the grouping factor 'a' has 0 groups, and a factor has from 1 to 10000000");
  EXPECT_EQ(refusal({{"a", 10'000'001}}),
            "the grouping factor 'a' has 10000001 groups, and a factor has from 1 to 10000000");
  EXPECT_EQ(refusal({{"a", 10'000'000}}), "no error");

  StoreBuilder builder(Layout({"x"}), {}, two_factors);
  const std::vector<double> x = {1.0};
  const auto append = [&](const std::vector<Group>& groups) {
    return message_of<InputError>([&] { builder.append(x, 0.0, groups); });
  };
  EXPECT_EQ(append({39, 2}), "no error");
  EXPECT_EQ(append({39, 3}), "row 1, factor 'region': 3 is not the number of a group from 0 to 2");
  EXPECT_EQ(append({40, 2}), "row 1, factor 'hospital': 40 is not the number of a group from 0 to 39");
  EXPECT_EQ(append({}), "row 1 has groups of 0 factors, expected 2");
  EXPECT_EQ(append({1, 1, 1}), "row 1 has groups of 3 factors, expected 2");
  EXPECT_EQ(builder.finish().rows(), 1);
  EXPECT_EQ(message_of<InputError>([&] { StoreBuilder(Layout({"x"})).append(x, 0.0, std::vector<Group>{0}); }),
            "row 0 has groups of 1 factors, expected 0");
}

// Compares an index with a map of the rows in `range`.
void expect_index(const Store& store, std::size_t factor, const GroupIndex& index, RowRange range) {
  std::map<Group, std::vector<RowId>> expected;
  for (RowId row = range.first; row < range.last; ++row) expected[store.group(row, factor)].push_back(row);
  ASSERT_EQ(index.groups(), store.factors()[factor].groups);
  for (Group group = 0; group < index.groups(); ++group) {
    const GroupRows rows = index.rows(group);
    ASSERT_EQ(rows.size(), expected[group].size());
    for (std::size_t i = 0; i < rows.size(); ++i) ASSERT_EQ(rows[i], expected[group][i]);
    EXPECT_EQ(rows.consecutive(), index.ordered());
  }
}

TEST(GroupIndex, LeadsFromGroupsToRows) {
  const Store store = grouped(50000);
  for (const int count : {1, 2, 5}) {
    const Threads threads(count);
    for (const std::size_t factor : {0u, 1u}) {
      const GroupIndex index(store, factor, {threads});
      EXPECT_FALSE(index.ordered());
      expect_index(store, factor, index, {0, store.rows()});
    }
  }
  EXPECT_EQ(GroupIndex().groups(), 0u);
}

TEST(GroupIndex, HasRangesAloneIfTheRowsAreInTheOrderOfTheFactor) {
  StoreBuilder builder(Layout({"x"}), {}, {{"patient", 9000}, {"hour", 24}});
  for (RowId i = 0; i < 40000; ++i)
    builder.append(std::vector{1.0}, 0.0, std::array{static_cast<Group>(i / 5 + 1), static_cast<Group>(i % 24)});
  const Store store = builder.finish();
  const Threads threads(2);
  const GroupIndex patients(store, 0, {threads}), hours(store, 1, {threads});
  EXPECT_TRUE(patients.ordered());
  EXPECT_FALSE(hours.ordered());
  expect_index(store, 0, patients, {0, store.rows()});
  expect_index(store, 1, hours, {0, store.rows()});
  EXPECT_EQ(patients.rows(0).size(), 0u);
  EXPECT_EQ(patients.rows(8000)[4], 39999);
}

// A rank has the rows of its blocks alone, whichever group they are of.
TEST(GroupIndex, OfARankLeadsToItsOwnRows) {
  const Store store = grouped(50000);
  const std::size_t ranks = 3;
  std::vector<std::vector<RowId>> found(ranks);
  problems::ThreadRanks::run(static_cast<int>(ranks), [&](const Communicator& communicator) {
    const Threads threads(1);
    const GroupIndex index(store, 1, {threads, communicator});
    expect_index(store, 1, index, own_rows(store, communicator));
    for (Group group = 0; group < index.groups(); ++group)
      for (std::size_t i = 0; i < index.rows(group).size(); ++i)
        found[static_cast<std::size_t>(communicator.rank())].push_back(index.rows(group)[i]);
  });
  std::vector<RowId> all;
  for (const auto& own : found) {
    EXPECT_GT(own.size(), 10000u);
    all.insert(all.end(), own.begin(), own.end());
  }
  std::ranges::sort(all);
  ASSERT_EQ(all.size(), 50000u);
  EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
  EXPECT_EQ(all.back(), 49999);
  // More ranks than blocks: some have no rows.
  problems::ThreadRanks::run(6, [&](const Communicator& communicator) {
    const Threads threads(1);
    expect_index(store, 0, GroupIndex(store, 0, {threads, communicator}), own_rows(store, communicator));
  });
}

TEST(GroupIndex, RefusesGroupsThatDoNotExist) {
  const Index rows = StoreBuilder::rows_per_block(1) + 10;
  const auto owner = std::make_shared<int>();
  const std::vector<double> x(static_cast<std::size_t>(rows), 1.0);
  std::vector<Group> groups(static_cast<std::size_t>(rows), 2);
  const Index block = StoreBuilder::rows_per_block(1);
  const auto bytes = reinterpret_cast<const std::byte*>(x.data());
  std::vector<Store::ForeignBlock> blocks = {
      {.values = bytes, .targets = x.data(), .rows = block, .groups = {groups.data()}},
      {.values = bytes, .targets = x.data(), .rows = 10, .groups = {groups.data() + block}}};
  const Store store = Store::from_blocks(Layout({"x"}), blocks, owner, {{"shop", 3}});
  const Threads threads(2);
  EXPECT_TRUE(GroupIndex(store, 0, {threads}).ordered());
  groups[static_cast<std::size_t>(block) + 4] = 3;
  EXPECT_EQ(message_of<InputError>([&] { GroupIndex(store, 0, {threads}); }),
            "row 16388, factor 'shop': 3 is not the number of a group from 0 to 2");
  blocks[1].groups.clear();
  EXPECT_EQ(message_of<InputError>([&] {
              Store::from_blocks(Layout({"x"}), blocks, owner, {{"shop", 3}});
            }),
            "block 1 has groups of 0 factors, expected 1");
}

}  // namespace
}  // namespace flymc
