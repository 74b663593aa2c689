// The manifest of a run: what it says of each stage, and what happens between a stage's files and the manifest.
#include "flymc/run/files/folder/manifest.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "../../../src/run/files/json/sealed_json.hpp"
#include "draws/files/scratch_folder.hpp"
#include "flymc/core/files.hpp"
#include "flymc/draws/files/draws_file.hpp"
#include "flymc/run/files/reading/run_rows.hpp"
#include "flymc/run/files/stages/copies.hpp"
#include "flymc/run/files/stages/run.hpp"
#include "flymc/run/files/stages/run_on_another.hpp"
#include "run/files/stopper.hpp"

namespace flymc {
namespace {

using flymc::testing::message;
using flymc::testing::Stopper;

const char* const some_time = "2026-11-19T17:18:19Z";

TEST(ManifestText, IsReadAsItWasWritten) {
  Manifest all;
  EXPECT_EQ(Manifest::from_json(all.to_json()), all);
  all.rows.emplace();
  all.rows->sources = {{"/data/a \"quoted\".csv", 123, 32, 0xfedcba9876543210u}, {"s3://bucket/b.parquet", 5, 2, 0}};
  all.rows->parts = {{"rows-1-of-2.arrow", 7, {0, 1}, some_time}, {"rows-2-of-2.arrow", std::nullopt, {}, some_time}};
  all.rows->order = "patient";
  all.starts = all.draws = some_time;
  EXPECT_EQ(Manifest::from_json(all.to_json()), all);
  all.preparation = all.report = time_now();
  EXPECT_EQ(Manifest::from_json(all.to_json()), all);
}

// Files of this version are read for good: this text is not to be changed.
TEST(ManifestText, OfVersionOneIsRead) {
  const Manifest read = Manifest::from_json(R"json({
  "flymc": "run",
  "version": 1,
  "rows": {
    "parts": [
      {
        "file": "rows.arrow",
        "rows": 30000,
        "sources": [
          0
        ],
        "written": "2026-11-19T18:20:12Z"
      }
    ],
    "sources": [
      {
        "file": "/data/t.csv",
        "bytes": 953820,
        "pieces": 32,
        "xxh3": "a2278c908fea802a"
      }
    ],
    "order": {
      "factor": "shop"
    }
  },
  "preparation": {
    "written": "2026-11-19T18:20:12Z"
  },
  "draws": {
    "written": "2026-11-19T18:20:12Z"
  },
  "report": {
    "written": "2026-11-19T18:20:12Z"
  },
  "checksum": "6e78fed7de5c88a8"
}
)json");
  Manifest expected;
  expected.rows.emplace();
  expected.rows->parts = {{"rows.arrow", 30000, {0}, "2026-11-19T18:20:12Z"}};
  expected.rows->sources = {{"/data/t.csv", 953820, 32, 0xa2278c908fea802a}};
  expected.rows->order = "shop";
  expected.preparation = expected.draws = expected.report = "2026-11-19T18:20:12Z";
  EXPECT_EQ(read, expected);
}

TEST(ManifestText, NamesOfRowsAreNoOtherFiles) {
  for (const auto& [part, parts] : {std::pair(0, 1), {0, 4}, {3, 4}, {11, 12}})
    EXPECT_EQ(part_of_rows(name_of_rows(part, parts)), std::pair(part, parts));
  for (const char* name :
       {"", "rows", "rows.arrow.partial", "rows-0-of-4.arrow", "rows-5-of-4.arrow", "rows-1-of-1.arrow",
        "rows-01-of-4.arrow", "rows-1-of-4.arrow ", "../rows.arrow", "rows--1-of-4.arrow"})
    EXPECT_FALSE(part_of_rows(name)) << name;
}

TEST(ManifestText, ThatNoRunWroteIsRefused) {
  const std::string part = R"({"file": "rows.arrow", "rows": 5, "sources": [0], "written": "2026-11-19T17:18:19Z"})",
                    source = R"({"file": "a.csv", "bytes": 9, "pieces": 2, "xxh3": "0123456789abcdef"})";
  const auto refusal = [](const std::string& fields) {
    return message<InputError>([&] { Manifest::from_json(seal_json("{\n  \"flymc\": \"run\"" + fields + "\n}\n")); });
  };
  const auto rows = [&](const std::string& one, const std::string& from, const std::string& order = "null") {
    return refusal(
        fmt::format(R"(, "version": 1, "rows": {{"parts": {}, "sources": {}, "order": {}}})", one, from, order));
  };
  const auto with = [](std::string text, const std::string& old, const std::string& other) {
    return "[" + text.replace(text.find(old), old.size(), other) + "]";
  };
  const std::string good_part = "[" + part + "]", good_source = "[" + source + "]";
  EXPECT_EQ(rows(good_part, good_source), "no error");
  EXPECT_EQ(rows(good_part, good_source, R"({"factor": "shop"})"), "no error");
  for (const std::string& text : {rows("[]", good_source),
                                  rows("{}", good_source),
                                  rows(good_part, "[]"),
                                  rows(good_part, good_source, "7"),
                                  rows(fmt::format("[{0}, {0}]", part), good_source),
                                  rows(with(part, "rows.arrow", "../rows.arrow"), good_source),
                                  rows(with(part, "rows.arrow", "preparation.flymc"), good_source),
                                  rows(with(part, "[0]", "[1]"), good_source),
                                  rows(with(part, "[0]", "[-1]"), good_source),
                                  rows(with(part, "[0]", "0"), good_source),
                                  rows(with(part, ": 5", ": -5"), good_source),
                                  rows(with(part, ": 5", ": 1e300"), good_source),
                                  rows(with(part, "17:18", "25:1"), good_source),
                                  rows(good_part, with(source, "abcdef", "ABCDEG")),
                                  rows(good_part, with(source, "abcdef", "")),
                                  rows(good_part, with(source, ": 9", ": 9.5")),
                                  refusal(R"(, "version": 1, "draws": {"written": "now"})"),
                                  refusal(R"(, "version": 1, "draws": 7)"),
                                  refusal(R"(, "version": "1")"),
                                  refusal("")})
    EXPECT_NE(text.find("this is not the manifest of a run, or damaged"), std::string::npos) << text;
  EXPECT_EQ(refusal(R"(, "version": 2)"),
            "its format is version 2, and this flymc reads version 1; use the flymc that wrote it");
  std::string text = Manifest().to_json();
  EXPECT_EQ(message<InputError>([&] { Manifest::from_json(text); }), "no error");
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string bad = text;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    EXPECT_NE(message<InputError>([&] { Manifest::from_json(bad); }), "no error") << at;
    EXPECT_NE(message<InputError>([&] { Manifest::from_json(text.substr(0, at)); }), "no error") << at;
  }
}

