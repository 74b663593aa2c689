// Names of columns in messages: lists, and what a misspelt name may have meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "flymc/data/files/table.hpp"

namespace flymc {

std::vector<std::string> column_names(const std::vector<TableColumn>& columns);

// "; did you mean 'age' or 'page'?", or the first few names if none is close.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& known);

// "'a', 'b', 'c'", cut after `most` with "and 7 more".
std::string quoted_list(const std::vector<std::string>& names, std::size_t most = 5);

// The parts with `separator` between them. (fmt::join draws a false warning from GCC 12 when it optimises.)
std::string joined(const std::vector<std::string>& parts, std::string_view separator);

}  // namespace flymc
