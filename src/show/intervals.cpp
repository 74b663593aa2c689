// A line of the page for each interval, and the axis below them.
#include "flymc/show/intervals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "flymc/show/html.hpp"
#include "flymc/show/svg.hpp"

namespace flymc {
namespace {

constexpr double wide = 1000.0, high = 20.0;

std::string picture(const IntervalLine& line, const Scale& x, const std::vector<double>& grid, bool zero) {
  Svg svg(wide, high, fmt::format("{}: {}", line.name, line.numbers), true);
  for (const double at : grid) svg.line(x(at), 0.0, x(at), high, "grid");
  if (zero) svg.line(x(0.0), 0.0, x(0.0), high, "reference");
  if (std::isfinite(line.lower) && std::isfinite(line.upper))
    svg.line(x(line.lower), 10.0, x(line.upper), 10.0, line.marked ? "interval noticed" : "interval");
  if (std::isfinite(line.inner_lower) && std::isfinite(line.inner_upper))
    svg.line(x(line.inner_lower), 10.0, x(line.inner_upper), 10.0, "inner");
  if (std::isfinite(line.other)) svg.line(x(line.other), 4.0, x(line.other), 16.0, "mark");
  // A line of zero length with round ends is drawn as a dot, which stays round when the picture is stretched.
  if (std::isfinite(line.point))
    svg.line(x(line.point), 10.0, x(line.point), 10.0, line.marked ? "point noticed" : "point");
  return svg.finish();
}

std::string axis(const Scale& x, const std::vector<double>& at, const std::string& name, bool exponential) {
  std::string marks;
  const double step = at.size() > 1 ? at[1] - at[0] : 1.0;
  for (const double value : at) {
    const double share = x(value) / wide;
    marks += fmt::format("<span{} style=\"left:{:.1f}%\">{}</span>",
                         share < 0.05   ? " class=\"first\""
                         : share > 0.95 ? " class=\"last\""
                                        : "",
                         100.0 * share, exponential ? fmt::format("{:.3g}", std::exp(value)) : tick_text(value, step));
  }
  return fmt::format(
      "<div class=\"line axis-line\"><span class=\"name\">{}</span><div class=\"marks\">{}</div></div>\n",
      escaped(name), marks);
}

}  // namespace

std::string interval_plot(const std::vector<IntervalLine>& lines, const IntervalOptions& options) {
  double lower = HUGE_VAL, upper = -HUGE_VAL;
  for (const IntervalLine& line : lines)
    for (const double end : {line.lower, line.upper, line.point, line.other})
      if (std::isfinite(end)) {
        lower = std::min(lower, end);
        upper = std::max(upper, end);
      }
  if (!(upper >= lower)) return "";
  if (options.zero) {
    lower = std::min(lower, 0.0);
    upper = std::max(upper, 0.0);
  }
  const double more = 0.03 * (upper - lower);
  const Scale x(lower - more, upper + more, 0.0, wide);
  const std::vector<double> grid = ticks(x.lower(), x.upper(), 5);
  std::string out = "<div class=\"intervals\">\n";
  for (const IntervalLine& line : lines)
    out += fmt::format("<div class=\"line\"><span class=\"name\">{}</span>{}<span class=\"numbers\">{}</span></div>\n",
                       escaped(line.name), picture(line, x, grid, options.zero), escaped(line.numbers));
  out += axis(x, grid, "", false);
  if (!options.other_scale.empty()) out += axis(x, grid, options.other_scale, true);
  return out + "</div>\n";
}

}  // namespace flymc
