// Pieces of an HTML page. All text from a table or a file must be passed through `escaped`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace flymc {

// The text escaped for HTML, also for the value of an attribute in double quotes. Tabs become spaces; control
// characters and bytes that are not UTF-8 are shown as numbers (core/shown.hpp).
std::string escaped(std::string_view text);

// Makes a sentence from words: adds a capital letter at the beginning and a full stop at the end.
std::string sentence(std::string text);

// A table that scrolls sideways on a narrow page. All lines have as many cells as the heading; the cells are HTML
// already. The first cell of a line is its name.
std::string html_table(const std::vector<std::string>& heading, const std::vector<std::vector<std::string>>& lines);

// Content that is hidden until the reader opens it. The summary is HTML already.
std::string folded(std::string_view summary, std::string_view content, bool open = false);

}  // namespace flymc
