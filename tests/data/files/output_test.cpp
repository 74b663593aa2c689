// Outputs that are files. tests/cli/stores_test.py has those that are objects.
#include "flymc/data/files/table/output.hpp"

#include <arrow/io/interfaces.h>
#include <arrow/status.h>
#include <gtest/gtest.h>

#include "flymc/core/files.hpp"
#include "support.hpp"

namespace flymc {
namespace {

TEST(Output, ReplacesTheFileWithTheCommit) {
  const Folder folder;
  const std::string file = folder.write("out.csv", "before");
  {
    PendingOutput output(file);
    output.require(output.stream()->Write("after"));
    EXPECT_EQ(read_whole(file), "before");
    output.commit();
  }
  EXPECT_EQ(read_whole(file), "after");
}

TEST(Output, WithoutACommitLeavesTheFileAsItWas) {
  const Folder folder;
  const std::string file = folder.write("out.csv", "before");
  {
    PendingOutput output(file);
    output.require(output.stream()->Write("after"));
    EXPECT_THROW(output.require(arrow::Status::IOError("no space")), FileError);
  }
  EXPECT_EQ(read_whole(file), "before");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(Output, ExtensionIsWithoutTheSettingsOfAStore) {
  EXPECT_EQ(extension_of("folder.d/out.parquet"), ".parquet");
  EXPECT_EQ(extension_of("s3://bucket/out.csv?region=eu-west-1"), ".csv");
  EXPECT_EQ(extension_of("s3://bucket.eu/out"), "");
}

}  // namespace
}  // namespace flymc
