// Settings can be written and read back, and bad settings are refused by name.
#include "flymc/run/files/settings/settings.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "draws/files/scratch_folder.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/files.hpp"
#include "flymc/run/files/settings/families.hpp"

namespace flymc {
namespace {

using flymc::testing::message;
using SettingsFile = flymc::testing::ScratchFolder;

TEST_F(SettingsFile, GivesBackWhatWasWritten) {
  Settings settings;
  settings.table = {"a b.csv", "c'd.csv", "e,f.csv"};
  settings.target = "it's";
  settings.columns = {"x", "12"};
  settings.prior = "student_t(4, 0, 2.5)";
  settings.family = "student_t";
  settings.sigma = 0.1;
  settings.float32 = true;
  settings.delimiter = ";";
  settings.fit.seed = 18446744073709551615u;
  settings.fit.move = MoveKind::slice_direction;
  settings.fit.sweep = SweepKind::consecutive;
  settings.target_ess = 400.5;
  write_whole(folder_ / "settings.toml", to_toml(settings));
  Settings again;
  read_toml(folder_ / "settings.toml", again);
  for (const Setting& setting : all_settings()) EXPECT_EQ(setting.get(again), setting.get(settings)) << setting.name;
}

void expect_same(const Settings& settings) {
  const std::string text = to_toml(settings);
  for (const bool of_a_run : {false, true}) {
    Settings again;
    from_toml(text, "here", again, of_a_run);
    for (const Setting& setting : all_settings())
      EXPECT_EQ(setting.get(again), setting.get(settings)) << setting.name << " in " << text;
    EXPECT_EQ(to_toml(again), text);
  }
}

TEST(Settings, SurviveTheirFileWhateverNamesHold) {
  const std::vector<std::string> nasty = {"C#",
                                          "# x",
                                          "a\\b",
                                          "\\",
                                          "\\u0041",
                                          "'",
                                          "\"",
                                          "it's \"so\"",
                                          "'''",
                                          "\"\"\"",
                                          "a'\\",
                                          "=",
                                          "a = b",
                                          "[x]",
                                          "]",
                                          "[[x]]",
                                          "{}",
                                          ",",
                                          "a,b",
                                          " ",
                                          "  a ",
                                          "\t",
                                          "\n",
                                          "a\nb = 1\n",
                                          "\r\n",
                                          "\x01\x1b[31m\x7f",
                                          std::string("a\0b", 3),
                                          "\xc3\xa9",
                                          "\xf0\x9f\x94\xa5",
                                          "\xc2\x85",
                                          "\xe2\x80\xa8",
                                          "\xe2\x80\xae",
                                          "\xef\xbb\xbf",
                                          "\xef\xbf\xbf",
                                          "true",
                                          "false",
                                          "nan",
                                          "inf",
                                          "-inf",
                                          "12",
                                          "007",
                                          "+1",
                                          "-0",
                                          "-0.0",
                                          ".5",
                                          "5.",
                                          "1.0",
                                          "1e5",
                                          "1E5",
                                          "1e+20",
                                          "1_000",
                                          "0x1f",
                                          "0b1",
                                          "18446744073709551615",
                                          "9223372036854775808",
                                          "99999999999999999999999",
                                          "1e999",
                                          "1979-05-27",
                                          "07:32:00",
                                          "1979-05-27T07:32:00Z",
                                          "a.b.c",
                                          "${HOME}",
                                          "$(x)",
                                          std::string(100000, 'x'),
                                          std::string(5000, '\''),
                                          std::string(5000, '\\'),
                                          std::string(5000, '.')};
  Settings all;
  for (const std::string& word : nasty) {
    Settings one;
    one.table = one.columns = one.exclude = one.categorical = one.reference = one.order = {word};
    one.target = one.weights = one.offset = one.exposure = one.trials = one.event = one.positive = word;
    one.delimiter = one.missing = one.family = one.part = one.prior = one.from = word;
    expect_same(one);
    all.columns.push_back(word);
    all.columns.push_back("");
  }
  expect_same(all);
  Settings formula;
  formula.formula = "`C#` ~ `a\\b` + `it's` + `\"x\"`";
  formula.target = "C#";
  expect_same(formula);
  formula.formula = "y ~ 0 + x";
  formula.target = "y";
  formula.no_intercept = true;
  expect_same(formula);
}

TEST(Settings, NumbersSurviveTheirFile) {
  for (const double x : std::initializer_list<double>{0.1, 1e-300, 5e-324, 1e20, 1.7976931348623157e308, -0.0,
                                                      123456789.125, HUGE_VAL, NAN}) {
    Settings settings;
    settings.nu = settings.sigma = settings.target_ess = settings.checkpoint_seconds = x;
    if (x >= 0.0) settings.fit.lit = {.above = x};
    expect_same(settings);
  }
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
    Settings settings;
    settings.fit.seed = seed;
    expect_same(settings);
  }
}

TEST(Settings, ThatHaveADefaultAreNotEmpty) {
  for (const bool of_a_run : {false, true}) {
    Settings settings;
    EXPECT_THROW(from_toml("target = 'y'\nfamily = ''\n", "settings.toml", settings, of_a_run), InputError);
  }
}

// The names 5.0 and 5 must remain different.
TEST(Settings, NamesThatLookLikeNumbersSurviveTheirFile) {
  for (const std::string name : {"5.0", "5", "1e3", "-0", "0.10", "nan", "inf", "true", "007", "1_000", "0x1f"}) {
    Settings settings;
    settings.target = name;
    for (const bool of_a_run : {false, true}) {
      Settings again;
      from_toml(to_toml(settings), "settings.toml", again, of_a_run);
      EXPECT_EQ(again.target, name) << to_toml(settings);
    }
  }
}

TEST(Settings, NamesThatAreNoTextAreRefused) {
  for (const char* bytes : {"caf\xe9.csv", "\xc0\xaf", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\xe2\x82", "\x80"}) {
    Settings settings;
    settings.table = {bytes};
    EXPECT_NE(message<InputError>([&] { to_toml(settings); }).find("is not UTF-8; rename it"), std::string::npos);
  }
}

// Earlier versions quoted neither numbers nor names, and a seed could be larger than TOML's numbers.
TEST(Settings, OfEarlierVersionsAreReadAsTheyWereMeant) {
  Settings settings;
  from_toml(
      "# Settings of a flymc run\ntable = ['/a/C#.csv']\ntarget = 007\npositive = 1.0\nseed = 18446744073709551615\n"
      "columns = [\"it's\"]\nstandardise = true\nfloat32 = true\nlit = 1e-05\n# checksum 0\n",
      "here", settings, true);
  EXPECT_EQ(settings.table, std::vector<std::string>{"/a/C#.csv"});
  EXPECT_EQ(settings.target, "007");
  EXPECT_EQ(settings.positive, "1.0");
  EXPECT_EQ(settings.columns, std::vector<std::string>{"it's"});
  EXPECT_EQ(settings.fit.seed, ~std::uint64_t{0});
  EXPECT_EQ(settings.fit.lit.above, 1e-05);
  EXPECT_TRUE(settings.float32);
  EXPECT_NE(message<InputError>([&] {
              from_toml("columns = [\"it's\\new\"]\n", "here", settings, true);
            }).find("so that they cannot be read for certain; begin another run"),
            std::string::npos);
}

TEST(Settings, OfAPersonMayUseAllOfToml) {
  Settings settings;
  from_toml(
      "\xef\xbb\xbf# mine\r\n\"target\" = \"a\\u0023b\" # and so on\r\n"
      "columns = [\n  'x', # one\n  \"\"\"y\"\"\",\n]\nchains = 0x2\nnu = 5.0\nseed = 1_000\ncategorical = 'one'\n",
      "here", settings);
  EXPECT_EQ(settings.target, "a#b");
  EXPECT_EQ(settings.columns, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(settings.categorical, std::vector<std::string>{"one"});
  EXPECT_EQ(settings.fit.chains, 2);
  EXPECT_EQ(settings.fit.seed, 1000u);
  EXPECT_EQ(settings.nu, 5.0);
}

TEST_F(SettingsFile, BadLinesNameFileAndKey) {
  const auto path = folder_ / "s.toml";
  const auto reading = [&](const std::string& text) {
    write_whole(path, text);
    return message<InputError>([&] {
      Settings settings;
      read_toml(path, settings);
    });
  };
  EXPECT_EQ(reading("drawz = 5\n"), path.string() + ": there is no setting 'drawz'; did you mean 'draws'?");
  EXPECT_EQ(reading("draws = 'many'\n"), path.string() + ": draws: 'many' is not a whole number");
  EXPECT_EQ(reading("draws = 99999999999\n"), path.string() + ": draws: 99999999999 is too large");
  EXPECT_EQ(reading("float32 = 'yes'\n"), path.string() + ": float32: 'yes' is neither true nor false");
  EXPECT_NE(reading("standardise = true\n").find("there is no setting 'standardise' any more"), std::string::npos);
  EXPECT_EQ(
      reading("move = 'jump'\n"),
      path.string() + ": move: 'jump' is none of auto|split_hmc|random_walk|mala|slice_coordinates|slice_direction");
  const auto says = [&](const std::string& text, const std::string& what) {
    const std::string said = reading(text);
    EXPECT_TRUE(said.starts_with(path.string() + ": ") && said.find(what) != std::string::npos && said.size() < 600)
        << said;
  };
  says("chains = 2\nfamily = poisson\n", "line 2 is not TOML");
  says("family = poisson\n", "a text stands in quotes");
  says("chains = 2\nchains = 3\n", "line 2 is not TOML");
  says("target = 'caf\xe9'\n", "line 1 is not TOML");
  says("[model]\nfamily = 'poisson'\n", "settings stand under no heading; remove [model]");
  says("[[model]]\nfamily = 'poisson'\n", "settings stand under no heading; remove [model]");
  says("a.family = 'poisson'\n", "settings stand under no heading; remove [a]");
  says("columns = [['x']]\n", "columns: a value is");
  says("seed = 2026-11-18\n", "seed: a value is");
  says("columns = {x = 1}\n", "remove [columns]");
  says("seed = 18446744073709551616\n", "line 1 is not TOML");
  says("seed = 1\n\u00e4 = 2\n", "line 2 is not TOML");
  says("seed = \u0436\n", "line 1 is not TOML");
}

// No byte follows the text, so that an address sanitizer detects reads beyond its end.
TEST(Settings, a_run_may_end_within_a_line) {
  const std::string words = "table = ['t.csv']\ntarget = ";
  const std::vector<char> text(words.begin(), words.end());
  Settings settings;
  from_toml({text.data(), text.size()}, "settings.toml", settings, true);
  EXPECT_EQ(settings.target, "");
}

// Deeply nested and long files are refused, and overflow neither the stack nor memory.
TEST(Settings, DepthAndLengthAreLimited) {
  constexpr std::size_t deep = 1000000;
  const auto many = [](std::string_view text, std::size_t times) {
    std::string out;
    for (std::size_t i = 0; i < times; ++i) out += text;
    return out;
  };
  const auto says = [&](const std::string& text, const std::string& what) {
    const std::string said = message<InputError>([&] {
      Settings settings;
      from_toml(text, "here", settings);
    });
    EXPECT_NE(said.find(what), std::string::npos) << said << text.substr(0, 40);
    EXPECT_LT(said.size(), 600u);
  };
  says("columns = " + many("[", deep), "line 1 is not TOML");
  says("columns = " + many("{a=", deep), "line 1 is not TOML");
  for (const std::string& key : {many("a.", deep) + "a", many("''.", deep) + "a", many("\"\\\"\" . ", deep) + "a"})
    for (const std::string& text :
         {key + " = 1\n", "[" + key + "]\n", "[[" + key + "]]\n", "x = {" + key + " = 1}\n",
          "x = [1, {" + key + " = 1}]\n", "x = '''#'''''\n" + key + " = 1\n",
          "x = \"\"\"\\\"\"\"\"\"\"\n" + key + " = 1\n", "x = '\\'\n" + key + " = 1 # '\n", "# '\n" + key + " = 1\n"})
      says(text, "remove the dots of the names");
  says(std::string((std::size_t{16} << 20) + 1, '\n'), "it is larger than 16 MiB");
  Settings settings;
  settings.columns = {std::string(std::size_t{16} << 20, 'x')};
  EXPECT_NE(message<InputError>([&] { to_toml(settings); }).find("take 16 MiB"), std::string::npos);
}

TEST(Settings, AreChecked) {
  const auto checking = [](const auto& change) {
    Settings settings;
    change(settings);
    return message<InputError>([&] { check(settings); });
  };
  EXPECT_EQ(checking([](Settings& s) { s.family = "logit"; }), "‹family›: 'logit' is none of " + family_names(", "));
  EXPECT_EQ(checking([](Settings& s) { s.missing = "fill"; }), "‹missing›: 'fill' is neither error nor drop");
  EXPECT_EQ(checking([](Settings& s) { s.delimiter = "ab"; }), "‹delimiter›: 'ab' is not one character");
  EXPECT_EQ(checking([](Settings& s) { s.fit.chains = 0; }), "‹chains› must be 1 or more, not 0");
  EXPECT_NE(checking([](Settings& s) { s.prior = "cauchy(0, 1)"; }).find("is none of normal"), std::string::npos);
  EXPECT_EQ(checking([](Settings& s) { s.sigma = 2.0; }),
            "‹sigma›: only for the gaussian or student_t family, and this is logistic");
  EXPECT_EQ(checking([](Settings& s) {
              s.family = "student_t";
              s.nu = 0.0;
              s.sigma = 1.0;
            }),
            "student_t: the degrees of freedom, nu, must be positive");
}

}  // namespace
}  // namespace flymc
