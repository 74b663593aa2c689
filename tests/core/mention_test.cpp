// Settings in messages, and how they are spelled.
#include "flymc/core/mention.hpp"

#include <gtest/gtest.h>

namespace flymc {
namespace {

std::string as_flag(const Mention& m) {
  return (m.action ? "run " : "--") + m.name + (m.value ? " [" + *m.value + "]" : "");
}

TEST(Mention, IsSpelledByWhoeverShowsIt) {
  EXPECT_EQ(spelled("drop rows (" + mention("missing", "drop") + "), or " + mention("exclude"), as_flag),
            "drop rows (--missing [drop]), or --exclude");
  EXPECT_EQ(spelled(mention("exclude", "") + mention("target-ess"), as_flag), "--exclude []--target-ess");
  EXPECT_EQ(spelled(mention_action("fit") + ", " + mention_action("resume", "a b/c"), as_flag),
            "run fit, run resume [a b/c]");
  EXPECT_EQ(spelled("nothing", as_flag), "nothing");
  EXPECT_EQ(spelled("", as_flag), "");
}

TEST(Mention, KeepsMarksOfOthersApart) {
  EXPECT_EQ(spelled("column 'p‹q': leave it out (" + mention("exclude", "p‹q›r") + ")",
                    [](const Mention& m) { return "--" + m.name + " " + *m.value; }),
            "column 'p‹q': leave it out (--exclude p<q>r)");
}

TEST(Mention, TheSettingThatAMessageBeginsWith) {
  EXPECT_EQ(leading_setting(mention("target-ess") + " must be 0 or more (" + mention("draws") + ")"), "target-ess");
  EXPECT_EQ(leading_setting(mention("missing", "drop") + " is needed"), "missing");
  EXPECT_EQ(leading_setting("leave it out (" + mention("exclude") + ")"), "");
  EXPECT_EQ(leading_setting(mention_action("fit") + " makes one"), "");
  for (const std::string text : {"", "‹", "‹a", "‹Äpfel›", "›a‹"}) EXPECT_EQ(leading_setting(text), "");
}

TEST(Mention, IsReadableAsItIs) { EXPECT_EQ(mention("missing", "drop"), "‹missing = drop›"); }

// Names of columns may contain the marks.
TEST(Mention, LeavesOtherTextAlone) {
  for (const std::string text : {"column '‹Äpfel›'", "column '‹a", "‹›", "‹ = 3›", "›‹", "‹ a›"})
    EXPECT_EQ(spelled(text, as_flag), text);
  EXPECT_EQ(spelled("‹Äpfel› " + mention("out"), as_flag), "‹Äpfel› --out");
}

}  // namespace
}  // namespace flymc
