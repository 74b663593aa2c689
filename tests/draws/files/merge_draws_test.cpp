// The merged file depends only on the draws.
#include <gtest/gtest.h>

#include "draws/files/known_draws.hpp"
#include "draws/files/scratch_folder.hpp"

namespace flymc {
namespace {

using testing::known_draws;
using testing::message;
using Merge = testing::ScratchFolder;
using Paths = std::vector<std::filesystem::path>;

const std::vector<std::string> names{"a", "b", "c"};

TEST_F(Merge, TheBytesDoNotDependOnTheParts) {
  const std::int64_t draws = 250'000;  // more than a row group
  const auto rows = known_draws(2, draws, 3);
  const DrawsMetadata metadata{{"seed", "1"}};
  testing::write(folder_ / "at once", names, rows, metadata);
  ASSERT_GT(rows.size() * 9 * 8, static_cast<std::size_t>(DrawsWriter::row_group_bytes));

  const auto split = [&](std::vector<std::int64_t> cuts) {
    std::vector<Paths> parts(2);
    cuts.push_back(draws);
    for (std::size_t c = 0; c < 2; ++c) {
      std::int64_t from = 0;
      for (const auto to : cuts) {
        parts[c].push_back(folder_ / ("part " + std::to_string(c) + " " + std::to_string(parts[c].size())));
        testing::write(
            parts[c].back(), names,
            std::span(rows).subspan(c * draws + static_cast<std::size_t>(from), static_cast<std::size_t>(to - from)),
            metadata);
        from = to;
      }
    }
    merge_draws(parts, folder_ / "merged");
    return read_whole(folder_ / "merged");
  };
  const auto expected = read_whole(folder_ / "at once");
  EXPECT_TRUE(split({}) == expected);
  EXPECT_TRUE(split({1, 2, 2, 30'000}) == expected);
  EXPECT_TRUE(split({12'345, 249'999}) == expected);
  auto other = rows;
  other.back().theta[2] = std::nextafter(other.back().theta[2], 0.0);
  testing::write(folder_ / "at once", names, other, metadata);
  EXPECT_FALSE(read_whole(folder_ / "at once") == expected);
}

TEST_F(Merge, WhatDoesNotBelongTogetherIsRefusedAndTheOldFileStands) {
  const auto rows = known_draws(2, 20, 3);
  const std::span all(rows);
  write_whole(folder_ / "target", "old");
  testing::write(folder_ / "both", names, all);
  testing::write(folder_ / "0", names, all.first(20));
  testing::write(folder_ / "0 later", names, all.subspan(10, 10));
  testing::write(folder_ / "1", names, all.subspan(20), {{"seed", "2"}});
  const auto refusal = [&](const std::vector<Paths>& parts) {
    return message<InputError>([&] { merge_draws(parts, folder_ / "target"); });
  };
  EXPECT_NE(refusal({{folder_ / "both"}}).find("2 chains"), std::string::npos);
  EXPECT_NE(refusal({{folder_ / "0"}, {folder_ / "0 later"}}).find("both begin chain 0"), std::string::npos);
  EXPECT_NE(refusal({{folder_ / "0"}, {folder_ / "1"}}).find("one run"), std::string::npos);
  EXPECT_NE(refusal({{folder_ / "0", folder_ / "0 later"}}).find("in order"), std::string::npos);
  EXPECT_NE(refusal({}).find("no parts"), std::string::npos);
  EXPECT_EQ(read_whole(folder_ / "target"), "old");
}

TEST_F(Merge, AFullDiskLeavesTheOldFile) {
  testing::write(folder_ / "0", names, known_draws(1, 5000, 3));
  write_whole(folder_ / "target", "old");
  {
    const testing::SmallDisk disk(1000);
    EXPECT_THROW(merge_draws({{folder_ / "0"}}, folder_ / "target"), FileError);
  }
  EXPECT_EQ(read_whole(folder_ / "target"), "old");
  EXPECT_EQ(files(), 2);
}

}  // namespace
}  // namespace flymc
