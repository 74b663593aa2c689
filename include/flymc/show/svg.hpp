// A small writer of SVG. Every shape has a class, and the page's style gives its colours for light and dark mode.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace flymc {

// Round numbers, evenly spaced within lower ... upper: about `count` of them, at least one if possible.
std::vector<double> ticks(double lower, double upper, int count);
// A tick as text, with as many digits as the step needs.
std::string tick_text(double value, double step);

// Maps numbers to positions along a line.
class Scale {
 public:
  // An empty range is widened.
  Scale(double lower, double upper, double from, double to);
  double operator()(double value) const { return from_ + (value - lower_) / (upper_ - lower_) * (to_ - from_); }
  double lower() const { return lower_; }
  double upper() const { return upper_; }

 private:
  double lower_, upper_, from_, to_;
};

enum class TextAnchor { start, middle, end };

class Svg {
 public:
  // The label describes the picture for people who cannot see it. A stretched picture fills its box and ignores the
  // proportions: lines keep their width, and it should contain no text.
  Svg(double width, double height, std::string_view label, bool stretched = false);

  Svg& line(double x1, double y1, double x2, double y2, std::string_view style);
  Svg& rectangle(double x, double y, double width, double height, std::string_view style);
  Svg& dot(double x, double y, double radius, std::string_view style);
  // A line through points; closed: the area within.
  Svg& path(const std::vector<std::pair<double, double>>& points, std::string_view style, bool closed = false);
  Svg& text(double x, double y, std::string_view words, std::string_view style, TextAnchor anchor = TextAnchor::start);
  std::string finish() const { return out_ + "</svg>\n"; }

 private:
  std::string out_;
};

// A plot with axes. It is 360 wide: the width of a telephone, and several fit side by side on wider screens.
class Plot {
 public:
  static constexpr double width = 360.0, height = 210.0;
  // Both axes show numbers; `across` and `up` are their names.
  Plot(std::string_view label, std::pair<double, double> x, std::pair<double, double> y, std::string_view across,
       std::string_view up, bool numbers_across = true);

  double x(double value) const { return x_(value); }
  double y(double value) const { return y_(value); }
  // The vertical position of the horizontal axis.
  double floor() const { return bottom; }
  Svg& svg() { return svg_; }
  // Writes a word below the axis.
  void mark(double at, std::string_view word, TextAnchor anchor = TextAnchor::middle);
  std::string finish() const { return svg_.finish(); }

 private:
  static constexpr double left = 46.0, right = 344.0, top = 22.0, bottom = 172.0;
  Svg svg_;
  Scale x_, y_;
};

}  // namespace flymc
