// Draws of effects on disk: what is written is read, for any part of the groups, and other files are refused.
#include "flymc/draws/files/effects_file.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "draws/files/scratch_folder.hpp"
#include "flymc/draws/files/draws_file.hpp"

namespace flymc {
namespace {

using testing::message;
using EffectsFileTest = testing::ScratchFolder;

const EffectsColumns two = {{"1 | town", 300}, {"0 + age | doctor", 7}};

double number(std::int32_t chain, std::int64_t draw, Index i) {
  return static_cast<double>(
      static_cast<float>(0.5 * chain - 0.01 * static_cast<double>(draw) + static_cast<double>(i)));
}

// Two chains, the second of which has more draws; several batches.
void write(const std::filesystem::path& path, std::int32_t chain, std::int64_t from, std::int64_t to) {
  EffectsWriter writer(path, two);
  std::vector<double> effects(307);
  for (std::int64_t draw = from; draw < to; ++draw) {
    for (Index i = 0; i < 307; ++i) effects[static_cast<std::size_t>(i)] = number(chain, draw, i);
    writer.append(chain, draw, effects);
  }
  writer.finish();
}

TEST_F(EffectsFileTest, HasWhatWasWritten) {
  const auto path = [&](const char* name) { return folder_ / name; };
  write(path("a.arrow"), 0, 0, 5000);
  write(path("b.arrow"), 3, 0, 40);
  write(path("c.arrow"), 3, 40, 50);
  merge_effects({path("a.arrow"), path("b.arrow"), path("c.arrow")}, two, path("all.arrow"));
  for (const auto& parts : std::vector<std::vector<std::filesystem::path>>{
           {path("a.arrow"), path("b.arrow"), path("c.arrow")}, {path("all.arrow")}}) {
    const EffectsFile file(parts, two);
    EXPECT_EQ(file.draws(), 5050);
    const auto towns = file.read(0, 298, 2);
    ASSERT_EQ(towns.size(), 2u);
    ASSERT_EQ(towns[0].size(), 2u);
    EXPECT_EQ(towns[0][0].size(), 5000u);
    EXPECT_EQ(towns[0][1].size(), 50u);
    EXPECT_EQ(towns[1][0][4999], number(0, 4999, 299));
    EXPECT_EQ(towns[0][1][45], number(3, 45, 298));
    EXPECT_EQ(file.read(1, 6, 1)[0][1][0], number(3, 0, 306));
    const auto kept = file.kept();
    ASSERT_EQ(kept.size(), 2u);
    EXPECT_EQ(kept[0].chain, 0);
    EXPECT_EQ(kept[0].draws.size(), 5000u);
    EXPECT_EQ(kept[1].chain, 3);
    EXPECT_EQ(kept[1].draws.back(), 49);
    // The same draw by draw.
    const auto numbers = file.chains_and_draws();
    ASSERT_EQ(numbers.size(), 5050u);
    for (std::size_t column = 0; column < 2; ++column) {
      const std::vector<const float*> draws = file.columns_of_draws(column);
      ASSERT_EQ(draws.size(), numbers.size());
      for (const std::size_t i : {std::size_t{0}, std::size_t{4999}, std::size_t{5000}, std::size_t{5049}}) {
        const auto [chain, draw] = numbers[i];
        EXPECT_EQ(numbers[i], std::pair(i < 5000 ? 0 : 3, static_cast<std::int64_t>(i < 5000 ? i : i - 5000)));
        for (const Index j : {0, 6}) EXPECT_EQ(draws[i][j], number(chain, draw, column == 0 ? j : 300 + j));
      }
    }
    file.check_finite();
  }
}

TEST_F(EffectsFileTest, RefusesOtherFiles) {
  const auto path = folder_ / "a.arrow";
  write(path, 0, 0, 10);
  const auto refusal = [&](const EffectsColumns& columns) {
    return message<DamagedDraws>([&] { EffectsFile({path}, columns); });
  };
  EXPECT_NE(refusal({{"1 | town", 300}}).find("other columns"), std::string::npos);
  EXPECT_NE(refusal({{"1 | town", 300}, {"0 + age | doctor", 8}}).find("other columns"), std::string::npos);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  EXPECT_NE(refusal(two).find("not the effects of the run"), std::string::npos);
  std::ofstream(path) << "something else";
  EXPECT_NE(refusal(two).find("not the effects of the run"), std::string::npos);
  EffectsWriter writer(path, {{"1 | town", 1}});
  const double nan[] = {NAN};
  writer.append(0, 0, nan);
  writer.finish();
  EXPECT_NE(message<DamagedDraws>([&] {
              EffectsFile({path}, {{"1 | town", 1}}).read(0, 0, 1);
            }).find("not a finite number"),
            std::string::npos);
  EXPECT_NE(message<DamagedDraws>([&] {
              EffectsFile({path}, {{"1 | town", 1}}).check_finite();
            }).find("not a finite number"),
            std::string::npos);
}

}  // namespace
}  // namespace flymc
