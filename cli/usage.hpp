// The exit codes of the command, and messages about a wrong command line.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "failures.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"

namespace flymc {

// The exit codes. Scripts may rely on them.
enum Exit { success = 0, bad_input = 1, bad_usage = 2, file_trouble = 3, internal = 4, interrupted = 130 };

// Help with one empty line between groups; CLI11 prints two.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
};

// Returns the result of `check`. If it throws and only flags were given, the error becomes one of usage. With a file of
// settings, which may be the cause, it stays an InputError and names the file.
template <class Check>
auto blame_flags(const Check& check, const std::string& config = "") {
  try {
    return check();
  } catch (const InputError& error) {
    if (config.empty()) throw CLI::ValidationError(error.what(), Exit::bad_usage);
    throw InputError(fmt::format("with the settings of {}: {}", config, error.what()),
                     {.file = config, .setting = leading_setting(error.what())});
  }
}
template <class Options>
void check_usage(const Options& options, const std::string& config = "") {
  blame_flags([&] { check(options); }, config);
}

// Describes the problem, and the help to ask for.
Failure usage_problem(const CLI::App& app, const CLI::ParseError& error);

}  // namespace flymc
