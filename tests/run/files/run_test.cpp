// A run on disk has the draws of the same fit in memory, however often it was stopped.
#include "flymc/run/files/stages/run.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <numeric>
#include <optional>

#include "../../../src/run/files/folder/checkpoint_file.hpp"
#include "../../../src/run/files/folder/preparation_file.hpp"
#include "../../../src/run/files/stages/starts.hpp"
#include "draws/files/scratch_folder.hpp"
#include "flymc/core/files.hpp"
#include "flymc/data/files/encoding/encoding.hpp"
#include "flymc/data/files/store/store_file.hpp"
#include "flymc/diagnose/convergence.hpp"
#include "flymc/draws/files/draws_file.hpp"
#include "flymc/model/logistic.hpp"
#include "flymc/model/softmax.hpp"
#include "flymc/run/files/compare/inspect.hpp"
#include "flymc/run/files/folder/report.hpp"
#include "flymc/run/files/predict/predict.hpp"
#include "flymc/run/files/reading/export.hpp"
#include "flymc/run/files/stages/run_on_another.hpp"
#include "flymc/run/fit.hpp"
#include "problems/problems.hpp"
#include "run/files/stopper.hpp"

namespace flymc {
namespace {

using flymc::testing::message;
using flymc::testing::Stopper;

class RunOnDisk : public flymc::testing::ScratchFolder {
 protected:
  // 400 rows of two numbers, a text and a target, in a CSV.
  std::string table(int classes = 2) {
    const auto path = folder_ / "table.csv";
    std::ofstream out(path);
    out << "x,colour,w,y\n";
    const PhiloxRandom random(5, 0, 0);
    for (std::uint64_t i = 0; i < 400; ++i) {
      std::vector<double> x(2);
      random.normals(Purpose::simulate, 2 * i, x);
      const char* colour = i % 3 == 0 ? "red" : i % 3 == 1 ? "blue" : "green";
      const double u = random.uniform(Purpose::start, i);
      const int y = static_cast<int>(u * classes) ^ (x[0] > 1.0 && classes == 2 ? 1 : 0);
      out << 10.0 + 3.0 * x[0] << ',' << colour << ',' << x[1] << ',' << y << '\n';
    }
    return path.string();
  }
  // Uses a bound, although the program would choose regular MCMC for so small a table. With one chain, a number of
  // iterations determines a moment of the run.
  Settings settings(int classes = 2, int chains = 2) {
    Settings s;
    s.table = {table(classes)};
    s.target = "y";
    if (classes > 2) s.family = "softmax";
    s.fit.bound = BoundKind::sharp;
    s.fit.chains = chains;
    s.fit.warmup = 100;
    s.fit.draws = 60;
    s.until_enough = false;
    s.checkpoint_seconds = 0.0;  // after every iteration
    return s;
  }
  Monitor quiet_;
};

void expect_same_draws(const RunDirectory& a, const RunDirectory& b) {
  const DrawsFile one(a.draws()), other(b.draws());
  ASSERT_EQ(one.names(), other.names());
  ASSERT_EQ(one.chains(), other.chains());
  for (Index j = 0; j < one.coefficients(); ++j) ASSERT_EQ(one.coefficient(j), other.coefficient(j)) << j;
  for (const char* name : {"log_density__", "bright__", "queries__", "acceptance__"})
    ASSERT_EQ(one.statistic(name), other.statistic(name)) << name;
}

// The draws of a fit in memory on the scale of the table's columns, by coefficient and chain.
std::vector<std::vector<std::vector<double>>> on_table_scale(const Fit& fit, const StoreFile& rows, Index predictors) {
  const Encoding encoding = Encoding::from_json(rows.metadata.at("encoding"));
  const Index size = fit.draws.coefficients();
  std::vector<std::vector<std::vector<double>>> out;
  for (Index j = 0; j < size; ++j) out.push_back(fit.draws.coefficient(j));
  for (std::size_t c = 0; c < out[0].size(); ++c)
    for (std::size_t i = 0; i < out[0][c].size(); ++i) {
      Vector theta(size);
      for (Index j = 0; j < size; ++j) theta[j] = out[static_cast<std::size_t>(j)][c][i];
      theta = encoding.to_original(theta, predictors);
      for (Index j = 0; j < size; ++j) out[static_cast<std::size_t>(j)][c][i] = theta[j];
    }
  return out;
}

void expect_draws_of(const Fit& fit, const StoreFile& rows, Index predictors, const DrawsFile& draws) {
  const auto expected = on_table_scale(fit, rows, predictors);
  for (Index j = 0; j < draws.coefficients(); ++j)
    EXPECT_EQ(draws.coefficient(j), expected[static_cast<std::size_t>(j)]) << j;
}

// A prior that conflicts with the rows gives a warning; the default prior does not.
TEST_F(RunOnDisk, SaysWhichClassCountsAndWhereThePriorStrains) {
  {
    std::ofstream out(folder_ / "years.csv");
    out << "year,y\n";
    const PhiloxRandom random(6, 0, 0);
    for (std::uint64_t i = 0; i < 4000; ++i) {
      const double year = 2000.0 + static_cast<double>(i % 20);
      const double p = 1.0 / (1.0 + std::exp(-0.3 * (year - 2010.0)));
      out << year << ',' << (random.uniform(Purpose::simulate, i) < p ? "bad" : "good") << '\n';
    }
  }
  Settings s = settings(2, 1);
  s.table = {(folder_ / "years.csv").string()};
  const auto text = [&](const char* name, const char* prior) {
    s.prior = prior;
    const RunDirectory run = RunDirectory::create(folder_ / name, s);
    EXPECT_TRUE(complete(run, quiet_));
    return summarise(read_report(run), DrawsFile(run.draws())).text();
  };
  const std::string plain = text("plain", "default; intercept: normal(-20, 1)"), centred = text("centred", "default");
  EXPECT_NE(plain.find("'good' counts as 1 and 'bad' as 0"), std::string::npos) << plain;
  EXPECT_NE(plain.find("warning: the prior strains against the data: 'intercept' is "), std::string::npos) << plain;
  EXPECT_NE(plain.find("(1 of 2 coefficients)"), std::string::npos) << plain;
  EXPECT_EQ(centred.find("strains"), std::string::npos) << centred;
}

// Two groups of rows differ only in their level, and no column distinguishes them: the posterior has a mode at each.
TEST_F(RunOnDisk, SaysThatThereIsASecondMode) {
  {
    std::ofstream out(folder_ / "groups.csv");
    out << "x,y\n";
    const PhiloxRandom random(7, 0, 0);
    for (std::uint64_t i = 0; i < 400; ++i) {
      std::vector<double> z(2);
      random.normals(Purpose::simulate, i - i % 2, z);
      out << 10.0 + z[0] << ',' << (i % 2 == 0 ? 0.0 : 50.0) + z[1] << '\n';
    }
  }
  Settings s = settings(2, 1);
  s.table = {(folder_ / "groups.csv").string()};
  s.family = "student_t";
  s.sigma = 1.0;
  s.prior = "normal(0, 100)";
  const auto text = [&](const char* name) {
    const RunDirectory run = RunDirectory::create(folder_ / name, s);
    Stopper stopper(30);
    EXPECT_FALSE(complete(run, stopper));
    EXPECT_TRUE(complete(run, quiet_));  // with the preparation that the stopped run left
    return summarise(read_report(run), DrawsFile(run.draws())).text();
  };
  const std::string said = text("groups");
  EXPECT_NE(said.find("warning: the posterior has a second mode, "), std::string::npos) << said;
  EXPECT_NE(said.find(" nats lower, where 'intercept' is "), std::string::npos) << said;
  s.sigma = 30.0;
  EXPECT_EQ(text("wide").find("second mode"), std::string::npos);
}

TEST_F(RunOnDisk, MakesTheDrawsOfTheSameFitInMemory) {
  const RunDirectory run = RunDirectory::create(folder_ / "run", settings());
  ASSERT_TRUE(complete(run, quiet_));
  const DrawsFile draws(run.draws());
  EXPECT_EQ(draws.names(), (std::vector<std::string>{"intercept", "x", "colour[green]", "colour[red]", "w"}));

  const StoreFile rows = open_store(run.rows().string());
  const Fit fit = flymc::fit(rows.store, Model(Logistic{}, Prior::normal(0.0, 2.5)), run.settings().fit);
  expect_draws_of(fit, rows, 1, draws);
  const RunReport report = read_report(run);
  EXPECT_EQ(report.rows, 400);
  EXPECT_EQ(report.anchor_queries, fit.anchor_queries);
  EXPECT_EQ(report.chains[1].sampling_queries, fit.chains[1].sampling_queries);
  // The summaries agree except for the scale of two columns, and the prior, which only a run reports.
  const FitSummary of_run = summarise(report, draws), of_fit = fit.summary();
  EXPECT_EQ(of_run.cost, of_fit.cost);
  EXPECT_TRUE(of_run.choices.starts_with(of_fit.choices)) << of_run.choices;
  EXPECT_NEAR(of_run.parameters[2].mean, of_fit.parameters[2].mean, 1e-12);  // coefficient of a level
  EXPECT_NEAR(of_run.laplace[1].shift, of_fit.laplace[1].shift, 1e-9);       // in units of its standard deviation
  EXPECT_FALSE(std::filesystem::exists(run.path() / "parts"));
}

TEST_F(RunOnDisk, GoesOnAfterAnyStop) {
  struct Case {
    int classes;
    bool regular;
  };
  for (const Case& c : {Case{2, false}, Case{3, false}, Case{2, true}}) {
    Settings s = settings(c.classes);
    s.fit.regular = c.regular;
    const RunDirectory whole = RunDirectory::create(folder_ / fmt::format("whole{}{}", c.classes, c.regular), s);
    ASSERT_TRUE(complete(whole, quiet_));
    const auto path = folder_ / fmt::format("stopped{}{}", c.classes, c.regular);
    RunDirectory::create(path, s);
    const RunDirectory run(path);
    int stops = 0;
    for (;; ++stops) {
      Stopper stopper(37);
      if (complete(RunDirectory(run.path()), stopper)) break;
      ASSERT_FALSE(run.finished());
      ASSERT_LT(stops, 100);
    }
    EXPECT_GT(stops, 4);
    expect_same_draws(whole, run);
  }
}

// Weights and offsets are columns of the table. The draws equal those of a store in memory with the same weights and
// offsets, whether the run was stopped or not. Predictions of new rows need the offset.
TEST_F(RunOnDisk, WeightsAndOffsetsAreColumns) {
  const auto weight = [](int i) { return 0.25 * (i % 9); };
  const auto offset = [](int i) { return 0.5 * (i % 5) - 1.0; };
  RowMatrix x(400, 2);
  Vector y(400), weights(400), offsets(400);
  {
    std::ofstream out(folder_ / "counted.csv");
    out << "count,x,shift,y\n";
    for (int i = 0; i < 400; ++i) {
      x.row(i) << 1.0, 0.125 * (i % 23) - 1.5;
      y[i] = (3 * i) % 7 < 3 ? 1.0 : 0.0;
      weights[i] = weight(i);
      offsets[i] = offset(i);
      out << weight(i) << ',' << x(i, 1) << ',' << offset(i) << ',' << y[i] << '\n';
    }
  }
  Settings s = settings();
  s.table = {(folder_ / "counted.csv").string()};
  s.weights = "count";
  s.offset = "shift";
  const RunDirectory whole = RunDirectory::create(folder_ / "whole", s);
  ASSERT_TRUE(complete(whole, quiet_));
  const DrawsFile draws(whole.draws());
  EXPECT_EQ(draws.names(), (std::vector<std::string>{"intercept", "x"}));
  const Model model(Logistic{}, Prior::normal(0.0, 2.5));
  const StoreFile rows = open_store(whole.rows().string());
  const Encoding encoding = Encoding::from_json(rows.metadata.at("encoding"));
  for (Index i = 0; i < x.rows(); ++i) x(i, 1) = (x(i, 1) - encoding.shift()[1]) / encoding.scale()[1];
  const Store memory = Store::from_matrix(x, y, {"intercept", "x"}, NumberType::float64, weights, offsets);
  const Fit fit = flymc::fit(memory, model, whole.settings().fit);
  expect_draws_of(fit, rows, 1, draws);

  RunDirectory::create(folder_ / "stopped", s);
  const RunDirectory stopped(folder_ / "stopped");
  for (int stops = 0;; ++stops) {
    Stopper stopper(37);
    if (complete(RunDirectory(stopped.path()), stopper)) break;
    ASSERT_LT(stops, 100);
  }
  expect_same_draws(whole, stopped);

  // A new row needs its offset, but no weight.
  const auto predict_from = [&](const std::string& header, const std::string& row) {
    const std::string path = (folder_ / "new.csv").string(), out = (folder_ / "predicted.csv").string();
    std::ofstream(path) << header << '\n' << row << '\n';
    PredictOptions options;
    options.table = {path};
    return message<InputError>([&] { predict(whole, options, out); });
  };
  EXPECT_EQ(predict_from("x,shift", "0.5,1"), "no error");
  EXPECT_NE(predict_from("x,count", "0.5,1").find("'shift'"), std::string::npos) << predict_from("x,count", "0.5,1");

  // Columns that cannot be weights or offsets are refused.
  const auto refused = [&](const std::string& csv, const std::function<void(Settings&)>& change) {
    std::ofstream(folder_ / "bad.csv") << csv;
    Settings bad = settings();
    bad.table = {(folder_ / "bad.csv").string()};
    bad.weights = "count";
    change(bad);
    const RunDirectory run = RunDirectory::create(folder_ / "bad", bad);
    const std::string text = message<InputError>([&] { complete(run, quiet_); });
    std::filesystem::remove_all(folder_ / "bad");
    return text;
  };
  const auto nothing = [](Settings&) {};
  EXPECT_NE(refused("count,x,y\n1,2,0\n-1,3,1\n", nothing).find("column 'count', row 2: a weight is 0 or more, not -1"),
            std::string::npos);
  EXPECT_NE(refused("count,x,y\n0,2,0\n0,3,1\n", nothing).find("all weights in column 'count' are 0"),
            std::string::npos);
  EXPECT_NE(
      refused("count,x,y\na,2,0\nb,3,1\n", nothing).find("column 'count' is to be the weights, which must be numbers"),
      std::string::npos);
  EXPECT_NE(refused("count,x,y\n1,2,0\n,3,1\n", nothing).find("column 'count', row 2"), std::string::npos);
  EXPECT_NE(refused("count,x,y\n1,2,0\n1,3,1\n", [](Settings& bad) { bad.offset = "elsewhere"; }).find("elsewhere"),
            std::string::npos);
  EXPECT_NE(refused("count,x,y\n1,2,0\n1,3,1\n", [](Settings& bad) { bad.offset = "y"; }).find("is the target"),
            std::string::npos);
  EXPECT_NE(message<InputError>([&] {
              Settings bad = settings(3);
              bad.offset = "x";
              check(bad);
            }).find("‹offset›: softmax"),
            std::string::npos);
}

// Rows of the run can be traced to rows of files, even if some were dropped.
TEST_F(RunOnDisk, RowsFindTheirWayHome) {
  std::vector<std::pair<std::string, RowId>> kept;
  for (const char* name : {"a.csv", "b.csv"}) {
    std::ofstream out(folder_ / name);
    out << "x,y\n";
    for (RowId i = 1; i <= 60; ++i) {
      const bool missing = i % 7 == 3;
      out << (missing ? "" : fmt::format("{}", std::sin(static_cast<double>(i)))) << ',' << i % 2 << '\n';
      if (!missing) kept.emplace_back((folder_ / name).string(), i);
    }
  }
  Settings s = settings(2, 1);
  s.table = {(folder_ / "a.csv").string(), (folder_ / "b.csv").string()};
  s.missing = "drop";
  const RunDirectory run = RunDirectory::create(folder_ / "run", s);
  ASSERT_TRUE(complete(run, quiet_));
  std::vector<RowId> all(kept.size());
  std::iota(all.begin(), all.end(), RowId{0});
  const std::vector<FileRow> found = origins(run, all);
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(std::pair(found[i].file, found[i].row), kept[i]) << i;
  EXPECT_NE(message<InputError>([&] { origins(run, std::vector<RowId>{102}); }).find("there is no row 102"),
            std::string::npos);
  EXPECT_NE(summarise(read_report(run), DrawsFile(run.draws())).text().find("(18 more were dropped"),
            std::string::npos);
}

// The numbers of lit rows are stored, and their cells are read from the rows again: draws are the same as in memory, on
// any number of threads, whether the run was stopped or not.
TEST_F(RunOnDisk, LitRowsAreThoseOfTheFitInMemoryAndComeBackAfterAStop) {
  for (const int classes : {2, 3}) {
    SCOPED_TRACE(classes);
    Settings s = settings(classes);
    s.table = {(folder_ / "levels.csv").string()};
    {
      // One row in a hundred has a level of one class only.
      std::ofstream out(s.table[0]);
      out << "x,rare,y\n";
      const PhiloxRandom random(7, 0, 0);
      for (std::uint64_t i = 0; i < 4000; ++i) {
        const double x = random.uniform(Purpose::simulate, i);
        const bool rare = i % 100 == 50;
        const int y =
            rare ? 1 : static_cast<int>(random.uniform(Purpose::start, i) * (1.0 + 0.2 * x) * classes) % classes;
        out << x << ',' << (rare ? 1 : 0) << ',' << y << '\n';
      }
    }
    const RunDirectory whole = RunDirectory::create(folder_ / fmt::format("whole{}", classes), s);
    ASSERT_TRUE(complete(whole, quiet_));
    const StoreFile rows = open_store(whole.rows().string());
    const Prior prior = Prior::normal(0.0, 2.5);
    const Model model = classes == 2 ? Model(Logistic{}, prior) : Model(Softmax{3}, prior);
    FitOptions options = whole.settings().fit;
    const problems::Machine machine;
    const Preparation fresh = prepare(rows.store, model, options, machine.execution());
    const LitRows& lit = fresh.bound->lit();
    EXPECT_GE(lit.size(), 40u);
    EXPECT_LT(lit.size(), 4000u);
    const Preparation loaded = load_preparation(whole, model, rows);
    EXPECT_EQ(loaded.bound->lit().fixed.row, lit.fixed.row);
    EXPECT_EQ(loaded.bound->lit().fixed.facts, lit.fixed.facts);
    EXPECT_EQ(loaded.bound->lit().fixed.eta_anchor, lit.fixed.eta_anchor);
    EXPECT_EQ(loaded.bound->lit().fixed.coefficients.curvature, lit.fixed.coefficients.curvature);
    EXPECT_EQ(loaded.bound->lit().above, lit.above);
    EXPECT_EQ(loaded.bound->lit().set, lit.set);
    EXPECT_EQ(loaded.bound->expected_gaps().levels(), fresh.bound->expected_gaps().levels());
    const DrawsFile draws(whole.draws());
    for (const int threads : {1, 2, 4}) {
      options.threads = threads;
      expect_draws_of(flymc::fit(rows.store, model, options), rows, model.predictors(), draws);
    }
    const RunDirectory run = RunDirectory::create(folder_ / fmt::format("stopped{}", classes), s);
    int stops = 0;
    for (;; ++stops) {
      Stopper stopper(61);
      if (complete(run, stopper)) break;
      ASSERT_LT(stops, 100);
    }
    EXPECT_GT(stops, 2);
    expect_same_draws(whole, run);
  }
}

// Parts left by a process that died before it wrote the checkpoint are not used as draws.
TEST_F(RunOnDisk, RemovesPartsThatNoCheckpointKnows) {
  const RunDirectory whole = RunDirectory::create(folder_ / "whole", settings(2, 1));
  ASSERT_TRUE(complete(whole, quiet_));
  const RunDirectory run = RunDirectory::create(folder_ / "run", settings(2, 1));
  Stopper stopper(130);  // while it samples
  ASSERT_FALSE(complete(run, stopper));
  const auto checkpoint = load_checkpoint(run, 0);
  ASSERT_TRUE(checkpoint && checkpoint->draws > 0);
  write_whole(run.part(0, checkpoint->draws), "half a part");
  std::ofstream(run.part(0, checkpoint->draws).string() + ".partial") << "less";
  ASSERT_TRUE(complete(run, quiet_));
  expect_same_draws(whole, run);
}

TEST_F(RunOnDisk, RefusesDamagedFiles) {
  const RunDirectory run = RunDirectory::create(folder_ / "run", settings(2, 1));
  Stopper stopper(130);
  ASSERT_FALSE(complete(run, stopper));
  for (const std::string name : {"chains/chain-000.flymc", "preparation.flymc"}) {
    const auto path = run.path() / name;
    const std::string good = read_whole(path);
    for (const std::size_t cut : {std::size_t{0}, std::size_t{3}, good.size() / 2, good.size() - 1}) {
      write_whole(path, good.substr(0, cut));
      EXPECT_NE(message<InputError>([&] { complete(run, quiet_); }).find(path.string()), std::string::npos) << cut;
    }
    for (std::size_t at = 0; at < good.size(); at += 1 + good.size() / 50) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ 16);
      write_whole(path, bad);
      EXPECT_NE(message<InputError>([&] { complete(run, quiet_); }).find(path.string()), std::string::npos) << at;
    }
    write_whole(path, good);
  }
  EXPECT_TRUE(complete(run, quiet_));
}