class ManifestOfARun : public flymc::testing::ScratchFolder {
 protected:
  Settings settings() {
    const auto path = folder_ / "table.csv";
    std::ofstream out(path);
    out << "x,y\n";
    const PhiloxRandom random(5, 0, 0);
    for (std::uint64_t i = 0; i < 300; ++i)
      out << random.uniform(Purpose::simulate, i) << ',' << (random.uniform(Purpose::start, i) < 0.3) << '\n';
    Settings s;
    s.table = {path.string()};
    s.target = "y";
    s.fit.bound = BoundKind::sharp;  // for so small a table the program would choose regular MCMC
    s.fit.chains = 1;
    s.fit.warmup = 100;
    s.fit.draws = 50;
    s.until_enough = false;
    s.fit.threads = 1;
    return s;
  }
  RunDirectory whole(const std::string& name) {
    RunDirectory run = RunDirectory::create(folder_ / name, settings());
    EXPECT_TRUE(complete(run, quiet_));
    return run;
  }
  static std::vector<double> draws_of(const RunDirectory& run) {
    const DrawsFile file(run.draws());
    std::vector<double> all;
    for (Index j = 0; j < file.coefficients(); ++j)
      for (const auto& chain : file.coefficient(j)) all.insert(all.end(), chain.begin(), chain.end());
    return all;
  }
  Monitor quiet_;
};

