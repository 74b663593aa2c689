// Messages and exit codes for failures of the command.
#pragma once

#include <exception>
#include <filesystem>
#include <functional>
#include <string>

#include "ranks.hpp"

namespace flymc {

// Thrown on the other ranks if the first rank has failed, which says why.
struct FirstRankFailed : std::exception {};

// Prints a line to standard error that begins with the command's name, with mentions as flags.
void say(const std::string& text);

// Calls the command and returns its exit code, or explains its exception and returns the code for that. `run` is the
// folder that the command reads or writes, and `makes` whether it goes through the stages of the run. Exceptions about
// the command line pass.
int guarded(const std::function<int()>& command, const std::filesystem::path& run, bool makes, const Ranks& ranks);

}  // namespace flymc
