// Text as it is shown in a terminal or a page: names from files must not move the cursor or reverse the line.
#pragma once

#include <string>
#include <string_view>

namespace flymc {

// The number of bytes of the first character of a text; 0 if it is not UTF-8.
std::size_t utf8_length(std::string_view text);
bool is_utf8(std::string_view text);

// The text, in which control characters (other than a new line and a tab), marks that change the direction of writing
// and line separators are written as \u001b, and bytes that are not UTF-8 as \xff. JSON keeps its meaning.
std::string shown(std::string_view text);

}  // namespace flymc
