// All output of the command, except progress bars, goes through these functions. They show control characters in names
// as numbers, because a terminal would act on them (core/shown.hpp).
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

#include "flymc/core/shown.hpp"

namespace flymc {

// Prints to standard output. Throws std::system_error if that cannot be written.
template <class... Values>
void print(fmt::format_string<Values...> text, Values&&... values) {
  fmt::print("{}", shown(fmt::format(text, std::forward<Values>(values)...)));
}

// Prints to standard error. Errors while writing are ignored (a log on a full disk), so that the work goes on.
template <class... Values>
void tell(fmt::format_string<Values...> text, Values&&... values) {
  std::fputs(shown(fmt::format(text, std::forward<Values>(values)...)).c_str(), stderr);
}

}  // namespace flymc
