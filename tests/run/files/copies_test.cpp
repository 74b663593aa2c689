// Copies of runs, finished runs made from stopped ones, and single rows under the draws.
#include "flymc/run/files/stages/copies.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "draws/files/scratch_folder.hpp"
#include "flymc/data/files/store/store_file.hpp"
#include "flymc/draws/files/draws_file.hpp"
#include "flymc/run/files/compare/inspect.hpp"
#include "flymc/run/files/folder/report.hpp"
#include "flymc/run/files/stages/run.hpp"
#include "flymc/run/files/stages/run_on_another.hpp"
#include "run/files/stopper.hpp"

namespace flymc {
namespace {

using flymc::testing::message;
using flymc::testing::Stopper;

class Copies : public flymc::testing::ScratchFolder {
 protected:
  Settings settings() {
    const auto path = folder_ / "table.csv";
    std::ofstream out(path);
    out << "x,w,y\n";
    const PhiloxRandom random(5, 0, 0);
    for (std::uint64_t i = 0; i < 300; ++i) {
      std::vector<double> x(2);
      random.normals(Purpose::simulate, 2 * i, x);
      out << 10.0 + 3.0 * x[0] << ',' << x[1] << ',' << (random.uniform(Purpose::start, i) < 0.3 + 0.3 * (x[0] > 0.0))
          << '\n';
    }
    Settings s;
    s.table = {path.string()};
    s.target = "y";
    s.fit.bound = BoundKind::sharp;  // for so small a table the program would choose regular MCMC
    s.fit.chains = 2;
    s.fit.warmup = 100;
    s.fit.draws = 80;
    s.until_enough = false;
    s.fit.threads = 1;
    return s;
  }
  RunDirectory finished(const std::string& name) {
    RunDirectory run = RunDirectory::create(folder_ / name, settings());
    EXPECT_TRUE(complete(run, quiet_));
    return run;
  }
  Monitor quiet_;
};

TEST_F(Copies, ACopyOfASampledRunNeedsNoOther) {
  const RunDirectory base = finished("base");
  Settings other = settings_on(base, folder_ / "again");
  other.prior = "normal(0, 1); x: laplace(0, 0.1)";
  Settings misspelt = other;
  misspelt.prior = "normal(0, 1); X: flat";
  EXPECT_NE(message<InputError>([&] { create_on(base, folder_ / "again", misspelt); }).find("'X' is the name"),
            std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "again"));
  const RunDirectory again = create_on(base, folder_ / "again", other);
  ASSERT_TRUE(complete(again, quiet_));
  const RunDirectory copy = copy_run(again, folder_ / "copy");
  std::filesystem::remove_all(base.path());
  std::filesystem::remove_all(again.path());
  EXPECT_TRUE(copy.finished());
  EXPECT_TRUE(std::filesystem::exists(copy.rows()));
  EXPECT_EQ(copy.settings().from, "");
  // A copy without its draws recreates the same draws, because it has all other files.
  const auto draws = DrawsFile(copy.draws()).coefficient(1);
  for (const char* name : {"draws.parquet", "report.json", "chains"}) std::filesystem::remove_all(copy.path() / name);
  ASSERT_TRUE(complete(RunDirectory(copy.path()), quiet_));
  EXPECT_EQ(DrawsFile(copy.draws()).coefficient(1), draws);
}

TEST_F(Copies, AStoppedRunIsConcludedWithTheDrawsItHas) {
  const RunDirectory whole = finished("whole");
  const RunDirectory run = RunDirectory::create(folder_ / "run", settings());
  Stopper warming_up(50);
  ASSERT_FALSE(complete(run, warming_up));
  EXPECT_FALSE(conclude(run, folder_ / "none"));

  Stopper in_one(50 + 30);  // one thread: the other chain has not begun
  ASSERT_FALSE(complete(run, in_one));
  const RunDirectory one = *conclude(run, folder_ / "one");
  EXPECT_EQ(one.settings().fit.chains, 1);
  const int length = one.settings().fit.draws;
  EXPECT_GT(length, 20);
  EXPECT_LT(length, 40);

  Stopper in_the_other(50 + 100 + 60);
  ASSERT_FALSE(complete(run, in_the_other));
  const RunDirectory two = *conclude(run, folder_ / "two");
  EXPECT_EQ(two.settings().fit.chains, 2);
  EXPECT_GT(two.settings().fit.draws, 40);
  for (const RunDirectory* const part : {&one, &two}) {
    EXPECT_TRUE(part->finished());
    const DrawsFile draws(part->draws()), all(whole.draws());
    for (Index j = 0; j < all.coefficients(); ++j)
      for (std::size_t c = 0; c < draws.chains(); ++c) {
        auto expected = all.coefficient(j)[static_cast<std::size_t>(draws.chain_number(c))];
        expected.resize(static_cast<std::size_t>(draws.draws(c)));
        EXPECT_EQ(draws.coefficient(j)[c], expected);
      }
    const RunReport report = read_report(*part);
    EXPECT_EQ(report.draws_per_chain, part->settings().fit.draws);
    EXPECT_EQ(report.laplace_mean, read_report(whole).laplace_mean);
    EXPECT_EQ(summarise(report, draws).parameters.size(), 3u);
  }
  // The stopped run can be resumed.
  ASSERT_TRUE(complete(run, quiet_));
  EXPECT_EQ(DrawsFile(run.draws()).coefficient(2), DrawsFile(whole.draws()).coefficient(2));
}

TEST_F(Copies, LogLikelihoodIsThatOfTheTablesRows) {
  const RunDirectory run = finished("run");
  const DrawsFile draws(run.draws());
  const RowMatrix values = log_likelihood(run, std::vector<RowId>{0, 299});
  ASSERT_EQ(values.rows(), 160);
  ASSERT_EQ(values.cols(), 2);
  std::ifstream in(folder_ / "table.csv");
  std::string line;
  std::getline(in, line);
  std::getline(in, line);
  double x = 0.0, w = 0.0, y = 0.0;
  ASSERT_EQ(std::sscanf(line.c_str(), "%lf,%lf,%lf", &x, &w, &y), 3);
  for (const std::size_t draw : {0u, 79u}) {
    const double eta =
        draws.coefficient(0)[1][draw] + draws.coefficient(1)[1][draw] * x + draws.coefficient(2)[1][draw] * w;
    EXPECT_NEAR(values(80 + static_cast<Index>(draw), 0), -std::log1p(std::exp(y > 0.5 ? -eta : eta)), 1e-12);
  }
  EXPECT_EQ(message<InputError>([&] { log_likelihood(run, std::vector<RowId>{300}); }),
            "there is no row 300; the run has 300, which count from 0");
}

// Continues a chain: its bright rows are those that a longer run counts.
TEST_F(Copies, BrightRowsAreThoseOfTheChainThatGoesOn) {
  const RunDirectory run = finished("run");
  Settings more = settings();
  more.fit.draws = 120;
  more.until_enough = false;
  const RunDirectory longer = RunDirectory::create(folder_ / "longer", more);
  ASSERT_TRUE(complete(longer, quiet_));
  const auto counts = DrawsFile(longer.draws()).statistic("bright__")[1];
  const auto bright = bright_rows(run, 1, 40);
  ASSERT_EQ(bright.size(), 40u);
  for (std::size_t i = 0; i < bright.size(); ++i) EXPECT_EQ(static_cast<double>(bright[i].size()), counts[80 + i]) << i;
  EXPECT_NE(message<InputError>([&] { bright_rows(run, 2, 1); }).find("there is no checkpoint of chain 2"),
            std::string::npos);
}

}  // namespace
}  // namespace flymc
