// Writes shapes as text.
#include "flymc/show/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "flymc/show/html.hpp"

namespace flymc {
namespace {

// Rounds to a tenth of a pixel.
std::string place(double x) {
  std::string out = fmt::format("{:.1f}", std::isfinite(x) ? std::clamp(x, -1e5, 1e5) : 0.0);
  if (out.ends_with(".0")) out.resize(out.size() - 2);
  return out == "-0" ? "0" : out;
}

double tick_step(double lower, double upper, int count) {
  const double rough = (upper - lower) / std::max(1, count);
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  // Picks the nearest of 1, 2, 5 and 10, by ratio.
  for (const double nice : {1.0, 2.0, 5.0})
    if (const double next = nice == 2.0 ? 5.0 : 2.0 * nice; rough * rough < nice * next * power * power)
      return nice * power;
  return 10.0 * power;
}

}  // namespace

std::vector<double> ticks(double lower, double upper, int count) {
  if (!(upper > lower) || !std::isfinite(upper - lower)) return {lower};
  const double step = tick_step(lower, upper, count);
  std::vector<double> out;
  for (double k = std::ceil(lower / step - 1e-9); k * step <= upper + 1e-9 * step && out.size() < 100; k += 1.0)
    out.push_back(k * step + 0.0);
  return out;
}

std::string tick_text(double value, double step) {
  const double size = std::max(std::abs(value), step);
  if (size >= 1e6 || size < 1e-4) return fmt::format("{:.3g}", value);
  const int digits = std::max(0, static_cast<int>(std::ceil(-std::log10(step) - 1e-9)));
  std::string out = fmt::format("{:.{}f}", value, digits);
  return out.starts_with("-") && out.find_first_not_of("-0.") == std::string::npos ? out.substr(1) : out;
}

Scale::Scale(double lower, double upper, double from, double to) : lower_(lower), upper_(upper), from_(from), to_(to) {
  if (!std::isfinite(lower_)) lower_ = 0.0;
  if (!std::isfinite(upper_)) upper_ = lower_;
  if (upper_ > lower_) return;
  const double half = lower_ == 0.0 ? 1.0 : 0.05 * std::abs(lower_);
  upper_ = lower_ + half;
  lower_ -= half;
}

Svg::Svg(double width, double height, std::string_view label, bool stretched) {
  out_ = fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\"{}>", place(width), place(height),
                     escaped(label), stretched ? " preserveAspectRatio=\"none\"" : "");
}

Svg& Svg::line(double x1, double y1, double x2, double y2, std::string_view style) {
  out_ += fmt::format("<path class=\"{}\" d=\"M{} {}L{} {}\"/>", style, place(x1), place(y1), place(x2), place(y2));
  return *this;
}

Svg& Svg::rectangle(double x, double y, double width, double height, std::string_view style) {
  out_ += fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>", style, place(x), place(y),
                      place(std::max(width, 0.0)), place(std::max(height, 0.0)));
  return *this;
}

Svg& Svg::dot(double x, double y, double radius, std::string_view style) {
  out_ += fmt::format("<circle class=\"{}\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>", style, place(x), place(y), place(radius));
  return *this;
}

Svg& Svg::path(const std::vector<std::pair<double, double>>& points, std::string_view style, bool closed) {
  std::string d;
  for (const auto& [x, y] : points) {
    d += d.empty() ? "M" : "L";
    d += place(x) + " " + place(y);
  }
  out_ += fmt::format("<path class=\"{}\" d=\"{}{}\"/>", style, d, closed ? "Z" : "");
  return *this;
}

Svg& Svg::text(double x, double y, std::string_view words, std::string_view style, TextAnchor anchor) {
  constexpr const char* anchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
  out_ += fmt::format("<text class=\"{}\" x=\"{}\" y=\"{}\"{}>{}</text>", style, place(x), place(y),
                      anchors[static_cast<int>(anchor)], escaped(words));
  return *this;
}

Plot::Plot(std::string_view label, std::pair<double, double> x, std::pair<double, double> y, std::string_view across,
           std::string_view up, bool numbers_across)
    : svg_(width, across.empty() ? height - 18.0 : height, label),
      x_(x.first, x.second, left, right),
      y_(y.first, y.second, bottom, top) {
  const std::vector<double> rungs = ticks(y_.lower(), y_.upper(), 4);
  for (const double at : rungs) {
    svg_.line(left, y_(at), right, y_(at), "grid");
    svg_.text(left - 5.0, y_(at) + 4.0, tick_text(at, rungs.size() > 1 ? rungs[1] - rungs[0] : 1.0), "tick",
              TextAnchor::end);
  }
  svg_.line(left, bottom, right, bottom, "axis");
  if (numbers_across) {
    const std::vector<double> marks = ticks(x_.lower(), x_.upper(), 5);
    for (const double at : marks) mark(at, tick_text(at, marks.size() > 1 ? marks[1] - marks[0] : 1.0));
  }
  if (!across.empty()) svg_.text(0.5 * (left + right), height - 6.0, across, "tick", TextAnchor::middle);
  if (!up.empty()) svg_.text(2.0, 10.0, up, "tick");
}

void Plot::mark(double at, std::string_view word, TextAnchor anchor) {
  svg_.line(x_(at), bottom, x_(at), bottom + 4.0, "axis");
  svg_.text(x_(at), bottom + 17.0, word, "tick", anchor);
}

}  // namespace flymc
