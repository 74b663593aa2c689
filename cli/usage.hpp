// What was wrong with a command line, in words for the one who wrote it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace flymc {

// Help with one empty line between its groups, where CLI11 has two.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
};

// What is wrong, and which help to ask for.
std::string usage_problem(const CLI::App& app, const CLI::ParseError& error);

}  // namespace flymc
