// Stan CSV: the header, the names, exact digits, files that appear complete or not at all. round_trip_test.py reads the
// files with other programs.
#include "flymc/draws/files/stan_csv.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

#include "draws/files/known_draws.hpp"
#include "draws/files/scratch_folder.hpp"

namespace flymc {
namespace {

using testing::awkward_names;
using testing::known_draws;
using StanCsv = testing::ScratchFolder;

TEST_F(StanCsv, NamesKeepWhatReadersLeaveAlone) {
  const std::vector<std::string> expected{"(Intercept)",    "age_ in years", "region[b]",       "C(region)[T_b]",
                                          "log_income_age", "größe __1_",    "log_income_age_2"};
  EXPECT_EQ(stan_names(awkward_names()), expected);
  const std::vector<std::string> traps{"x..", " x ", "log_lik", "...", "a;b", "a`b", "a'b", "a\\b"};
  const std::vector<std::string> safe{"x_", "_x_", "log_lik_2", "_", "a_b", "a_b_2", "a_b_3", "a_b_4"};
  EXPECT_EQ(stan_names(traps), safe);
}

TEST_F(StanCsv, OneFilePerChainWithExactDigits) {
  const auto in_order = known_draws(2, 30, 7);
  std::vector<testing::Row> rows;
  for (std::size_t d = 0; d < 30; ++d)
    for (std::size_t c : std::initializer_list<std::size_t>{1, 0}) rows.push_back(in_order[c * 30 + d]);
  testing::write(folder_ / "a", awkward_names(), rows);
  const auto paths = export_stan_csv(DrawsFile(folder_ / "a"), folder_ / "out", {.seed = 5, .warmup = 200});
  ASSERT_EQ(paths.size(), 2u);
  EXPECT_EQ(paths[1].filename(), "out_2.csv");
  EXPECT_EQ(files(), 3);

  std::istringstream text(read_whole(paths[0]));  // chain 1 comes first in the file
  std::string line, comments;
  while (std::getline(text, line) && line.starts_with("#")) comments += line + "\n";
  for (const char* entry : {"num_samples = 30\n", "num_warmup = 200\n", "save_warmup = 0\n", "id = 2\n", "seed = 5\n",
                            "# coefficient 4 was C(region)[T.b]\n"})
    EXPECT_NE(comments.find(entry), std::string::npos) << entry;
  EXPECT_EQ(comments.find("coefficient 3"), std::string::npos);
  EXPECT_EQ(line,
            "lp__,accept_stat__,bright__,queries__,(Intercept),age_ in years,region[b],C(region)[T_b],log_income_age,"
            "größe __1_,log_income_age_2");
  std::size_t d = 30;
  for (; std::getline(text, line); ++d) {
    std::istringstream cells(line);
    std::string cell;
    std::vector<double> values;
    while (std::getline(cells, cell, ',')) values.push_back(std::strtod(cell.c_str(), nullptr));
    ASSERT_EQ(values.size(), 11u);
    EXPECT_EQ(values[0], in_order[d].stats.log_density);
    EXPECT_EQ(values[1], in_order[d].stats.acceptance);
    EXPECT_EQ(values[2], static_cast<double>(in_order[d].stats.bright));
    EXPECT_EQ(values[3], static_cast<double>(in_order[d].stats.queries));
    for (std::size_t j = 0; j < 7; ++j) EXPECT_EQ(values[4 + j], in_order[d].theta[j]);
  }
  EXPECT_EQ(d, 60u);
}

// Files of chains that this run does not have would be read together with its own.
TEST_F(StanCsv, AnEarlierExportOfMoreChainsIsGone) {
  testing::write(folder_ / "a", {"x"}, known_draws(3, 5, 1));
  testing::write(folder_ / "b", {"x"}, known_draws(1, 5, 1));
  export_stan_csv(DrawsFile(folder_ / "a"), folder_ / "out");
  write_whole(folder_ / "out_4.csv", "a table of somebody\n");
  export_stan_csv(DrawsFile(folder_ / "b"), folder_ / "out");
  EXPECT_TRUE(std::filesystem::exists(folder_ / "out_1.csv"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out_2.csv"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out_3.csv"));
  EXPECT_EQ(read_whole(folder_ / "out_4.csv"), "a table of somebody\n");
}

TEST_F(StanCsv, WordsThatArvizTakesForStansOwnAreWrittenOtherwise) {
  testing::write(folder_ / "a", {"wait: seconds (Total)", "inverse mass matrix."}, known_draws(1, 2, 2));
  const auto text = read_whole(export_stan_csv(DrawsFile(folder_ / "a"), folder_ / "out").front());
  const auto comments = text.substr(0, text.find("\nlp__"));
  EXPECT_EQ(comments.find("seconds"), std::string::npos);
  EXPECT_EQ(comments.find("inverse mass matrix"), std::string::npos);
}

TEST_F(StanCsv, AFullDiskIsNamedAndLeavesNothing) {
  testing::write(folder_ / "a", awkward_names(), known_draws(2, 500, 7));
  std::string text;
  {
    const testing::SmallDisk disk(10'000);
    text = testing::message<FileError>([&] { export_stan_csv(DrawsFile(folder_ / "a"), folder_ / "out"); });
  }
  EXPECT_NE(text.find("out_1.csv: cannot be written"), std::string::npos) << text;
  EXPECT_EQ(files(), 1);
  text = testing::message<FileError>([&] { export_stan_csv(DrawsFile(folder_ / "a"), folder_ / "no" / "out"); });
  EXPECT_NE(text.find("no/out_1.csv:"), std::string::npos) << text;
}

}  // namespace
}  // namespace flymc
