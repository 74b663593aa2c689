// Files appear whole or not at all.
#include "flymc/core/files.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace flymc {
namespace {

class Files : public ::testing::Test {
 protected:
  // A folder for each test: ctest runs them side by side.
  std::filesystem::path folder_ =
      std::filesystem::path(::testing::TempDir()) / ::testing::UnitTest::GetInstance()->current_test_info()->name();
  void SetUp() override {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
};

TEST_F(Files, WriteWholeReplacesAndLeavesNothingElse) {
  const auto path = folder_ / "a";
  write_whole(path, "one");
  write_whole(path, std::string("two\0three", 9));
  EXPECT_EQ(read_whole(path), std::string("two\0three", 9));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(Files, WithoutCommitTheOldFileStands) {
  const auto path = folder_ / "a";
  write_whole(path, "old");
  {
    PendingFile pending(path);
    std::ofstream(pending.path()) << "half of the n";
    EXPECT_EQ(read_whole(path), "old");
  }
  EXPECT_EQ(read_whole(path), "old");
  EXPECT_FALSE(std::filesystem::exists(path.string() + ".partial"));
}

TEST_F(Files, ErrorsNameTheFile) {
  const auto message = [](const auto& call) {
    try {
      call();
    } catch (const FileError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  const auto path = folder_ / "no such folder" / "a";
  EXPECT_NE(message([&] { write_whole(path, "x"); }).find(path.string()), std::string::npos);
  EXPECT_NE(message([&] { read_whole(path); }).find(path.string()), std::string::npos);
}

TEST_F(Files, AFullDiskIsAnErrorAndKeepsTheOldFile) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "needs /dev/full";
  const auto path = folder_ / "a";
  write_whole(path, "old");
  std::filesystem::create_symlink("/dev/full", path.string() + ".partial");
  EXPECT_THROW(write_whole(path, "new"), FileError);
  EXPECT_EQ(read_whole(path), "old");
}

}  // namespace
}  // namespace flymc
