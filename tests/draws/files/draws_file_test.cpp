// Draws are read bit for bit, files appear complete or not at all, and errors name the file.
#include "flymc/draws/files/draws_file.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <limits>

#include "draws/files/known_draws.hpp"
#include "draws/files/scratch_folder.hpp"

namespace flymc {
namespace {

using testing::awkward_names;
using testing::known_draws;
using testing::message;
using testing::Row;
using DrawsFileTest = testing::ScratchFolder;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }

// Reads with scan() and compares bit for bit with the rows that were written.
void expect_rows(const DrawsFile& file, const std::vector<Row>& rows) {
  std::size_t next = 0;
  file.scan([&](const DrawsBatch& batch) {
    ASSERT_LE(batch.theta.size() * 8, DrawsFile::batch_bytes);
    for (std::size_t i = 0; i < batch.chains.size(); ++i, ++next) {
      ASSERT_LT(next, rows.size());
      ASSERT_EQ(batch.chains[i], rows[next].chain);
      ASSERT_EQ(batch.draws[i], rows[next].draw);
      for (std::size_t j = 0; j < rows[next].theta.size(); ++j)
        ASSERT_EQ(bits(batch.theta(static_cast<Index>(i), static_cast<Index>(j))), bits(rows[next].theta[j]));
      ASSERT_EQ(bits(batch.stats[i].log_density), bits(rows[next].stats.log_density));
      ASSERT_EQ(batch.stats[i].bright, rows[next].stats.bright);
      ASSERT_EQ(batch.stats[i].queries, rows[next].stats.queries);
      ASSERT_EQ(batch.stats[i].acceptance, rows[next].stats.acceptance);
    }
  });
  EXPECT_EQ(next, rows.size());
}

TEST_F(DrawsFileTest, DrawsComeBackBitForBit) {
  auto rows = known_draws(2, 40, 7);
  rows[3].theta = {std::numeric_limits<double>::quiet_NaN(),
                   std::numeric_limits<double>::infinity(),
                   -0.0,
                   5e-324,
                   std::numeric_limits<double>::max(),
                   0.1,
                   -std::numeric_limits<double>::infinity()};
  rows[4].stats = {std::nan("7"), std::numeric_limits<RowId>::max(), std::numeric_limits<RowId>::min(), 0.3};
  const DrawsMetadata metadata{{"seed", "7"}, {"ünïcode", "\"a, b\"\n"}};
  testing::write(folder_ / "a.parquet", awkward_names(), rows, metadata);
  const DrawsFile file(folder_ / "a.parquet");
  EXPECT_EQ(file.names(), awkward_names());
  EXPECT_EQ(file.metadata(), metadata);
  ASSERT_EQ(file.chains(), 2u);
  EXPECT_EQ(file.draws(0), 40);
  EXPECT_EQ(file.draws(1), 40);
  expect_rows(file, rows);
  EXPECT_EQ(files(), 1);
}

TEST_F(DrawsFileTest, ColumnsAreSplitByChainThoughTheRowsAlternate) {
  const auto in_order = known_draws(3, 50, 2);
  std::vector<Row> rows;
  for (std::size_t d = 0; d < 50; ++d)
    for (std::size_t c : std::initializer_list<std::size_t>{2, 0, 1})
      if (c != 1 || d < 20) rows.push_back(in_order[c * 50 + d]);
  testing::write(folder_ / "a", {"x", "y"}, rows);
  const DrawsFile file(folder_ / "a");
  ASSERT_EQ(file.chains(), 3u);
  const std::size_t number[] = {2, 0, 1};
  for (std::size_t c = 0; c < 3; ++c) {
    EXPECT_EQ(file.chain_number(c), static_cast<std::int32_t>(number[c]));
    EXPECT_EQ(file.draws(c), number[c] == 1 ? 20 : 50);
    for (Index j = 0; j < 2; ++j) {
      const auto values = file.coefficient(j);
      ASSERT_EQ(values[c].size(), static_cast<std::size_t>(file.draws(c)));
      for (std::size_t d = 0; d < values[c].size(); ++d)
        EXPECT_EQ(values[c][d], in_order[number[c] * 50 + d].theta[static_cast<std::size_t>(j)]);
    }
    EXPECT_EQ(file.statistic("bright__")[c][5], static_cast<double>(in_order[number[c] * 50 + 5].stats.bright));
    EXPECT_EQ(file.statistic("queries__")[c][5], static_cast<double>(in_order[number[c] * 50 + 5].stats.queries));
    EXPECT_EQ(file.statistic("log_density__")[c][5], in_order[number[c] * 50 + 5].stats.log_density);
    EXPECT_EQ(file.statistic("acceptance__")[c][5], 0.8);
  }
  EXPECT_TRUE(has(message<InputError>([&] { file.statistic("lp__"); }), "log_density__"));
  EXPECT_THROW(file.coefficient(2), InputError);
  EXPECT_THROW(file.coefficient(-1), InputError);
}

TEST_F(DrawsFileTest, TwoThousandCoefficientsGoThroughTwoRowGroups) {
  const auto rows = known_draws(2, 1100, 2000);
  std::vector<std::string> names;
  for (int j = 0; j < 2000; ++j) names.push_back("x" + std::to_string(j));
  testing::write(folder_ / "a", names, rows);
  const DrawsFile file(folder_ / "a");
  expect_rows(file, rows);
  ASSERT_GT(rows.size() * 2000 * 8, static_cast<std::size_t>(DrawsWriter::row_group_bytes));
  EXPECT_EQ(file.coefficient(1999)[1][1099], rows.back().theta[1999]);
}

TEST_F(DrawsFileTest, PartsReadAsOne) {
  const auto rows = known_draws(1, 100, 3);
  const std::span all(rows);
  const std::vector<std::string> names{"a", "b", "c"};
  testing::write(folder_ / "0", names, all.first(30), {{"seed", "1"}});
  testing::write(folder_ / "1", names, all.subspan(30, 0), {{"seed", "1"}});
  testing::write(folder_ / "2", names, all.subspan(30), {{"seed", "1"}});
  const DrawsFile file({folder_ / "0", folder_ / "1", folder_ / "2"});
  expect_rows(file, rows);
  EXPECT_EQ(file.coefficient(2)[0][99], rows[99].theta[2]);

  EXPECT_TRUE(has(message<InputError>([&] { DrawsFile({folder_ / "2", folder_ / "0"}); }), "in order"));
  EXPECT_TRUE(has(message<InputError>([&] { DrawsFile({folder_ / "0", folder_ / "0"}); }), "each once"));
  testing::write(folder_ / "other", {"a", "b", "d"}, all.subspan(30), {{"seed", "1"}});
  EXPECT_TRUE(has(message<InputError>([&] { DrawsFile({folder_ / "0", folder_ / "other"}); }), "coefficients differ"));
  testing::write(folder_ / "other", names, all.subspan(30), {{"seed", "2"}});
  EXPECT_TRUE(has(message<InputError>([&] { DrawsFile({folder_ / "0", folder_ / "other"}); }), "metadata differ"));
  EXPECT_THROW(DrawsFile(std::vector<std::filesystem::path>{}), InputError);
}

TEST_F(DrawsFileTest, NoDrawsIsAFileToo) {
  testing::write(folder_ / "a", {"x"}, {});
  const DrawsFile file(folder_ / "a");
  EXPECT_EQ(file.chains(), 0u);
  EXPECT_TRUE(file.coefficient(0).empty());
  expect_rows(file, {});
}

TEST_F(DrawsFileTest, NamesThatCannotBeColumnsAreRefused) {
  for (const std::vector<std::string>& names :
       {std::vector<std::string>{""}, {"chain"}, {"Draw"}, {"lp__"}, {"x", "x"}, {"x", "X"}, {"\xff"}, {"a\nb"}})
    EXPECT_THROW(DrawsWriter(folder_ / "a", names), InputError) << names.back();
  EXPECT_NO_THROW(check_coefficient_names(awkward_names()));
  DrawsWriter writer(folder_ / "a", {"x", "y"});
  EXPECT_THROW(writer.append(0, 0, std::vector{1.0}, {}), InputError);
}

TEST_F(DrawsFileTest, WithoutFinishTheOldFileStands) {
  const auto rows = known_draws(1, 5, 1);
  testing::write(folder_ / "a", {"x"}, rows);
  {
    DrawsWriter writer(folder_ / "a", {"y"});
    writer.append(0, 0, std::vector{1.0}, {});
  }
  EXPECT_EQ(DrawsFile(folder_ / "a").names().front(), "x");
  EXPECT_EQ(files(), 1);
}

TEST_F(DrawsFileTest, AfterFinishNothingCanBeAppended) {
  DrawsWriter writer(folder_ / "a", {"x"});
  writer.finish();
  EXPECT_THROW(writer.append(0, 0, std::vector{1.0}, {}), FileError);
  EXPECT_THROW(writer.finish(), FileError);
}

TEST_F(DrawsFileTest, AFullDiskIsNamedAndLeavesNothing) {
  const auto rows = known_draws(1, 3000, 50);
  const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for (int j = 0; j < 50; ++j) result.push_back("x" + std::to_string(j));
    return result;
  }();
  for (const rlim_t bytes : std::initializer_list<rlim_t>{0, 3, 5000, 500'000}) {
    std::string text;
    {
      const testing::SmallDisk disk(bytes);
      text = message<FileError>([&] {
        for (int repeat = 0; repeat < 10; ++repeat) testing::write(folder_ / "a", names, rows);
      });
    }
    EXPECT_TRUE(has(text, (folder_ / "a").string() + ":") && has(text, "space")) << bytes << ": " << text;
    EXPECT_EQ(files(), 0) << bytes;
  }
  EXPECT_TRUE(has(message<FileError>([&] { DrawsWriter(folder_ / "no" / "a", names); }), "no/a:"));
}

TEST_F(DrawsFileTest, AWriterThatFailedStaysFailed) {
  DrawsWriter writer(folder_ / "a", {"x"});
  const std::vector<double> theta{1.0};
  {
    const testing::SmallDisk disk(100);
    EXPECT_THROW(for (std::int64_t d = 0; d < 1'000'000; ++d) writer.append(0, d, {theta}, {}), FileError);
  }
  EXPECT_THROW(writer.append(0, 0, theta, {}), FileError);
  EXPECT_THROW(writer.finish(), FileError);
}

TEST_F(DrawsFileTest, FilesThatAreCutOffOrForeignAreNamed) {
  const auto path = folder_ / "a.parquet";
  testing::write(path, awkward_names(), known_draws(1, 200, 7));
  const auto whole = read_whole(path);
  const auto names_it = [&](const std::string& text) { return has(text, path.string() + ":") && has(text, "again"); };
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{3}, std::size_t{200}, whole.size() / 2, whole.size() - 1}) {
    write_whole(path, whole.substr(0, size));
    EXPECT_TRUE(names_it(message<InputError>([&] { DrawsFile{path}; }))) << size;
  }
  write_whole(path, "chain,draw,x\n0,0,1.5\n");
  EXPECT_TRUE(names_it(message<InputError>([&] { DrawsFile{path}; })));
  EXPECT_TRUE(has(message<FileError>([&] { DrawsFile{folder_ / "none"}; }), "none:"));
}

TEST_F(DrawsFileTest, ADamagedPageIsFound) {
  const auto path = folder_ / "a.parquet";
  testing::write(path, {"x", "y"}, known_draws(1, 20'000, 2));
  const auto whole = read_whole(path);
  int found = 0;
  for (int k = 1; k <= 8; ++k) {  // anywhere in the columns; the footer is a few hundred bytes at the end
    auto damaged = whole;
    const std::size_t place = (whole.size() - 2000) * static_cast<std::size_t>(k) / 9;
    damaged[place] = static_cast<char>(damaged[place] ^ 0x10);
    write_whole(path, damaged);
    found += has(message<InputError>([&] { DrawsFile(path).scan([](const DrawsBatch&) {}); }), path.string() + ":");
  }
  EXPECT_EQ(found, 8);
}

}  // namespace
}  // namespace flymc