// A change of any byte is detected. A deleted report is written again with the same contents.
TEST_F(RunOnDisk, ADamagedReportIsRefused) {
  const RunDirectory run = RunDirectory::create(folder_ / "run", settings(2, 1));
  ASSERT_TRUE(complete(run, quiet_));
  const std::string good = read_whole(run.report());
  const auto refused = [&](const std::string& bad) {
    std::ofstream(run.report(), std::ios::binary) << bad;  // without waiting for the disk
    return message<InputError>([&] { read_report(run); }) ==
           fmt::format(
               "{}: this is not the report of a run, or damaged (its checksum is wrong); delete it, and ‹flymc "
               "resume {}› writes it again",
               run.report().string(), run.path().string());
  };
  for (std::size_t at = 0; at < good.size(); at += 5) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1 << at % 7);
    ASSERT_TRUE(refused(bad)) << at << ": " << bad.substr(at, 10);
  }
  for (std::size_t cut = 0; cut < good.size(); cut += 1 + good.size() / 20)
    ASSERT_TRUE(refused(good.substr(0, cut))) << cut;
  EXPECT_TRUE(refused(good.substr(0, good.size() - 1)));
  EXPECT_TRUE(refused(to_json(RunReport())));
  EXPECT_TRUE(refused(good + "\n"));
  std::filesystem::remove(run.report());
  ASSERT_TRUE(complete(run, quiet_));
  // Only the process that made the preparation knows how long it took; this one did not make it.
  RunReport again = read_report(run);
  std::ofstream(run.report(), std::ios::binary) << good;
  const RunReport before = read_report(run);
  EXPECT_GT(before.ingest_seconds, 0.0);
  EXPECT_GT(before.prepare_seconds, 0.0);
  EXPECT_EQ(again.ingest_seconds, 0.0);
  again.ingest_seconds = before.ingest_seconds;
  again.prepare_seconds = before.prepare_seconds;
  EXPECT_EQ(to_json(again), to_json(before));
}

