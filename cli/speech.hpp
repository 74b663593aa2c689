// Everything that the command prints, but for the bars of its progress, goes through here: names and files of strangers
// are shown, and do nothing to the terminal.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

#include "flymc/core/shown.hpp"

namespace flymc {

// To standard output. Throws std::system_error if that cannot be written.
template <class... Values>
void print(fmt::format_string<Values...> text, Values&&... values) {
  fmt::print("{}", shown(fmt::format(text, std::forward<Values>(values)...)));
}

// To a person. Where nobody can hear it (a log on a full disk), the work goes on.
template <class... Values>
void tell(fmt::format_string<Values...> text, Values&&... values) {
  std::fputs(shown(fmt::format(text, std::forward<Values>(values)...)).c_str(), stderr);
}

}  // namespace flymc
