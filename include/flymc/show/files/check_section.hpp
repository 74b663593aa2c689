// A predictive check as part of a page.
#pragma once

#include <string>

#include "flymc/run/files/check/check.hpp"

namespace flymc {

// One part as a plot: the observed values and their bands.
std::string check_plot(const RunCheck& check, const CheckPart& part);
// Verdict, plots and, folded, tables.
std::string check_section(const RunCheck& check);

}  // namespace flymc
