// The frame of a self-contained page: its style, for light and dark, wide and narrow.
#pragma once

#include <string>
#include <string_view>

namespace flymc {

// A whole document. The body is HTML already, the title is not.
std::string html_page(std::string_view title, std::string_view body);

}  // namespace flymc