TEST_F(ManifestOfARun, SaysWhatIsDone) {
  const RunDirectory run = RunDirectory::create(folder_ / "run", settings());
  EXPECT_EQ(run.manifest(), Manifest());
  ingest(run, quiet_);
  const Manifest rows = run.manifest();
  ASSERT_TRUE(rows.rows);
  ASSERT_EQ(rows.rows->parts.size(), 1u);
  EXPECT_EQ(rows.rows->parts[0].file, "rows.arrow");
  EXPECT_EQ(rows.rows->parts[0].rows, 300);
  EXPECT_EQ(rows.rows->parts[0].sources, std::vector<std::size_t>{0});
  ASSERT_EQ(rows.rows->sources.size(), 1u);
  EXPECT_EQ(rows.rows->sources[0].name, (folder_ / "table.csv").string());
  EXPECT_EQ(rows.rows->sources[0].bytes, std::filesystem::file_size(folder_ / "table.csv"));
  EXPECT_NE(rows.rows->sources[0].hash, 0u);
  EXPECT_FALSE(rows.preparation || rows.draws || rows.report || rows.starts);
  EXPECT_TRUE(complete(run, quiet_));
  const Manifest all = run.manifest();
  EXPECT_EQ(all.rows, rows.rows);
  EXPECT_TRUE(all.preparation && all.draws && all.report);
  EXPECT_FALSE(all.starts);
  // A run that is sampled from another, and copies.
  const RunDirectory other = create_on(run, folder_ / "other", settings_on(run, folder_ / "other"));
  EXPECT_TRUE(other.manifest().starts && other.manifest().preparation);
  EXPECT_FALSE(other.manifest().rows || other.manifest().draws);
  EXPECT_TRUE(complete(other, quiet_));
  const RunDirectory copy = copy_run(other, folder_ / "copy");
  EXPECT_EQ(copy.manifest().rows, rows.rows);
  EXPECT_EQ(copy.manifest().report, other.manifest().report);
  EXPECT_TRUE(copy.finished());
}

// A process may die when a stage's file is there, and the manifest does not name it yet.
TEST_F(ManifestOfARun, AFileThatItDoesNotNameIsWrittenAgain) {
  const RunDirectory sound = whole("sound");
  const std::vector<double> expected = draws_of(sound);
  const Manifest all = sound.manifest();
  const auto resumed = [&](const std::string& name, const std::function<void(Manifest&)>& forget, const auto& damage) {
    const RunDirectory run = whole(name);
    run.record(forget);
    EXPECT_FALSE(run.finished());
    damage(run);
    EXPECT_TRUE(complete(run, quiet_));
    EXPECT_EQ(draws_of(run), expected) << name;
    EXPECT_TRUE(run.finished());
  };
  const auto spoil = [](const std::filesystem::path& file) { std::ofstream(file) << "of a run that was here before"; };
  resumed(
      "rows", [](Manifest& m) { m = Manifest(); },
      [&](const RunDirectory& run) {
        spoil(run.rows());
        spoil(run.preparation());
        std::filesystem::remove_all(run.path() / "chains");
      });
  resumed(
      "preparation", [](Manifest& m) { m.preparation = m.draws = m.report = std::nullopt; },
      [&](const RunDirectory& run) {
        spoil(run.preparation());
        std::filesystem::remove_all(run.path() / "chains");
      });
  resumed(
      "draws", [](Manifest& m) { m.draws = m.report = std::nullopt; },
      [&](const RunDirectory& run) {
        spoil(run.draws());
        std::filesystem::remove_all(run.path() / "chains");
      });
  resumed(
      "report", [](Manifest& m) { m.report.reset(); }, [&](const RunDirectory& run) { spoil(run.report()); });
}