TEST_F(RunOnDisk, SamplesAgainWithoutAPass) {
  const RunDirectory first = RunDirectory::create(folder_ / "first", settings());
  ASSERT_TRUE(complete(first, quiet_));
  Settings again = settings_on(first, folder_ / "again");
  again.prior = "laplace(0, 0.1)";
  again.fit.chains = 3;
  const RunDirectory second = create_on(first, folder_ / "again", again);
  EXPECT_TRUE(load_starts(second).empty());  // the bound is the same, but the posterior differs
  ASSERT_TRUE(complete(second, quiet_));
  const RunReport report = read_report(second);
  EXPECT_EQ(report.anchor_queries + report.bound_queries, 0);
  for (const ChainReport& chain : report.chains) EXPECT_LT(chain.start_queries, 100);
  // A prior that pulls coefficients to 0 moves their means.
  const auto mean = [](const RunDirectory& run) { return summarise("x", DrawsFile(run.draws()).coefficient(1)).mean; };
  EXPECT_LT(std::abs(mean(second)), std::abs(mean(first)));
  EXPECT_FALSE(std::filesystem::exists(second.path() / "rows.arrow"));
}

// A prior moves the posterior away from where the first run's bound was made for. The new run then makes its own, and
// its draws are those of a separate fit, even if it was stopped in between.
TEST_F(RunOnDisk, AnotherPriorAnchorsAgainWhereItMust) {
  for (const int classes : {2, 3}) {
    const auto name = [&](const char* run) { return folder_ / fmt::format("{}-{}", run, classes); };
    Settings narrow = settings(classes);
    narrow.prior = "normal(0, 0.01)";
    const RunDirectory first = RunDirectory::create(name("narrow"), narrow);
    ASSERT_TRUE(complete(first, quiet_));
    Settings wide = settings_on(first, name("wide"));
    wide.prior = "normal(0, 2.5)";
    const RunDirectory second = create_on(first, name("wide"), wide);
    Stopper stopper(130);
    ASSERT_FALSE(complete(second, stopper));
    ASSERT_TRUE(complete(second, quiet_));
    Settings fresh = settings(classes);
    fresh.prior = wide.prior;
    fresh.fit.seed = seed_of(second);  // the second run's seed
    EXPECT_NE(fresh.fit.seed, wide.fit.seed);
    const RunDirectory third = RunDirectory::create(name("fresh"), fresh);
    ASSERT_TRUE(complete(third, quiet_));
    expect_same_draws(second, third);
    const RunReport report = read_report(second), alone = read_report(third);
    EXPECT_GT(report.anchor_queries + report.bound_queries, 400);  // they are counted
    EXPECT_EQ(report.laplace_mean, alone.laplace_mean);            // of the new posterior
    EXPECT_EQ(report.laplace_sd, alone.laplace_sd);
  }
}

