// Text as it is shown in a terminal or a page: names from files must not move the cursor or reverse the line.
#pragma once

#include <string>
#include <string_view>

namespace flymc {

// The number of bytes of the first character of a text; 0 if it is not UTF-8.
std::size_t utf8_length(std::string_view text);
bool is_utf8(std::string_view text);

// Returns the text with some characters replaced: control characters (other than a new line and a tab), marks that
// change the direction of writing and line separators become \u001b and the like, and bytes that are not UTF-8 become
// \xff and the like. The result of JSON has the same meaning.
std::string shown(std::string_view text);

}  // namespace flymc
