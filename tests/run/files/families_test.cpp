// Every card agrees with its family.
#include "flymc/run/files/settings/families.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "draws/files/scratch_folder.hpp"
#include "flymc/core/error.hpp"
#include "flymc/model/prior_terms.hpp"
#include "flymc/run/files/settings/priors.hpp"

namespace flymc {
namespace {

using flymc::testing::message;

// Settings that name the family and give what it needs.
Settings settings_of(const FamilyCard& card) {
  Settings settings;
  settings.family = card.name;
  if (card.trials) settings.trials = "tries";
  return settings;
}

std::string refusal(const Settings& settings) {
  return message<InputError>([&] { check(settings); });
}
bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
const std::string accepted = message<InputError>([] {});

TEST(Families, CardsMakeTheModelsThatTheySpeakOf) {
  for (const FamilyCard& card : all_families()) {
    SCOPED_TRACE(card.name);
    const Settings settings = settings_of(card);
    EXPECT_EQ(refusal(settings), accepted);
    EXPECT_EQ(&family_card(card.name), &card);
    for (const int classes : {2, 3, 7}) {
      const Model model = make_model(settings, classes);
      EXPECT_EQ(model.family().name(), card.name);
      EXPECT_EQ(model.arrangement().blocks(), card.predictors(classes));
      EXPECT_EQ(model.family().target_classes(), card.target == TargetKind::number ? 0
                                                 : card.target != TargetKind::classes
                                                     ? 2  // an ordered target is below or above a cut point
                                                     : classes);
    }
    EXPECT_EQ(make_model(settings, 2).scales_coefficients(), card.scale);
    EXPECT_EQ(make_model(settings, 2).arrangement().last_is_shared(), card.shape);
    if (card.scale && !card.times) {
      Settings given = settings;
      given.sigma = 1.5;
      EXPECT_EQ(refusal(given), accepted);
      EXPECT_FALSE(make_model(given, 2).scales_coefficients());
      EXPECT_EQ(make_model(given, 2).family().name(), card.name);
    }
    if (card.target != TargetKind::classes) continue;
    EXPECT_EQ(make_model(settings, card.most_classes).predictors(), card.predictors(card.most_classes));
    EXPECT_THROW(make_model(settings, card.most_classes + 1), InputError);
  }
}

TEST(Families, PriorsAreChecked) {
  for (const FamilyCard& card : all_families()) {
    Settings settings = settings_of(card);
    EXPECT_TRUE(contains(to_toml(settings), "prior = 'default'"));
    settings.prior = "";
    EXPECT_TRUE(contains(refusal(settings), "‹prior›: '' is none of")) << card.name;
  }
}

// Compares the mean of many targets with the family's mean, in standard errors. There are K numbers for each of three
// eta, less than 30 in all, so a limit of 5.5 has a false-alarm rate below 2e-6.
TEST(Families, MeansAreThoseOfTheirTargets) {
  constexpr int targets = 100000;
  constexpr double limit = 5.5;
  for (const FamilyCard& card : all_families()) {
    SCOPED_TRACE(card.name);
    const Model model = make_model(settings_of(card), 3);
    const auto k = static_cast<std::size_t>(model.predictors());
    for (const double size : {0.3, -0.8, 1.2}) {
      std::vector<double> eta(k), mean(k), sum(k), squares(k);
      for (std::size_t j = 0; j < k; ++j) eta[j] = size * (1.0 - static_cast<double>(j));
      model.family().mean(eta, mean);
      const PhiloxRandom random(17, 0, 0);
      for (std::uint64_t i = 0; i < targets; ++i) {
        const double y = model.family().simulate(eta, random, i);
        for (std::size_t j = 0; j < k; ++j) {
          const bool share = card.target == TargetKind::classes;
          double value = share ? (y == static_cast<double>(j) ? 1.0 : 0.0) : y;
          if (card.times) value = mean[j] + (y > mean[j] ? 0.5 : -0.5);  // the family's mean of a time is its median
          sum[j] += value - mean[j];
          squares[j] += (value - mean[j]) * (value - mean[j]);
        }
      }
      for (std::size_t j = 0; j < (card.shape ? 1 : k); ++j)  // the second number is the shape
        EXPECT_LT(std::abs(sum[j]), limit * std::sqrt(squares[j])) << j << " " << size;
    }
  }
}

// The variance of the residuals: simulated at a scale of 1, or, for classes, that of the latent number whose distribution
// function is the probability of the second class. There are five families that simulate, so a limit of 5.5 standard
// errors has a false-alarm rate below 1e-6.
TEST(Families, ResidualVariancesAreThoseOfTheirDistributions) {
  std::size_t simulated = 0, integrated = 0;
  for (const FamilyCard& card : all_families()) {
    SCOPED_TRACE(card.name);
    EXPECT_EQ(card.residual_variance.value != nullptr,
              card.target == TargetKind::two_classes || card.trials || card.scale);
    if (card.residual_variance.value == nullptr) continue;
    Settings settings = settings_of(card);
    settings.nu = 30.0;
    const double variance = card.residual_variance.value(settings);
    const Model model = make_model(settings, 2);
    if (card.scale) {
      constexpr int draws = 200000;
      double sum = 0.0, squares = 0.0, fourths = 0.0;
      std::vector<double> of(draws);
      for (int i = 0; i < draws; ++i)
        sum += of[static_cast<std::size_t>(i)] =
            model.family().simulate(std::vector{0.0}, PhiloxRandom(3, 0, 0), static_cast<std::uint64_t>(i));
      for (const double y : of) {
        squares += std::pow(y - sum / draws, 2) / draws;
        fourths += std::pow(y - sum / draws, 4) / draws;
      }
      EXPECT_LT(std::abs(squares - variance), 5.5 * std::sqrt((fourths - squares * squares) / draws)) << squares;
      ++simulated;
    } else {
      constexpr double step = 1e-3;
      double first = 0.0, second = 0.0;
      for (double x = 0.5 * step; x < 40.0; x += step) {
        double above = 0.0, below = 0.0;
        model.family().mean(std::vector{x}, {&above, 1});
        model.family().mean(std::vector{-x}, {&below, 1});
        first += step * (1.0 - above - below);
        second += step * 2.0 * x * (1.0 - above + below);
      }
      EXPECT_NEAR(second - first * first, variance, 1e-5);
      ++integrated;
    }
  }
  EXPECT_EQ(simulated, 5u);
  EXPECT_EQ(integrated, 4u);
  Settings heavy;
  heavy.family = "student_t";
  heavy.nu = 2.0;
  EXPECT_TRUE(std::isinf(family_card(heavy.family).residual_variance.value(heavy)));
}

TEST(Families, UnknownOnesAreRefusedWithTheNamesOfAll) {
  Settings settings;
  settings.family = "logit";
  const std::string text = refusal(settings);
  EXPECT_TRUE(contains(text, "'logit' is none of")) << text;
  for (const FamilyCard& card : all_families()) EXPECT_TRUE(contains(text, card.name)) << text;
  EXPECT_EQ(message<InputError>([&] { make_model(settings, 2); }), text);
}

TEST(Families, ParametersBelongToTheirFamilies) {
  for (const FamilyCard& card : all_families())
    for (const FamilyParameter& parameter : card.parameters) {
      SCOPED_TRACE(card.name + ", " + parameter.name);
      Settings without = settings_of(card);
      without.*parameter.value = Settings().*parameter.value;
      EXPECT_EQ(refusal(without), accepted);
      for (const FamilyCard& other : all_families()) {
        Settings misplaced = settings_of(other);
        misplaced.*parameter.value += 1.0;
        bool shared = false;
        for (const FamilyParameter& own : other.parameters) shared = shared || own.name == parameter.name;
        const std::string text = refusal(misplaced);
        EXPECT_TRUE(shared ? text == accepted : contains(text, parameter.name) && contains(text, card.name)) << text;
      }
    }
}

TEST(Families, OnlyTwoClassesHaveOneThatCountsAsOne) {
  for (const FamilyCard& card : all_families()) {
    Settings settings = settings_of(card);
    settings.positive = "yes";
    const bool fits = card.target == TargetKind::two_classes;
    const std::string those = family_names(" or ", TargetKind::two_classes);
    EXPECT_EQ(refusal(settings),
              fits ? accepted : "‹positive›: only the " + those + " family has a level that counts as 1");
  }
}

}  // namespace
}  // namespace flymc
