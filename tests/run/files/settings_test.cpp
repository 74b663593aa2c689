// Settings survive their file, and bad ones are refused with their name.
#include "flymc/run/files/settings.hpp"

#include <gtest/gtest.h>

#include "draws/files/scratch_folder.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/files.hpp"
#include "flymc/run/files/families.hpp"

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
  EXPECT_EQ(reading("draws = many\n"), path.string() + ": draws: 'many' is not a whole number");
  EXPECT_EQ(reading("draws = 99999999999\n"), path.string() + ": draws: 99999999999 is too large");
  EXPECT_EQ(reading("float32 = yes\n"), path.string() + ": float32: 'yes' is neither true nor false");
  EXPECT_NE(reading("standardise = true\n").find("there is no setting 'standardise' any more"), std::string::npos);
  EXPECT_EQ(
      reading("move = 'jump'\n"),
      path.string() + ": move: 'jump' is none of auto|split_hmc|random_walk|mala|slice_coordinates|slice_direction");
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
