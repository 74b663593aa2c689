// Files appear whole or not at all.
#include "flymc/core/files.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <set>

#include "problems/small_disk.hpp"

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
  std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) names.insert(entry.path().filename());
    return names;
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
  const auto path = folder_ / "a";
  write_whole(path, "old");
  {
    const problems::SmallDisk disk(2);
    EXPECT_THROW(write_whole(path, "new"), FileError);
  }
  EXPECT_EQ(read_whole(path), "old");
  EXPECT_EQ(files().size(), 1u);
}

// A stranger has put links at the paths that the program is about to write.
TEST_F(Files, LinksInTheWayOfAPartialFileAreNotFollowed) {
  const auto path = folder_ / "a", precious = folder_ / "precious";
  write_whole(precious, "precious");
  std::filesystem::create_symlink(precious, path.string() + ".partial");
  std::filesystem::create_symlink(precious, path.string() + ".00000000.partial");
  write_whole(path, "new");
  EXPECT_EQ(read_whole(path), "new");
  EXPECT_EQ(read_whole(precious), "precious");
  std::filesystem::create_symlink(precious, folder_ / "b");
  EXPECT_THROW(write_at(folder_ / "b", 0, std::as_bytes(std::span("xyz"))), FileError);
  EXPECT_EQ(read_whole(precious), "precious");
}

// A link at the target itself is replaced, not followed.
TEST_F(Files, ALinkAtTheTargetIsReplaced) {
  write_whole(folder_ / "precious", "precious");
  std::filesystem::create_symlink(folder_ / "precious", folder_ / "a");
  write_whole(folder_ / "a", "new");
  EXPECT_EQ(read_whole(folder_ / "a"), "new");
  EXPECT_EQ(read_whole(folder_ / "precious"), "precious");
}

TEST_F(Files, WritersOfOneFileDoNotMixUpWhatTheyWrite) {
  const auto path = folder_ / "a";
  PendingFile one(path), other(path);
  ASSERT_NE(one.path(), other.path());
  std::ofstream(one.path()) << std::string(3000, '1');
  std::ofstream(other.path()) << "22";
  PendingFile third(path);  // does not remove the files of the others
  one.commit();
  EXPECT_EQ(read_whole(path), std::string(3000, '1'));
  other.commit();
  EXPECT_EQ(read_whole(path), "22");
}

TEST_F(Files, WhatADeadProcessLeftBehindIsRemoved) {
  const auto path = folder_ / "a";
  std::ofstream(PendingFile::path_of(path, 7)) << "half";
  std::ofstream(folder_ / "a.mine.partial") << "of somebody";
  write_whole(path, "new");
  EXPECT_EQ(files(), (std::set<std::string>{"a", "a.mine.partial"}));
  EXPECT_EQ(PendingFile::target_name("a.b.0123abcd.partial"), "a.b");
  EXPECT_EQ(PendingFile::target_name("a.b.partial"), "a.b");
  EXPECT_EQ(PendingFile::target_name("a.b"), "");
}

TEST_F(Files, PipesAndFoldersAreNoFiles) {
  const auto pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0666), 0);
  for (const auto& [path, kind] : {std::pair(pipe, "a pipe"), std::pair(folder_, "a folder"),
                                   std::pair(std::filesystem::path("/dev/null"), "a device")}) {
    EXPECT_EQ(no_file_but(path), kind);
    EXPECT_THROW(read_whole(path), FileError);
    EXPECT_THROW(require_file(path), FileError);
    EXPECT_THROW(write_whole(path, "x"), FileError);
    std::byte one{};
    EXPECT_THROW(read_at(path, 0, {&one, 1}), FileError);
  }
  EXPECT_EQ(no_file_but(folder_ / "nothing"), "");
}

}  // namespace
}  // namespace flymc
