// The groups of a run: intervals of their effects, and how far they are pulled to the average group.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "flymc/core/error.hpp"
#include "flymc/run/files/reading/group_pictures.hpp"
#include "flymc/show/html.hpp"
#include "flymc/show/intervals.hpp"
#include "flymc/show/svg.hpp"
#include "sections.hpp"

namespace flymc {
namespace {

constexpr std::size_t open_pictures = 4;

std::string caterpillar(const GroupPicture& of) {
  std::vector<IntervalLine> lines;
  for (const GroupLine& own : of.lines) {
    const double sd = (own.inner_upper - own.inner_lower) / 1.35;  // of a normal distribution with these quartiles
    const auto number = [&](double value) { return by_deviation(value, sd, 2); };
    lines.push_back({readable_name(own.group), own.median, own.lower, own.upper,
                     fmt::format("{} ({} to {})", number(own.median), number(own.lower), number(own.upper)), false,
                     std::numeric_limits<double>::quiet_NaN(), own.inner_lower, own.inner_upper});
  }
  return fmt::format("<p class=\"note\">{}</p>\n{}", escaped(sentence(of.caption())), interval_plot(lines));
}

std::string pulls(const GroupPicture& of) {
  double fewest = HUGE_VAL, most = 1.0, highest = 1.0;
  for (const GroupPoint& point : of.points) {
    const auto rows = static_cast<double>(std::max<std::int64_t>(1, point.rows));
    fewest = std::min(fewest, rows);
    most = std::max(most, rows);
    highest = std::max(highest, point.pull);
  }
  const double begin = std::floor(std::log10(fewest)), end = std::max(begin + 1.0, std::ceil(std::log10(most)));
  Plot plot(fmt::format("pull of {} by rows", of.scale), {begin, end}, {0.0, 100.0 * highest}, "rows of the group",
            "pull, in per cent", false);
  for (double at = begin; at <= end; at += end - begin > 5.0 ? 2.0 : 1.0)
    plot.mark(at, with_commas(static_cast<std::int64_t>(std::llround(std::pow(10.0, at)))),
              at == begin      ? TextAnchor::start
              : at + 1.0 > end ? TextAnchor::end
                               : TextAnchor::middle);
  for (const GroupPoint& point : of.points)
    plot.svg().dot(plot.x(std::log10(static_cast<double>(std::max<std::int64_t>(1, point.rows)))),
                   plot.y(100.0 * point.pull), of.points.size() > 100 ? 1.5 : 2.5, "dot");
  const auto shown = static_cast<std::int64_t>(of.points.size());
  return fmt::format(
      "<div class=\"cards\"><figure class=\"card\">{}<figcaption class=\"note\">{} Pull 0: an effect is that of the "
      "group's own rows. 100: it is that of an average group. It is the square of the effect's posterior standard "
      "deviation over {}, which is exact for normal targets.</figcaption></figure></div>\n",
      plot.finish(),
      shown < of.groups
          ? fmt::format("A point for each of {} of {} groups.", with_commas(shown), with_commas(of.groups))
          : std::string("A point for each group."),
      escaped(of.scale));
}

}  // namespace

std::string groups_section(const Shown& of) {
  if (!of.encoding || of.encoding->factors().empty()) return "";
  std::string out = "<h2 id=\"groups\">Groups</h2>\n";
  std::vector<GroupPicture> pictures;
  try {
    pictures = group_pictures(of.run, {.interval = of.summary.options.interval});
  } catch (const InputError& error) {
    return out + fmt::format("<p>Their effects cannot be shown: {}.</p>\n", escaped(error.what()));
  }
  out += "<p>An effect is the difference of a group from an average one.</p>\n";
  for (std::size_t i = 0; i < pictures.size(); ++i)
    out += folded(fmt::format("<strong>{}</strong>: {}", escaped(readable_name(pictures[i].factor)),
                              escaped(readable_name(pictures[i].effect))),
                  caterpillar(pictures[i]) + pulls(pictures[i]), i < open_pictures);
  return out;
}

}  // namespace flymc
