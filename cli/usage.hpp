// What was wrong with a command line, in words for the one who wrote it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace flymc {

// What is wrong, and which help to ask for.
std::string usage_problem(const CLI::App& app, const CLI::ParseError& error);

}  // namespace flymc
