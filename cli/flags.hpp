// Settings as a person types them to the command.
#pragma once

#include <string>

#include "flymc/run/fit.hpp"

namespace flymc {

// Mentions (core/mention.hpp) as flags and commands: --missing drop, `flymc resume run`; left as they are if the
// environment has FLYMC_MENTIONS=marked.
std::string in_flags(const std::string& text);
FitSummary in_flags(FitSummary summary);

// A word for a shell, in quotes if it needs them: 'my run'.
std::string for_a_shell(const std::string& word);

}  // namespace flymc
