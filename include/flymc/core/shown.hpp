// Text as it is shown to a person: names and files of strangers must not move the cursor or turn the line around.
#pragma once

#include <string>
#include <string_view>

namespace flymc {

// How many bytes the first character of a text takes; 0 if it is no UTF-8.
std::size_t utf8_length(std::string_view text);
bool is_utf8(std::string_view text);

// The text with control characters (other than a new line and a tab), marks that change the direction of writing, and
// line separators as \u001b, and bytes that are no UTF-8 as \xff. JSON is the same JSON afterwards.
std::string shown(std::string_view text);

}  // namespace flymc
