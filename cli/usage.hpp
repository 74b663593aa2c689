// What the command returns, and what was wrong with a command line, in words for the one who wrote it.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "flags.hpp"
#include "flymc/core/error.hpp"

namespace flymc {

// What the command returns. Scripts may rely on these.
enum Exit { success = 0, bad_input = 1, bad_usage = 2, file_trouble = 3, internal = 4, interrupted = 130 };

// Help with one empty line between its groups, where CLI11 has two.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
};

// Settings of flags alone are at fault for what cannot be used; beside a file's, nobody can tell. Returns what `check` does.
template <class Check>
auto blame_flags(const Check& check, const std::string& config = "") {
  try {
    return check();
  } catch (const InputError& error) {
    if (config.empty()) throw CLI::ValidationError(in_flags(error.what()), Exit::bad_usage);
    throw InputError(fmt::format("with the settings of {}: {}", config, error.what()));
  }
}
template <class Options>
void check_usage(const Options& options, const std::string& config = "") {
  blame_flags([&] { check(options); }, config);
}

// What is wrong, and which help to ask for.
std::string usage_problem(const CLI::App& app, const CLI::ParseError& error);

}  // namespace flymc
