// Measures how long something takes.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <string>

namespace flymc {

using Clock = std::chrono::steady_clock;
inline double seconds_since(Clock::time_point began) {
  return std::chrono::duration<double>(Clock::now() - began).count();
}

// A duration in words: "less than a second", "40 s", "12 min", "2.5 h".
inline std::string duration(double seconds) {
  if (seconds < 1.0) return "less than a second";
  if (seconds < 100.0) return fmt::format("{:.0f} s", seconds);
  if (seconds < 6000.0) return fmt::format("{:.0f} min", seconds / 60.0);
  return fmt::format("{:.1f} h", seconds / 3600.0);
}

}  // namespace flymc