// Leftovers of a run that died before it had settings do not become a part of the next one.
TEST_F(ManifestOfARun, StartsThatItDoesNotNameAreNone) {
  const RunDirectory base = whole("base");
  std::filesystem::create_directories(folder_ / "next");
  create_on(base, folder_ / "other", settings_on(base, folder_ / "other"));
  for (const char* name : {"starts.flymc", "preparation.flymc", "gaps.flymc"})
    std::filesystem::copy_file(folder_ / "other" / name, folder_ / "next" / name);
  const RunDirectory next = whole("next");
  EXPECT_FALSE(next.has_starts());
  EXPECT_EQ(draws_of(next), draws_of(base));
}

TEST_F(ManifestOfARun, OfAnEarlierVersionIsMadeOfItsFiles) {
  const RunDirectory run = whole("run");
  const std::vector<double> expected = draws_of(run);
  std::filesystem::remove(run.path() / "manifest.json");
  EXPECT_TRUE(run.finished());
  ASSERT_TRUE(run.manifest().rows);
  EXPECT_EQ(run.manifest().rows->parts[0].file, "rows.arrow");
  EXPECT_FALSE(run.manifest().rows->parts[0].rows);
  std::filesystem::remove(run.report());
  EXPECT_FALSE(run.finished());
  EXPECT_TRUE(complete(run, quiet_));
  EXPECT_TRUE(std::filesystem::exists(run.path() / "manifest.json"));
  EXPECT_TRUE(run.finished());
  EXPECT_EQ(draws_of(run), expected);
  // A part that is missing.
  for (const char* name : {"rows-1-of-3.arrow", "rows-3-of-3.arrow"}) std::ofstream(folder_ / name) << "rows";
  EXPECT_FALSE(Manifest::of(folder_).rows);
  std::ofstream(folder_ / "rows-2-of-3.arrow") << "rows";
  EXPECT_EQ(Manifest::of(folder_).rows->parts.size(), 3u);
}

TEST_F(ManifestOfARun, ThatIsDamagedOrLiesIsNamed) {
  const RunDirectory run = whole("run");
  const std::filesystem::path file = run.path() / "manifest.json";
  run.record([](Manifest& manifest) { manifest.rows->parts[0].rows = 299; });
  const std::string lie = message<InputError>([&] { open_unverified(run); });
  EXPECT_NE(lie.find(file.string() + ": it names 299 rows, and their files have 300; delete it"), std::string::npos)
      << lie;
  const std::string sound = read_whole(file);
  std::ofstream(file) << sound.substr(0, sound.size() / 2);
  const std::string damaged = message<InputError>([&] { complete(run, quiet_); });
  EXPECT_NE(damaged.find(file.string() + ": this is not the manifest of a run, or damaged"), std::string::npos)
      << damaged;
  std::filesystem::remove(file);
  EXPECT_TRUE(complete(run, quiet_));
  EXPECT_TRUE(run.finished());
}

// A manifest of something else is not taken for that of a run, and its folder not for a run's.
TEST_F(ManifestOfARun, OfOtherProgramsIsLeftAlone) {
  std::filesystem::create_directories(folder_ / "site");
  std::ofstream(folder_ / "site" / "manifest.json") << R"({"name": "a page", "icons": []})";
  EXPECT_NE(message<InputError>([&] { RunDirectory::create(folder_ / "site", settings()); }).find("other files"),
            std::string::npos);
  // The folder of a run that got no further than its settings is taken over.
  { RunDirectory::create(folder_ / "begun", settings()); }
  EXPECT_EQ(message<InputError>([&] { RunDirectory::create(folder_ / "begun", settings()); }), "no error");
}

}  // namespace
}  // namespace flymc
