// The command's description of itself, from which its manual and shell completions are generated.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

namespace flymc {

// A flag, or an argument without one.
struct DescribedOption {
  enum class Takes { nothing, anything, choice, files, folders };
  std::vector<std::string> flags;  // with their dashes; empty for an argument
  std::string name;                // for an argument
  std::string shape;               // the placeholder of its value, such as FILE or error|drop; empty if it takes none
  std::string usual;               // its default value; may be empty
  std::string help;
  std::string heading;  // empty if the help hides the flag
  bool required = false;
  bool many = false;
  Takes takes = Takes::nothing;
  std::vector<std::string> choices;
};

struct DescribedCommand {
  std::string name, help, footer;
  bool hidden = false;
  std::vector<DescribedOption> options;
  std::vector<DescribedCommand> commands;
};

// `choices`: the values of flags whose shape does not list them, such as those of --family.
using Choices = std::map<std::string, std::vector<std::string>>;
DescribedCommand described(const CLI::App& app, const Choices& choices = {});

// A completion script for a shell: bash, zsh or fish. Throws InputError for another shell.
std::string completions(const DescribedCommand& app, const std::string& shell);

// A manual page for `man`, in section 1. `exit_codes` has the meaning of each.
std::string manual(const DescribedCommand& app, const std::string& version,
                   const std::vector<std::pair<int, std::string>>& exit_codes);

}  // namespace flymc
