// NetCDF: refused inputs, and files that appear complete or not at all. round_trip_test.py reads files with ArviZ.
#include "flymc/draws/files/netcdf.hpp"

#include <gtest/gtest.h>

#include "draws/files/known_draws.hpp"
#include "draws/files/scratch_folder.hpp"

namespace flymc {
namespace {

using testing::awkward_names;
using testing::known_draws;
using testing::message;
using Netcdf = testing::ScratchFolder;

TEST_F(Netcdf, TheSameDrawsGiveTheSameBytes) {
  const auto in_order = known_draws(2, 300, 7);
  std::vector<testing::Row> alternating;
  for (std::size_t d = 0; d < 300; ++d)
    for (std::size_t c : std::initializer_list<std::size_t>{0, 1}) alternating.push_back(in_order[c * 300 + d]);
  testing::write(folder_ / "a", awkward_names(), in_order);
  testing::write(folder_ / "b", awkward_names(), alternating);
  for (const char* name : {"a", "b"})
    export_netcdf(DrawsFile(folder_ / name), folder_ / (std::string(name) + ".nc"), {.created_at = "2020-01-01"});
  EXPECT_TRUE(read_whole(folder_ / "a.nc") == read_whole(folder_ / "b.nc"));
  EXPECT_EQ(files(), 4);
  // Space is allocated in advance; the unused part must not remain.
  EXPECT_LT(std::filesystem::file_size(folder_ / "a.nc"), 2u * 300 * 11 * 8 + 60'000);
}

TEST_F(Netcdf, ChainsOfUnequalLengthAreRefused) {
  const auto rows = known_draws(2, 10, 7);
  testing::write(folder_ / "a", awkward_names(), std::span(rows).first(15));
  const auto text = message<InputError>([&] { export_netcdf(DrawsFile(folder_ / "a"), folder_ / "a.nc"); });
  EXPECT_NE(text.find("chain 1 has 5 draws and chain 0 has 10"), std::string::npos) << text;
  testing::write(folder_ / "a", awkward_names(), {});
  EXPECT_THROW(export_netcdf(DrawsFile(folder_ / "a"), folder_ / "a.nc"), InputError);
  EXPECT_EQ(files(), 1);
}

TEST_F(Netcdf, AFullDiskIsNamedAndLeavesTheOldFile) {
  testing::write(folder_ / "a", awkward_names(), known_draws(2, 5000, 7));
  write_whole(folder_ / "a.nc", "old");
  for (const rlim_t bytes : std::initializer_list<rlim_t>{0, 100, 20'000, 300'000, 800'000}) {
    std::string text;
    {
      const testing::SmallDisk disk(bytes);
      text = message<FileError>([&] { export_netcdf(DrawsFile(folder_ / "a"), folder_ / "a.nc"); });
    }
    EXPECT_NE(text.find("a.nc: cannot be written"), std::string::npos) << bytes << ": " << text;
    EXPECT_EQ(read_whole(folder_ / "a.nc"), "old");
    EXPECT_EQ(files(), 2);
  }
  const auto text = message<FileError>([&] { export_netcdf(DrawsFile(folder_ / "a"), folder_ / "no" / "a.nc"); });
  EXPECT_NE(text.find("no/a.nc:"), std::string::npos) << text;
  export_netcdf(DrawsFile(folder_ / "a"), folder_ / "a.nc");  // the library still works afterwards
  EXPECT_GT(std::filesystem::file_size(folder_ / "a.nc"), 560'000u);
}

}  // namespace
}  // namespace flymc
