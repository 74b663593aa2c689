// Settings as the user types them on the command line.
#pragma once

#include <string>

#include "flymc/run/fit.hpp"

namespace flymc {

// Spells mentions (core/mention.hpp) as flags and commands: --missing drop, `flymc resume run`. Leaves them unchanged
// if the environment has FLYMC_MENTIONS=marked.
std::string in_flags(const std::string& text);
FitSummary in_flags(FitSummary summary);

// A word as a shell reads it, quoted if necessary: 'my run'.
std::string for_a_shell(const std::string& word);

}  // namespace flymc
