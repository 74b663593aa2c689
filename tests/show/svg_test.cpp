// Scales, ticks, and shapes written as text.
#include "flymc/show/svg.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "flymc/show/draws_plots.hpp"
#include "flymc/show/intervals.hpp"

namespace flymc {
namespace {

TEST(Ticks, AreNumbersThatPeopleLike) {
  EXPECT_EQ(ticks(0.0, 1.0, 5), (std::vector<double>{0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0}));
  EXPECT_EQ(ticks(-3.0, 12.0, 4), (std::vector<double>{0.0, 5.0, 10.0}));
  EXPECT_EQ(ticks(1.0, 1.0, 4), (std::vector<double>{1.0}));
  for (const double size : {1e-12, 0.37, 5.0, 8.8e9})
    for (const double at : {0.0, -3.3, 1e6}) {
      const auto found = ticks(at * size, (at + 1.0) * size, 4);
      EXPECT_GE(found.size(), 2u) << size << " " << at;
      EXPECT_LE(found.size(), 11u);
      for (const double tick : found) {
        EXPECT_GE(tick, (at - 1e-6) * size);
        EXPECT_LE(tick, (at + 1.0 + 1e-6) * size);
      }
    }
}

TEST(Ticks, HaveTheDigitsThatTheyNeed) {
  EXPECT_EQ(tick_text(0.30000000000000004, 0.1), "0.3");
  EXPECT_EQ(tick_text(-0.0, 0.5), "0.0");
  EXPECT_EQ(tick_text(25.0, 5.0), "25");
  EXPECT_EQ(tick_text(3e7, 1e7), "3e+07");
  EXPECT_EQ(tick_text(0.00002, 0.00001), "2e-05");
}

TEST(Scales, TakeEmptyRangesAndNumbersThatAreNone) {
  const Scale same(3.0, 3.0, 0.0, 100.0);
  EXPECT_DOUBLE_EQ(same(3.0), 50.0);
  const Scale none(HUGE_VAL, -HUGE_VAL, 0.0, 100.0);
  EXPECT_TRUE(std::isfinite(none(0.0)));
}

TEST(Svg, EscapesWords) {
  Svg svg(10.0, 10.0, "a \"b\" <c>");
  svg.text(1.0, 2.0, "<script>", "tick");
  const std::string out = svg.finish();
  EXPECT_NE(out.find("aria-label=\"a &quot;b&quot; &lt;c&gt;\""), std::string::npos);
  EXPECT_NE(out.find("&lt;script&gt;"), std::string::npos);
  EXPECT_EQ(out.find("<script"), std::string::npos);
}

TEST(Svg, HasNoNumbersThatAreNone) {
  Svg svg(10.0, 10.0, "");
  svg.line(NAN, HUGE_VAL, -HUGE_VAL, 1e300, "grid").rectangle(0.0, 0.0, -5.0, NAN, "bar");
  const std::string out = svg.finish();
  EXPECT_EQ(out.find("nan"), std::string::npos);
  EXPECT_EQ(out.find("inf"), std::string::npos);
  EXPECT_NE(out.find("width=\"0\""), std::string::npos);
}

TEST(DrawsPlots, TakeAnyDraws) {
  const std::vector<std::vector<std::vector<double>>> all = {
      {{1.0, 2.0, 3.0}, {2.0, 3.0, 4.0}}, {{5.0}, {5.0}}, {{5.0, 5.0}}, {{NAN, 1.0}, {HUGE_VAL, 2.0}}};
  for (const auto& draws : all)
    for (const std::string& plot :
         {trace_plot("x", draws), rank_plot("x", draws), laplace_plot("x", draws, 1.0, 0.5)}) {
      EXPECT_NE(plot.find("<svg"), std::string::npos);
      EXPECT_EQ(plot.find("nan"), std::string::npos);
      EXPECT_EQ(plot.find("inf"), std::string::npos);
    }
}

TEST(DrawsPlots, TracesOfLongChainsStayShort) {
  const std::vector<std::vector<double>> draws(4, std::vector<double>(100000, 0.5));
  EXPECT_LT(trace_plot("x", draws).size(), 20000u);
}

TEST(DrawsPlots, RanksShowAChainThatIsElsewhere) {
  std::vector<std::vector<double>> draws(2);
  for (int i = 0; i < 200; ++i) {
    draws[0].push_back(i);
    draws[1].push_back(i + 1000);
  }
  // Each chain has all its draws in one half of the ranks: twice its share there and 0 in the other half. The first one
  // begins at the height of 2 and ends at that of 0. Heights run from 172 (0) to 22 (2.1).
  const std::string plot = rank_plot("x", draws);
  EXPECT_NE(plot.find("class=\"chain c0\" d=\"M46 29.1"), std::string::npos) << plot;
  EXPECT_NE(plot.find("class=\"chain c1\" d=\"M46 172"), std::string::npos);
}

TEST(Intervals, HaveALineEachAndBothAxes) {
  const std::string plot = interval_plot(
      {{"a<b", 0.5, 0.2, 0.9, "0.5", false, NAN}, {"c", -1.0, -2.0, 0.0, "-1", true, -1.5}}, {true, "odds ratio"});
  EXPECT_NE(plot.find("a&lt;b"), std::string::npos);
  EXPECT_NE(plot.find("interval noticed"), std::string::npos);
  EXPECT_NE(plot.find("odds ratio"), std::string::npos);
  EXPECT_EQ(interval_plot({}), "");
  EXPECT_EQ(interval_plot({{"a", NAN, NAN, NAN, "", false, NAN}}), "");
}

}  // namespace
}  // namespace flymc