// Directions that the rows do not determine, such as a number that is added to all classes, have the prior's scale.
// Under a narrower prior, chains must not begin where those of a wide prior ended.
TEST_F(RunOnDisk, ANarrowPriorOfASoftmaxLeavesChainsThatMove) {
  const RunDirectory first = RunDirectory::create(folder_ / "first", settings(3));
  ASSERT_TRUE(complete(first, quiet_));
  Settings narrow = settings_on(first, folder_ / "second");
  narrow.prior = "laplace(0, 0.02)";
  const RunDirectory second = create_on(first, folder_ / "second", narrow);
  ASSERT_TRUE(complete(second, quiet_));
  for (const ChainReport& chain : read_report(second).chains) EXPECT_GT(chain.acceptance, 0.5);
}

// A sampled run does not depend on later changes of the first run, and uses other random numbers.
TEST_F(RunOnDisk, ASampledRunStandsAlone) {
  const RunDirectory first = RunDirectory::create(folder_ / "first", settings());
  ASSERT_TRUE(complete(first, quiet_));
  const auto sample = [&](const RunDirectory& from, const std::string& name) {
    return create_on(from, folder_ / name, settings_on(from, folder_ / name));
  };
  const RunDirectory second = sample(first, "second"), third = sample(first, "third");
  ASSERT_TRUE(complete(second, quiet_));
  EXPECT_NE(DrawsFile(second.draws()).coefficient(0), DrawsFile(first.draws()).coefficient(0));
  std::filesystem::remove_all(first.path() / "chains");
  std::filesystem::remove(first.preparation());
  ASSERT_TRUE(complete(third, quiet_));
  expect_same_draws(second, third);
  // Chains of a run sampled from a sampled run begin where the latter's ended.
  const RunDirectory fourth = sample(second, "fourth");
  EXPECT_EQ(load_starts(fourth)[1].theta, load_checkpoint(second, 1)->place.theta);
  EXPECT_NE(seed_of(fourth), seed_of(second));
  EXPECT_EQ(fourth.rows(), first.rows());
}

