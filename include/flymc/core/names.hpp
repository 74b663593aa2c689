// Names in messages: lists, what a misspelt name may have meant, and names that must not break a line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace flymc {

// Up to three names that are equally close to a misspelt one, ignoring case; none if no name is close.
std::vector<std::string> close_names(std::string_view name, const std::vector<std::string>& known);

// "did you mean 'age' or 'page'?", or an empty string if no name is close.
std::string closest(std::string_view name, const std::vector<std::string>& known);

// "; did you mean 'age' or 'page'?", or "; there are ..." with the first few names if none is close.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& known);

// "'a', 'b', 'c'", cut after `most` with "and 7 more".
std::string quoted_list(const std::vector<std::string>& names, std::size_t most = 5);

// The parts with `separator` between them. (fmt::join draws a false warning from GCC 12 when it optimises.)
std::string joined(const std::vector<std::string>& parts, std::string_view separator);

// Returns the text as it is shown (shown.hpp) on one line, with \n and \t escaped, and cut after `most` bytes: a file
// may contain anything.
std::string on_one_line(std::string_view text, std::size_t most = 80);

}  // namespace flymc
