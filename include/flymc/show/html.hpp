// Pieces of an HTML page. Whatever comes from a table or a file goes through `escaped`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace flymc {

// As text of a page, or the value of an attribute in double quotes. Control characters become spaces, and bytes that are
// no UTF-8 the mark for that.
std::string escaped(std::string_view text);

// With a capital letter at the beginning and a full stop at the end: a sentence of a page, of words that may also stand
// alone.
std::string sentence(std::string text);

// A table that scrolls sideways where the page is narrow: a heading, and lines of as many cells, which are HTML already.
// The first cell of a line is its name.
std::string html_table(const std::vector<std::string>& heading, const std::vector<std::vector<std::string>>& lines);

// What is folded away until somebody asks. The summary is HTML already.
std::string folded(std::string_view summary, std::string_view content, bool open = false);

}  // namespace flymc
