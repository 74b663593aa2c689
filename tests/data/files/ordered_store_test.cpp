// A store in the order of a factor: a stable sort of the table, whatever the memory.
#include "flymc/data/files/store/ordered_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numeric>
#include <random>

#include "flymc/core/error.hpp"
#include "flymc/core/files.hpp"
#include "flymc/data/group_index.hpp"
#include "problems/small_disk.hpp"
#include "support.hpp"

namespace flymc {
namespace {

struct GroupedTable {
  std::vector<std::array<Group, 2>> groups;  // of each row: patient, ward
  std::vector<RowId> rows_of_patient;
};

// A third of the rows are of patient 100; patients 0 and 900 to 999 have none.
GroupedTable patients_of(RowId rows) {
  GroupedTable out;
  std::mt19937 random(11);
  out.rows_of_patient.resize(1000);
  for (RowId i = 0; i < rows; ++i) {
    const auto patient = i % 3 == 0 ? Group{100} : static_cast<Group>(1 + random() % 899);
    out.groups.push_back({patient, static_cast<Group>(random() % 12)});
    ++out.rows_of_patient[patient];
  }
  return out;
}

StoreContents ward_contents(const Layout& layout, FactKinds kinds) {
  return {.layout = layout,
          .kinds = kinds,
          .factors = {{"patient", 1000}, {"ward", 12}},
          .metadata = {{"encoding", "none"}},
          .files = {"a.csv", "b.csv"}};
}

void append_row(OrderedStoreWriter& writer, const Layout& layout, const GroupedTable& table, RowId i) {
  std::vector<double> cells(layout.width(), 1.0);
  const auto number = static_cast<double>(i);
  cells[0] = number;
  writer.append(cells, {number, 1.0 + number, 0.5 * number}, i % 2, i / 2 + 1,
                table.groups[static_cast<std::size_t>(i)]);
}

void write_ordered(const std::string& path, const Layout& layout, FactKinds kinds, const GroupedTable& table,
                   std::size_t memory) {
  OrderedStoreWriter writer(path, ward_contents(layout, kinds), 0, table.rows_of_patient, memory);
  for (RowId i = 0; i < static_cast<RowId>(table.groups.size()); ++i) append_row(writer, layout, table, i);
  writer.finish();
}

TEST(OrderedStore, IsAStableSortWhateverTheMemory) {
  const Folder folder;
  const Layout numbers({"x", "y"}), codes({"x", "a", "b", "c"}, NumberType::float32, {0, 3});
  const GroupedTable table = patients_of(40000);
  std::vector<RowId> order(table.groups.size());
  std::iota(order.begin(), order.end(), RowId{0});
  std::ranges::stable_sort(order, {}, [&](RowId i) { return table.groups[static_cast<std::size_t>(i)][0]; });
  for (const Layout& layout : {numbers, codes})
    for (const FactKinds kinds : {FactKinds{}, FactKinds{true, true}}) {
      std::string whole;
      // All in memory; tens of buckets, one of them of a group that is larger than memory; a bucket per group.
      for (const std::size_t memory : {std::size_t{1} << 28, std::size_t{100'000}, std::size_t{1}}) {
        write_ordered(folder("a.store"), layout, kinds, table, memory);
        EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder("")), {}), 1);
        if (whole.empty()) whole = read_whole(folder("a.store"));
        EXPECT_TRUE(whole == read_whole(folder("a.store"))) << memory;
      }
      const StoreFile file = open_store(folder("a.store"));
      ASSERT_EQ(file.store.rows(), static_cast<RowId>(order.size()));
      for (RowId row = 0; row < file.store.rows(); ++row) {
        const RowId from = order[static_cast<std::size_t>(row)];
        const auto& [patient, ward] = table.groups[static_cast<std::size_t>(from)];
        const auto number = static_cast<double>(from);
        ASSERT_EQ(file.store.group(row, 0), patient);
        ASSERT_EQ(file.store.group(row, 1), ward);
        ASSERT_EQ(file.store.value(row, 0), number);
        ASSERT_EQ(file.store.target(row), number);
        ASSERT_EQ(file.store.facts(row).weight, kinds.weight ? 1.0 + number : 1.0);
        ASSERT_EQ(file.store.facts(row).offset, kinds.offset ? 0.5 * number : 0.0);
        ASSERT_EQ(file.row_name(row), fmt::format("{}, row {}", from % 2 == 0 ? "a.csv" : "b.csv", from / 2 + 1));
      }
      const Threads threads(2);
      const GroupIndex patients(file.store, 0, {threads});
      EXPECT_TRUE(patients.ordered());
      EXPECT_EQ(patients.rows(100).size(), static_cast<std::size_t>(table.rows_of_patient[100]));
    }
}

// Where a row of the table becomes two rows of the store, origins belong to the first.
TEST(OrderedStore, RowsOfOneRowStayTogether) {
  const Folder folder;
  const RowId rows = 40000;
  OrderedStoreWriter writer(folder("a.store"), {.layout = Layout({"x"}), .factors = {{"g", 2}}, .files = {"t.csv"}}, 0,
                            std::vector<RowId>{rows / 2, rows}, 1000);
  for (RowId i = 0; i < rows; ++i) {
    const std::vector<Group> group = {static_cast<Group>(i % 2)};
    writer.append(std::vector{static_cast<double>(i)}, 0.0, 0, i + 1, group);
    if (group[0] == 1) writer.append(std::vector{static_cast<double>(i)}, 1.0, group);
  }
  writer.finish();
  const StoreFile file = open_store(folder("a.store"));
  ASSERT_EQ(file.store.rows(), rows + rows / 2);
  EXPECT_EQ(file.row_name(0), "t.csv, row 1");
  EXPECT_EQ(file.row_name(rows / 2 - 1), fmt::format("t.csv, row {}", rows - 1));
  EXPECT_EQ(file.row_name(rows / 2), "t.csv, row 2");
  EXPECT_EQ(file.row_name(rows - 1), fmt::format("t.csv, row {}", rows));
  EXPECT_FALSE(file.origin(rows));
  EXPECT_EQ(file.store.value(rows / 2, 0), 1.0);
  EXPECT_EQ(file.store.value(rows / 2 + 1, 0), 1.0);
  EXPECT_EQ(file.store.target(rows / 2 + 1), 1.0);
}

TEST(OrderedStore, CountsThatAreNotThoseOfTheRowsAreNoticed) {
  const Folder folder;
  const Layout layout({"x"});
  const GroupedTable table = patients_of(3000);
  const auto refusal = [&](std::vector<RowId> counts, std::size_t memory) {
    return message_of<InputError>([&] {
      GroupedTable lying{table.groups, std::move(counts)};
      write_ordered(folder("a.store"), layout, {}, lying, memory);
    });
  };
  for (const std::size_t memory : {std::size_t{1} << 28, std::size_t{10'000}}) {
    std::vector<RowId> counts = table.rows_of_patient;
    EXPECT_EQ(refusal(counts, memory), "no error");
    --counts[500];
    EXPECT_TRUE(says(refusal(counts, memory), {"a.store", "the table changed while it was read"}));
    counts[500] += 2;
    EXPECT_TRUE(says(refusal(counts, memory), {"a.store", "the table changed while it was read"}));
  }
  // Rows of two groups that were announced as one, which does not fit into memory.
  std::vector<RowId> counts = table.rows_of_patient;
  counts[100] += counts[101];
  counts[101] = 0;
  EXPECT_TRUE(says(refusal(counts, 10'000), {"the table changed while it was read"}));
  counts[7] = -1;
  EXPECT_TRUE(says(refusal(counts, 10'000), {"a.store", "group 7 cannot have -1 rows"}));
  counts[7] = std::numeric_limits<RowId>::max();
  EXPECT_TRUE(says(refusal(counts, 10'000), {"a.store", "group 7 cannot have"}));
  EXPECT_TRUE(says(refusal(std::vector<RowId>(999, 1), 10'000), {"999 groups", "'patient' has 1000"}));
  EXPECT_EQ(refusal(std::vector<RowId>(1000, 0), 10'000), "the table has no rows");
  EXPECT_EQ(message_of<InputError>([&] { OrderedStoreWriter(folder("b"), {.layout = layout}, 0, {}); }),
            folder("b") + ": there are 0 grouping factors, and no factor 0");
}

TEST(OrderedStore, RefusesRowsAsOthersDoAndAppearsWholeOrNotAtAll) {
  const Folder folder;
  const Layout layout({"x"});
  const GroupedTable table = patients_of(3000);
  {
    OrderedStoreWriter writer(folder("a.store"), ward_contents(layout, {}), 0, table.rows_of_patient, 1000);
    for (RowId i = 0; i < 3000; ++i) append_row(writer, layout, table, i);
    EXPECT_EQ(message_of<InputError>([&] {
                writer.append(std::vector{1.0}, 0.0, std::vector<Group>{1000, 0});
              }),
              "row 3000, factor 'patient': 1000 is not the number of a group from 0 to 999");
    EXPECT_TRUE(says(message_of<InputError>([&] {
                       writer.append(std::vector{std::nan("")}, 0.0, std::vector<Group>{1, 0});
                     }),
                     {"row 3000, column 'x'"}));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder("")));
  const auto message = message_of<FileError>([&] {
    const problems::SmallDisk disk(10000);
    write_ordered(folder("a.store"), layout, {}, table, 20'000);
  });
  EXPECT_TRUE(says(message, {folder("a.store"), "cannot be written", "ulimit -f"}));
  EXPECT_TRUE(std::filesystem::is_empty(folder("")));
}

}  // namespace
}  // namespace flymc
