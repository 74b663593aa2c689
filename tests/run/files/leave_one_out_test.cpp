// Leave-one-out of runs against the plain sums over draws and rows, and its text.
#include "flymc/run/files/compare/leave_one_out.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>

#include "draws/files/scratch_folder.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/random.hpp"
#include "flymc/diagnose/pareto_smoothing.hpp"
#include "flymc/run/files/stages/run.hpp"

namespace flymc {
namespace {

using flymc::testing::message;

class LeaveOneOutOfRuns : public flymc::testing::ScratchFolder {
 protected:
  // 300 rows of two numbers; a level `rare` has one row, the first.
  RunDirectory finished(const std::string& name, std::vector<std::string> columns, int threads = 1,
                        const std::string& prior = "default") {
    const auto table = folder_ / "table.csv";
    if (!std::filesystem::exists(table)) {
      std::ofstream out(table);
      const PhiloxRandom random(5, 0, 0);
      out << "x,w,level,y\n";
      for (std::uint64_t i = 0; i < 300; ++i) {
        std::vector<double> x(2);
        random.normals(Purpose::simulate, 2 * i, x);
        const bool one = random.uniform(Purpose::start, i) < 1.0 / (1.0 + std::exp(-x[0]));
        out << x[0] << ',' << x[1] << ',' << (i == 0 ? "rare" : "common") << ',' << one << '\n';
      }
    }
    Settings s;
    s.table = {table.string()};
    s.target = "y";
    s.columns = std::move(columns);
    find_setting("prior")->set(s, {prior});
    s.fit.chains = 2;
    s.fit.warmup = 200;
    s.fit.draws = 250;
    s.fit.threads = threads;
    RunDirectory run = RunDirectory::create(folder_ / name, s);
    EXPECT_TRUE(complete(run, quiet_));
    return run;
  }
  Monitor quiet_;
};

TEST_F(LeaveOneOutOfRuns, OfAllRowsItIsTheSumOfTheirTerms) {
  const RunDirectory run = finished("run", {"x"});
  const NamedRun named{{&run}, "run"};
  const LeaveOneOut found = leave_one_out({&named, 1}, {.rows = 1000});
  const LooOfRun& of = found.runs.front();
  ASSERT_EQ(found.rows, 300);
  ASSERT_EQ(of.rows.size(), 300u);
  EXPECT_EQ(found.table_rows, 300);
  EXPECT_EQ(of.elpd.subsampling_se, 0.0);
  EXPECT_NEAR(of.elpd.value, std::accumulate(of.terms.begin(), of.terms.end(), 0.0), 1e-10);
  EXPECT_EQ(of.places[7].row, 8);
  // The harmonic mean of a row's likelihood, which smoothing hardly changes here, and the arithmetic mean.
  const RowMatrix values = log_likelihood(run, of.rows);
  const Index draws = values.rows();
  const double log_draws = std::log(static_cast<double>(draws));
  EXPECT_EQ(of.good_k, good_pareto_k(static_cast<std::size_t>(draws)));
  double gain = 0.0;
  for (Index row = 0; row < 300; ++row) {
    std::vector<double> up(static_cast<std::size_t>(draws)), down(up);
    for (Index s = 0; s < draws; ++s) {
      up[static_cast<std::size_t>(s)] = values(s, row);
      down[static_cast<std::size_t>(s)] = -values(s, row);
    }
    const double harmonic = log_draws - log_sum_exp(down);
    EXPECT_NEAR(of.terms[static_cast<std::size_t>(row)], harmonic, 1e-3);
    gain += log_sum_exp(up) - log_draws - of.terms[static_cast<std::size_t>(row)];
  }
  EXPECT_NEAR(of.p_loo, gain, 1e-10);
  EXPECT_TRUE(found.warnings.empty());
}

TEST_F(LeaveOneOutOfRuns, DoesNotDependOnThreads) {
  const RunDirectory one = finished("one", {"x", "w"}, 1), two = finished("two", {"x", "w"}, 2);
  const NamedRun first{{&one}, ""}, second{{&two}, ""};
  const LeaveOneOut a = leave_one_out({&first, 1}, {.rows = 280, .seed = 3});
  const LeaveOneOut b = leave_one_out({&second, 1}, {.rows = 280, .seed = 3});
  EXPECT_EQ(a.runs[0].terms, b.runs[0].terms);
  EXPECT_EQ(a.runs[0].pareto_k, b.runs[0].pareto_k);
  EXPECT_EQ(a.runs[0].elpd.value, b.runs[0].elpd.value);
  EXPECT_EQ(a.runs[0].p_loo, b.runs[0].p_loo);
}

TEST_F(LeaveOneOutOfRuns, DifferencesAreThoseOfTheTerms) {
  const RunDirectory noise = finished("noise", {"w"}, 1), real = finished("real", {"x"}, 1);
  const std::vector<NamedRun> both = {{{&noise}, "noise"}, {{&real}, "real"}};
  const LeaveOneOut found = leave_one_out(both, {.rows = 300});
  EXPECT_EQ(found.ranks(), (std::vector<std::size_t>{1, 0}));
  EXPECT_EQ(found.runs[1].difference.value, 0.0);
  EXPECT_EQ(found.runs[1].difference.se, 0.0);
  double sum = 0.0, squares = 0.0;
  for (std::size_t i = 0; i < 300; ++i) {
    const double d = found.runs[0].terms[i] - found.runs[1].terms[i];
    sum += d;
    squares += d * d;
  }
  EXPECT_NEAR(found.runs[0].difference.value, sum, 1e-10);
  EXPECT_NEAR(found.runs[0].difference.se, std::sqrt(squares - sum * sum / 300.0), 1e-10);
  const LeaveOneOut some = leave_one_out(both, {.rows = 100});
  EXPECT_NEAR(some.runs[0].difference.value, sum, 4.0 * some.runs[0].difference.subsampling_se);
  EXPECT_LT(some.runs[0].difference.subsampling_se, 0.5);

  const std::string text = comparison_text(found);
  EXPECT_LT(text.find("real"), text.find("noise")) << text;
  EXPECT_NE(text.find("on 300 rows that all runs have, of 300 in the table; 300 sampled\n"), std::string::npos);
  const auto json = nlohmann::json::parse(comparison_json(found));
  EXPECT_EQ(json["runs"][1]["run"], "noise");
  EXPECT_EQ(json["runs"][1]["elpd_diff"], found.runs[0].difference.value);
}

// Without the only row of a level, its coefficient is determined by the prior alone.
TEST_F(LeaveOneOutOfRuns, RowsThatMoveThePosteriorAreTold) {
  const RunDirectory run = finished("run", {"x", "level"}, 1, "normal(0, 10)");
  const NamedRun named{{&run}, "run"};
  LeaveOneOut found = leave_one_out({&named, 1}, {.rows = 300});
  ASSERT_FALSE(found.runs[0].bad().empty());
  EXPECT_EQ(found.runs[0].bad().front(), 0u);
  ASSERT_EQ(found.warnings.size(), 1u);
  EXPECT_NE(found.warnings[0].find(fmt::format("sampled rows have a Pareto k above {:.2f}: ", found.runs[0].good_k)),
            std::string::npos);
  EXPECT_NE(found.warnings[0].find("draw more (‹draws›), or look at these rows (‹flymc loo run›)"), std::string::npos);
  EXPECT_NE(loo_text(found).find("table.csv, row 1\nwarning: "), std::string::npos) << loo_text(found);
  found.runs[0].pareto_k[0] = std::numeric_limits<double>::infinity();
  const auto json = nlohmann::json::parse(loo_json(found));
  EXPECT_EQ(json["above_good_k"], found.runs[0].bad().size());
  EXPECT_TRUE(json["sample"][0]["pareto_k"].is_null());
  EXPECT_EQ(json["sample"][0]["file_row"], 1);
  found.runs[0].places.clear();  // as for a run of an earlier version
  EXPECT_NE(loo_text(found).find("  inf  row 0 of the run (from 0)\n"), std::string::npos) << loo_text(found);
  EXPECT_FALSE(nlohmann::json::parse(loo_json(found))["sample"][0].contains("file"));
}

TEST_F(LeaveOneOutOfRuns, WhatSaysNothingIsRefused) {
  EXPECT_EQ(message<InputError>([] { check(LooOptions{.rows = 1}); }),
            "‹rows›: 1 can say nothing of how different rows are; sample 2 or more");
  EXPECT_EQ(message<InputError>([] { check(LooOptions{.seed = -2}); }), "‹seed›: -2 is negative; give 0 or more");
}

}  // namespace
}  // namespace flymc