// A run sampled from an unfinished run, or from one without draws, also has random numbers of its own.
TEST_F(RunOnDisk, ASampleOfAnUnfinishedRunHasDrawsOfItsOwn) {
  for (const int iterations : {0, 130}) {
    const auto name = [&](const char* run) { return folder_ / fmt::format("{}-{}", run, iterations); };
    const RunDirectory first = RunDirectory::create(name("first"), settings());
    ingest(first, quiet_);
    Stopper stopper(iterations);
    if (iterations > 0) {
      ASSERT_FALSE(complete(first, stopper));
    }
    const RunDirectory second = create_on(first, name("second"), settings_on(first, name("second")));
    ASSERT_TRUE(complete(second, quiet_));
    ASSERT_TRUE(complete(first, quiet_));
    EXPECT_NE(DrawsFile(second.draws()).coefficient(0), DrawsFile(first.draws()).coefficient(0));
  }
}

TEST_F(RunOnDisk, SamplingCountsThePassesItMakes) {
  const RunDirectory first = RunDirectory::create(folder_ / "first", settings());
  ingest(first, quiet_);
  const RunDirectory second = create_on(first, folder_ / "second", settings_on(first, folder_ / "second"));
  ASSERT_TRUE(complete(second, quiet_));
  EXPECT_GE(read_report(second).anchor_queries, 400);
  EXPECT_EQ(read_report(second).bound_queries, 400);
  EXPECT_FALSE(std::filesystem::exists(first.preparation()));
}

// A preparation for regular MCMC has no bound, so a sweep cannot use it.
TEST_F(RunOnDisk, ASweepAfterRegularMcmcMakesItsBound) {
  Settings s = settings();
  s.fit.bound = std::nullopt;
  s.checkpoint_seconds = 30.0;
  const RunDirectory first = RunDirectory::create(folder_ / "first", s);
  ASSERT_TRUE(complete(first, quiet_));
  EXPECT_EQ(read_report(first).bound_queries, 0);
  s = settings_on(first, folder_ / "second");
  s.fit.sweep = SweepKind::rows;
  const RunDirectory second = create_on(first, folder_ / "second", s);
  ASSERT_TRUE(complete(second, quiet_));
  EXPECT_EQ(read_report(second).bound_queries, 400);
  EXPECT_TRUE(read_report(second).choices.starts_with("sharp bound"));
}

