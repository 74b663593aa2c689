// Groups in the file of a store: the same as in memory, and files that lie about them are named.
#include <arrow/api.h>
#include <arrow/io/file.h>
#include <arrow/ipc/reader.h>
#include <arrow/ipc/writer.h>
#include <fmt/format.h>

#include <array>

#include "../../../src/data/files/store/store_format.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/files.hpp"
#include "flymc/data/files/store/store_file.hpp"
#include "flymc/data/group_index.hpp"
#include "support.hpp"

namespace flymc {
namespace {

const std::vector<GroupFactor> shops_and_days = {{"shop", 500}, {"day", 7}};

std::array<Group, 2> groups_of(Index row) { return {static_cast<Group>(row * 77 % 499), static_cast<Group>(row % 7)}; }

StoreContents contents_of(const Layout& layout, FactKinds kinds = {}) {
  return {.layout = layout, .kinds = kinds, .factors = shops_and_days, .metadata = {{"encoding", "none"}}};
}

void write_grouped(const std::string& path, const Layout& layout, FactKinds kinds, Index rows) {
  StoreWriter writer(path, contents_of(layout, kinds));
  for (Index i = 0; i < rows; ++i) {
    const auto number = static_cast<double>(i);
    std::vector<double> cells(layout.width(), 1.0);
    cells[0] = number;
    writer.append(cells, {number, 2.0, 3.0}, groups_of(i));
  }
  writer.finish();
}

TEST(StoreGroups, AreThoseThatWereWritten) {
  const Folder folder;
  const Layout numbers({"x", "y", "z"}), codes({"x", "a", "b", "c"}, NumberType::float32, {0, 3});
  for (const Layout& layout : {numbers, codes})
    for (const FactKinds kinds : {FactKinds{}, FactKinds{true, true}}) {
      const Index rows = 2 * StoreBuilder::rows_per_block(layout) + 33;
      write_grouped(folder("a.store"), layout, kinds, rows);
      const StoreFile file = open_store(folder("a.store"));
      ASSERT_EQ(file.store.rows(), rows);
      EXPECT_EQ(file.store.factors(), shops_and_days);
      EXPECT_TRUE(file.store.layout() == layout);
      EXPECT_EQ(file.store.fact_kinds(), kinds);
      EXPECT_EQ(file.metadata, (std::map<std::string, std::string>{{"encoding", "none"}}));
      for (RowId row = 0; row < rows; ++row) {
        ASSERT_EQ(file.store.group(row, 0), groups_of(row)[0]);
        ASSERT_EQ(file.store.group(row, 1), groups_of(row)[1]);
        ASSERT_EQ(file.store.target(row), static_cast<double>(row));
        ASSERT_EQ(file.store.value(row, 0), static_cast<double>(row));
      }
      const Threads threads(2);
      const GroupIndex index(file.store, 0, {threads});
      EXPECT_EQ(index.rows(499).size(), 0u);
      EXPECT_EQ(index.rows(77)[0], 1);
    }
}

// Other programs find a column for each factor.
TEST(StoreGroups, AreColumnsForEveryProgram) {
  const Folder folder;
  write_grouped(folder("a.store"), Layout({"x", "y"}), {true, false}, 100);
  const auto file = arrow::io::ReadableFile::Open(folder("a.store")).ValueOrDie();
  const auto reader = arrow::ipc::RecordBatchFileReader::Open(file).ValueOrDie();
  EXPECT_EQ(reader->schema()->field_names(),
            (std::vector<std::string>{"features", "target", "weight", "group[shop]", "group[day]"}));
  const auto batch = reader->ReadRecordBatch(0).ValueOrDie();
  EXPECT_EQ(static_cast<const arrow::UInt32Array&>(*batch->column(3)).Value(9), groups_of(9)[0]);
}

TEST(StoreGroups, BadGroupsAreRefusedAsInMemory) {
  const Folder folder;
  StoreWriter writer(folder("a"), contents_of(Layout({"x"})));
  const auto append = [&](const std::vector<Group>& groups) {
    return message_of<InputError>([&] { writer.append(std::vector{1.0}, 0.0, groups); });
  };
  EXPECT_EQ(append({500, 0}), "row 0, factor 'shop': 500 is not the number of a group from 0 to 499");
  EXPECT_EQ(append({0}), "row 0 has groups of 1 factors, expected 2");
  EXPECT_EQ(append({499, 6}), "no error");
  writer.finish();
  EXPECT_EQ(open_store(folder("a")).store.rows(), 1);
  EXPECT_TRUE(says(message_of<InputError>([&] {
                     StoreWriter(folder("b"), {.layout = Layout({"x"}), .factors = {{"a", 2}, {"a", 3}}});
                   }),
                   {"'a' is there twice"}));
}

// Writes a store with another description of its factors, whose checksums are right.
std::string with_factors(const Folder& folder, const std::string& factors) {
  const auto file = arrow::io::ReadableFile::Open(folder("a.store")).ValueOrDie();
  const auto reader = arrow::ipc::RecordBatchFileReader::Open(file).ValueOrDie();
  const auto metadata = reader->schema()->metadata()->Copy();
  EXPECT_TRUE(metadata->Set("flymc.factors", factors).ok());
  std::map<std::string, std::string> entries;
  for (const auto& [key, value] : metadata->sorted_pairs())
    if (key != "flymc.xxh3") entries.emplace(key, value);
  EXPECT_TRUE(metadata->Set("flymc.xxh3", store_format::checksum(entries)).ok());
  const std::string path = folder("forged.store");
  const auto out = arrow::io::FileOutputStream::Open(path).ValueOrDie();
  const auto writer = arrow::ipc::MakeFileWriter(out, reader->schema()->WithMetadata(metadata)).ValueOrDie();
  for (int b = 0; b < reader->num_record_batches(); ++b) {
    const auto [batch, notes] = reader->ReadRecordBatchWithCustomMetadata(b).ValueOrDie();
    EXPECT_TRUE(writer->WriteRecordBatch(*batch->ReplaceSchemaMetadata(metadata), notes).ok());
  }
  EXPECT_TRUE(writer->Close().ok() && out->Close().ok());
  return path;
}

TEST(StoreGroups, FilesThatLieAboutThemAreNamed) {
  const Folder folder;
  write_grouped(folder("a.store"), Layout({"x", "y"}), {}, 40000);
  const auto refusal = [&](const std::string& factors, Verify verify = Verify::metadata) {
    return message_of<InputError>([&] { open_store(with_factors(folder, factors), verify); });
  };
  EXPECT_EQ(refusal(R"([["shop",500],["day",7]])", Verify::numbers), "no error");
  for (const char* unreadable :
       {"", "{}", "[[\"shop\",500],[\"day\"]]", R"([["shop",500],["day",-7]])", R"([["shop",500],["day",7.5]])",
        R"([["shop",500],[7,7]])", R"([["shop",10000001],["day",7]])", R"([["shop",1e30],["day",7]])"})
    EXPECT_TRUE(says(refusal(unreadable), {"forged.store", "grouping factors cannot be read"})) << unreadable;
  EXPECT_TRUE(says(refusal(R"([["shop",500],["day",0]])"), {"forged.store", "'day' has 0 groups"}));
  EXPECT_TRUE(says(refusal(R"([["shop",500],["shop",7]])"), {"forged.store", "'shop' is there twice"}));
  EXPECT_TRUE(says(refusal("[]"), {"forged.store", "its columns are not"}));
  EXPECT_TRUE(says(refusal(R"([["shop",500]])"), {"forged.store", "its columns are not"}));
  EXPECT_TRUE(says(refusal(R"([["shop",500],["week",7]])"), {"forged.store", "its columns are not"}));
  EXPECT_TRUE(says(refusal(R"([["shop",500],["day",7],["hour",24]])"), {"forged.store", "its columns are not"}));

  // Fewer groups than the rows say: found where the numbers are verified, and by the index otherwise.
  const std::string fewer = R"([["shop",500],["day",6]])";
  EXPECT_TRUE(says(refusal(fewer, Verify::numbers), {"forged.store", "block 0's groups of 'day' are not all below 6"}));
  const StoreFile unverified = open_store(with_factors(folder, fewer), Verify::metadata);
  const Threads threads(2);
  EXPECT_TRUE(says(message_of<InputError>([&] { GroupIndex(unverified.store, 1, {threads}); }),
                   {"row 6, factor 'day': 6 is not"}));
}

TEST(StoreGroups, FlippedBitsAndShortFilesAreNoticed) {
  const Folder folder;
  write_grouped(folder("a.store"), Layout({"x"}), {}, 3000);
  const std::string whole = read_whole(folder("a.store"));
  const auto fails = [&](const std::string& bytes, Verify verify) {
    const std::string path = folder.write("bad.store", bytes);
    return message_of<InputError>([&] { open_store(path, verify); });
  };
  // The groups of the first factor lie behind the features and the targets.
  const StoreFile good = open_store(folder("a.store"));
  const auto at = static_cast<std::size_t>(reinterpret_cast<const std::byte*>(good.store.block(0).groups(0).data()) -
                                           good.mapped[0].data());
  for (const std::size_t flipped : {at, at + 4 * 2999, at + 4 * 3000 + 64}) {
    std::string bad = whole;
    bad[flipped] = static_cast<char>(bad[flipped] ^ 1);
    EXPECT_TRUE(says(fails(bad, Verify::numbers), {"bad.store", "block 0's checksum is wrong"})) << flipped;
  }
  for (std::size_t size = 0; size < whole.size(); size += whole.size() / 50)
    EXPECT_TRUE(says(fails(whole.substr(0, size), Verify::metadata), {"bad.store"})) << size;
}

TEST(StoreGroups, PartsHaveTheSameFactors) {
  const Folder folder;
  const Index block = StoreBuilder::rows_per_block(1);
  const auto write_part = [&](int part, Group groups, Index rows) {
    StoreWriter writer(
        folder(fmt::format("{}", part)),
        {.layout = Layout({"x"}), .factors = {{"shop", groups}}, .metadata = {{"part", fmt::format("{} of 2", part)}}});
    for (Index i = 0; i < rows; ++i) writer.append(std::vector{1.0}, 0.0, std::vector<Group>{static_cast<Group>(part)});
    writer.finish();
  };
  const Threads threads(2);
  const auto open = [&] { return open_store({folder("1"), folder("2")}, Verify::numbers, {threads}); };
  write_part(1, 3, block);
  write_part(2, 3, 5);
  const StoreFile both = open();
  const GroupIndex index(both.store, 0, {threads});
  EXPECT_TRUE(index.ordered());
  EXPECT_EQ(index.rows(1).size(), static_cast<std::size_t>(block));
  EXPECT_EQ(index.rows(2)[4], block + 4);
  write_part(2, 4, 5);
  EXPECT_TRUE(says(message_of<InputError>([&] { open(); }), {"2", "does not belong to"}));
}

}  // namespace
}  // namespace flymc
