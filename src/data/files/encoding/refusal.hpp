// Refusals of an encoding from a file that could not have been learnt from a table.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <string_view>

#include "flymc/core/error.hpp"
#include "flymc/core/names.hpp"

namespace flymc {

[[noreturn]] inline void refuse_encoding(std::string_view what, const std::string& name) {
  throw InputError(
      fmt::format("the encoding has {} that do not fit '{}'; make it again from the table", what, on_one_line(name)));
}

inline bool sound_scale(double shift, double scale) {
  return std::isfinite(shift) && std::isfinite(scale) && scale > 0.0;
}

}  // namespace flymc