// A flat prior on separated classes has an improper posterior, even if a preparation under another prior exists.
TEST_F(RunOnDisk, AFlatPriorIsLookedAtAnew) {
  Settings separated = settings();
  std::ofstream(folder_ / "separated.csv") << "x,y\n-2,0\n-1.5,0\n-1,0\n1,1\n1.2,1\n2.5,1\n";
  separated.table = {(folder_ / "separated.csv").string()};
  const RunDirectory first = RunDirectory::create(folder_ / "first", separated);
  ASSERT_TRUE(complete(first, quiet_));
  Settings flat = settings_on(first, folder_ / "flat");
  flat.prior = "flat";
  const RunDirectory second = create_on(first, folder_ / "flat", flat);
  EXPECT_NE(message<InputError>([&] { complete(second, quiet_); }).find("proper prior"), std::string::npos);
}

TEST_F(RunOnDisk, APreparationBelongsToItsPrior) {
  const RunDirectory run = RunDirectory::create(folder_ / "run", settings(2, 1));
  Stopper stopper(130);
  ASSERT_FALSE(complete(run, stopper));
  Settings other = settings(2, 1);
  other.prior = "normal(3, 0.3)";
  const RunDirectory another = RunDirectory::create(folder_ / "another", other);
  ASSERT_TRUE(complete(another, quiet_));
  write_whole(run.preparation(), read_whole(another.preparation()));
  const std::string gaps = message<InputError>([&] { complete(run, quiet_); });
  EXPECT_NE(gaps.find("gaps.flymc: its checksum is wrong: it is damaged, or of another preparation; delete"),
            std::string::npos)
      << gaps;
  write_whole(run.path() / "gaps.flymc", read_whole(another.path() / "gaps.flymc"));
  // The file was made under another prior, for a posterior elsewhere, so the preparation is recreated as it was.
  EXPECT_TRUE(complete(run, quiet_));
  const RunDirectory undisturbed = RunDirectory::create(folder_ / "undisturbed", settings(2, 1));
  ASSERT_TRUE(complete(undisturbed, quiet_));
  expect_same_draws(run, undisturbed);
}

// If rows are recreated from a changed table, the old bound cannot be used.
TEST_F(RunOnDisk, APreparationBelongsToItsRows) {
  const RunDirectory run = RunDirectory::create(folder_ / "run", settings(2, 1));
  Stopper stopper(130);
  ASSERT_FALSE(complete(run, stopper));
  std::string text = read_whole(run.settings().table.front());
  text[text.find("red,") + 4] = '7';
  write_whole(run.settings().table.front(), text);
  std::filesystem::remove(run.rows());
  const std::string said = message<InputError>([&] { complete(run, quiet_); });
  EXPECT_NE(said.find("preparation.flymc: it was made from other rows than are here now; delete"), std::string::npos)
      << said;
}

// If there are too few draws to compute an ESS, sampling goes on.
TEST_F(RunOnDisk, AnUndefinedEssDoesNotReachTheTarget) {
  Settings s = settings();
  s.fit.draws = 3;
  s.until_enough = false;
  s.target_ess = 80.0;  // antithetic draws may have an ESS above their number
  const RunDirectory run = RunDirectory::create(folder_ / "run", s);
  ASSERT_TRUE(complete(run, quiet_));
  EXPECT_GT(read_report(run).draws_per_chain, 20);
}

// The smallest ESS, in bulk or tails, of the first `count` draws of each chain; for classes, of the differences from
// class 0.
double smallest_ess_of(const DrawsFile& draws, std::int64_t count, Index classes) {
  const Index columns = draws.coefficients() / classes;
  double smallest = HUGE_VAL;
  for (Index j = classes > 2 ? columns : 0; j < draws.coefficients(); ++j) {
    std::vector<std::vector<double>> chains = draws.coefficient(j);
    const auto first = draws.coefficient(j % columns);
    for (std::size_t c = 0; c < chains.size(); ++c) {
      if (classes > 2)
        for (std::size_t i = 0; i < chains[c].size(); ++i) chains[c][i] -= first[c][i];
      chains[c].resize(static_cast<std::size_t>(count));
    }
    smallest = std::min({smallest, ess_bulk(chains), ess_tail(chains)});
  }
  return smallest;
}

// Rounds end when the ESS, bulk and tails, is reached at two checks in a row; for classes, that of the differences. A
// run that is stopped repeatedly ends at the same round.
TEST_F(RunOnDisk, TargetEssSamplesOnAndResumesInTheSameRounds) {
  for (const int classes : {2, 3}) {
    Settings s = settings(classes);
    s.target_ess = 60.0;
    s.fit.draws = 20;
    s.until_enough = false;
    const RunDirectory whole = RunDirectory::create(folder_ / fmt::format("whole{}", classes), s);
    ASSERT_TRUE(complete(whole, quiet_));
    const std::int64_t draws = read_report(whole).draws_per_chain;
    EXPECT_GE(draws, 40);
    EXPECT_EQ(draws % 20, 0);
    const DrawsFile file(whole.draws());
    const auto enough = [&](std::int64_t count) {
      return smallest_ess_of(file, count, classes == 2 ? 1 : classes) >= 60.0;
    };
    for (std::int64_t count = 40; count <= draws; count += 20)
      EXPECT_EQ(enough(count - 20) && enough(count), count == draws) << count << " of " << draws;
    const RunDirectory run = RunDirectory::create(folder_ / fmt::format("stopped{}", classes), s);
    for (int stops = 0; stops < 200; ++stops) {
      Stopper stopper(33);
      if (complete(run, stopper)) break;
    }
    expect_same_draws(whole, run);
  }
}

