// How long something takes.
#pragma once

#include <chrono>

namespace flymc {

using Clock = std::chrono::steady_clock;
inline double seconds_since(Clock::time_point began) {
  return std::chrono::duration<double>(Clock::now() - began).count();
}

}  // namespace flymc