// Without a given number of draws, a run continues until a slow move has given enough. A run that is stopped repeatedly
// has the same draws.
TEST_F(RunOnDisk, WithoutANumberOfDrawsThereAreEnough) {
  Settings s = settings();
  s.fit.move = MoveKind::random_walk;
  s.until_enough = true;
  s.checkpoint_seconds = 30.0;
  const RunDirectory whole = RunDirectory::create(folder_ / "whole", s);
  ASSERT_TRUE(complete(whole, quiet_));
  const RunReport report = read_report(whole);
  EXPECT_GT(report.draws_per_chain, 1000);
  EXPECT_LT(report.draws_per_chain, 10000);
  const FitSummary summary = summarise(whole, report);
  for (const ParameterSummary& p : summary.parameters) {
    EXPECT_GE(std::min(p.ess_bulk, p.ess_tail), 400.0) << p.name;
    EXPECT_LT(p.r_hat, 1.01) << p.name;
  }
  const RunDirectory run = RunDirectory::create(folder_ / "stopped", s);
  for (int stops = 0; stops < 200; ++stops) {
    Stopper stopper(2433);
    if (complete(run, stopper)) break;
  }
  expect_same_draws(whole, run);
}

// The draws of a softmax are coefficients. Its summary and Laplace numbers are of their differences.
TEST_F(RunOnDisk, SummariesOfClassesAreOfTheirDifferences) {
  Settings s = settings(3);
  s.prior = "normal(0, 10)";
  s.fit.draws = 500;
  s.until_enough = false;
  s.checkpoint_seconds = 30.0;
  const RunDirectory run = RunDirectory::create(folder_ / "run", s);
  ASSERT_TRUE(complete(run, quiet_));
  const DrawsFile draws(run.draws());
  const RunReport report = read_report(run);
  EXPECT_EQ(draws.coefficients(), 15);
  EXPECT_EQ(report.coefficients, draws.names());
  EXPECT_EQ(report.coefficients[6], "x[1]");
  const FitSummary summary = summarise(report, draws);
  ASSERT_EQ(summary.parameters.size(), 10u);
  EXPECT_EQ(summary.parameters[1].name, "x[1 - 0]");
  EXPECT_EQ(summary.parameters[6].name, "x[2 - 0]");
  EXPECT_EQ(summary.parameters[7].name, "colour[green][2 - 0]");
  std::vector<std::vector<double>> difference = draws.coefficient(11);
  for (std::size_t c = 0; c < difference.size(); ++c)
    for (std::size_t i = 0; i < difference[c].size(); ++i) difference[c][i] -= draws.coefficient(1)[c][i];
  EXPECT_EQ(summary.parameters[6].ess_bulk, ess_bulk(difference));
  EXPECT_EQ(summary.parameters[6].r_hat, r_hat(difference));
  // Laplace's standard deviations of the differences agree with the draws; those of the coefficients are far larger.
  ASSERT_EQ(summary.laplace.size(), 10u);
  for (const LaplaceCheck& check : summary.laplace) {
    EXPECT_NEAR(check.ratio, 1.0, 0.2);
    EXPECT_LT(std::abs(check.shift), 0.5);
  }
  EXPECT_GT(summarise("", draws.coefficient(11)).sd, 3.0 * summary.parameters[6].sd);
  EXPECT_NE(summary.text().find("shown as differences from those of class '0'"), std::string::npos) << summary.text();
  const std::string written = to_json(summary, report);
  EXPECT_NE(written.find("\"name\": \"x[2 - 0]\""), std::string::npos);
  EXPECT_NE(written.find("\"differences\": true"), std::string::npos);

  // Another reference class changes the sign of one difference, and gives the difference of two others; Laplace's too.
  const FitSummary from_two = summarise(report, draws, {.reference_class = "2"});
  EXPECT_EQ(from_two.parameters[1].name, "x[0 - 2]");
  EXPECT_DOUBLE_EQ(from_two.parameters[1].mean, -summary.parameters[6].mean);
  EXPECT_NEAR(from_two.parameters[6].mean, summary.parameters[1].mean - summary.parameters[6].mean, 1e-12);
  ASSERT_EQ(from_two.laplace.size(), 10u);
  EXPECT_NEAR(from_two.laplace[1].shift, -summary.laplace[6].shift, 1e-9);
  EXPECT_NEAR(from_two.laplace[1].ratio, summary.laplace[6].ratio, 1e-9);
  for (const LaplaceCheck& check : from_two.laplace) EXPECT_NEAR(check.ratio, 1.0, 0.2);
  EXPECT_EQ(to_json(from_two, report).find("laplace_sd_of_others"), std::string::npos);

  // Exports have the numbers of the summary, and never overwrite the run's draws.
  export_draws(run, folder_ / "differences.parquet", "2");
  const DrawsFile exported(folder_ / "differences.parquet");
  EXPECT_EQ(exported.names(), report.reported("2").names());
  for (Index i = 0; i < exported.coefficients(); ++i)
    EXPECT_EQ(exported.coefficient(i), report.reported("2").draws(draws, i));
  EXPECT_EQ(exported.statistic("log_density__"), draws.statistic("log_density__"));
  EXPECT_EQ(export_draws(run, folder_ / "differences.nc").size(), 1u);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "differences.nc.differences.partial"));
  EXPECT_NE(message<InputError>([&] { export_draws(run, run.draws()); }).find("is the run's own file"),
            std::string::npos);
}

// The units of a column change its coefficient and no other result; the default prior is scaled accordingly.
TEST_F(RunOnDisk, UnitsOfAColumnDoNotMatter) {
  const auto write = [&](const char* name, double unit, double zero) {
    std::ofstream out(folder_ / name);
    out << "x,w,y\n";
    const PhiloxRandom random(8, 0, 0);
    for (std::uint64_t i = 0; i < 500; ++i) {
      std::vector<double> x(2);
      random.normals(Purpose::simulate, 2 * i, x);
      const double p = 1.0 / (1.0 + std::exp(-0.5 - x[0] + x[1]));
      out << fmt::format("{},{},{}\n", zero + unit * x[0], x[1], random.uniform(Purpose::start, i) < p ? 1 : 0);
    }
    return (folder_ / name).string();
  };
  Settings plain = settings(2);
  plain.fit.draws = 4000;
  plain.until_enough = false;
  plain.fit.thin = 5;
  plain.checkpoint_seconds = 30.0;
  Settings scaled = plain;
  plain.table = {write("plain.csv", 1.0, 0.0)};
  scaled.table = {write("scaled.csv", 1000.0, 2e6)};
  const RunDirectory one = RunDirectory::create(folder_ / "plain", plain);
  const RunDirectory other = RunDirectory::create(folder_ / "scaled", scaled);
  ASSERT_TRUE(complete(one, quiet_));
  ASSERT_TRUE(complete(other, quiet_));
  const DrawsFile a(one.draws()), b(other.draws());
  for (Index j : {1, 2}) {
    const ParameterSummary p = summarise("", a.coefficient(j)), q = summarise("", b.coefficient(j));
    const double unit = j == 1 ? 1000.0 : 1.0;
    // Five standard errors: a false alarm with probability 1e-6 for two coefficients.
    EXPECT_LT(std::abs(p.mean - unit * q.mean), 5.0 * std::hypot(p.mcse_mean, unit * q.mcse_mean)) << j;
    EXPECT_NEAR(unit * q.sd / p.sd, 1.0, 0.1);
  }
  // Predictions use the table's own scale.
  predict(one, {.table = plain.table}, folder_ / "one.csv");
  predict(other, {.table = scaled.table}, folder_ / "other.csv");
  std::ifstream first(folder_ / "one.csv"), second(folder_ / "other.csv");
  std::string line;
  std::getline(first, line);
  EXPECT_EQ(line, R"("row","mean","lower","upper")");
  std::getline(second, line);
  int rows = 0;
  for (std::string x, y; std::getline(first, x) && std::getline(second, y); ++rows)
    EXPECT_NEAR(std::stod(x.substr(x.find(',') + 1)), std::stod(y.substr(y.find(',') + 1)), 0.02);
  EXPECT_EQ(rows, 500);
}

TEST_F(RunOnDisk, TwoProcessesCannotWorkOnOneRun) {
  const RunDirectory run = RunDirectory::create(folder_ / "run", settings());
  const RunLock lock(run);
  EXPECT_NE(message<InputError>([&] { complete(run, quiet_); }).find("another flymc is at work on this run"),
            std::string::npos);
}

// If two fits find a folder vacant, one of them gets it and draws under its own settings.
TEST_F(RunOnDisk, OneOfTwoGetsAFolder) {
  const auto path = folder_ / "run";
  Settings other = settings();
  other.prior = "normal(0, 0.01)";
  {
    const RunDirectory run = RunDirectory::create(path, settings());
    EXPECT_EQ(message<InputError>([&] { RunDirectory::create(path, other); }),
              path.string() + ": another flymc is at work on this run; name another folder with ‹out›, or wait for it");
    EXPECT_EQ(read_whole(path / "settings.toml").find("0.01"), std::string::npos);
  }
  // A run that got no further than its settings may be replaced; the old object must notice this.
  const RunDirectory before(path);
  const RunDirectory after = RunDirectory::create(path, other);
  const auto resume = [&] { return message<InputError>([&] { complete(before, quiet_); }); };
  EXPECT_NE(resume().find("another flymc is at work on this run"), std::string::npos);
  ingest(after, quiet_);
  std::optional<RunLock>(std::in_place, after).reset();  // releases the lock from its creation
  EXPECT_NE(resume().find("another flymc has begun another run here since"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(after.preparation()));
  EXPECT_TRUE(complete(after, quiet_));
}

// A folder left by a fit whose table could not be read must not block the next fit.
TEST_F(RunOnDisk, AFolderOfSettingsAloneIsTakenOver) {
  const auto path = folder_ / "run";
  Settings wrong = settings();
  wrong.target = "nothing";
  EXPECT_THROW(ingest(RunDirectory::create(path, wrong), quiet_), InputError);
  {
    const RunLock at_work(path);
    EXPECT_NE(message<InputError>([&] { RunDirectory::create(path, settings()); }).find("another flymc is at work"),
              std::string::npos);
  }
  write_whole(path / "notes.txt", "mine");
  EXPECT_THROW(RunDirectory::create(path, settings()), InputError);
  std::filesystem::remove(path / "notes.txt");
  EXPECT_TRUE(complete(RunDirectory::create(path, settings()), quiet_));
}

TEST_F(RunOnDisk, MessagesSayWhatToDo) {
  const auto path = folder_ / "run";
  EXPECT_EQ(message<InputError>([&] { RunDirectory run(path); }),
            path.string() + ": there is no run here; ‹flymc fit› makes one");
  const RunDirectory run = RunDirectory::create(path, settings());
  EXPECT_NE(message<InputError>([&] { read_report(run); }).find("the run is not finished; ‹flymc resume "),
            std::string::npos);
  EXPECT_NE(message<InputError>([&] { settings_on(run, folder_ / "b"); }).find("its rows are not there yet"),
            std::string::npos);
  EXPECT_EQ(message<InputError>([&] { RunDirectory::create("", settings()); }),
            "no folder is named for the run; name one with ‹out›");
  EXPECT_NE(message<InputError>([&] { RunDirectory::create(table(), settings()); }).find("this is a file"),
            std::string::npos);
  ingest(run, quiet_);
  EXPECT_NE(message<InputError>([&] { RunDirectory::create(path, settings()); }).find("‹flymc resume "),
            std::string::npos);
  ASSERT_TRUE(complete(run, quiet_));
  EXPECT_NE(message<InputError>([&] { RunDirectory::create(path, settings()); }).find("a finished run here"),
            std::string::npos);
  EXPECT_NE(message<InputError>([&] { predict(run, {.table = {table()}}, table()); }).find("is the table itself"),
            std::string::npos);
  EXPECT_NE(message<InputError>([&] { export_draws(run, folder_ / "a.txt"); }).find("draws are exported as .nc"),
            std::string::npos);
  EXPECT_NE(message<InputError>([&] {
              predict(run, {.table = {table()}}, folder_ / "a.txt");
            }).find("predictions are written as .parquet or .csv"),
            std::string::npos);
}

}  // namespace
}  // namespace flymc
