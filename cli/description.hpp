// The command's description of itself, of which its manual and the completions of shells are made.
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
  std::string name;                // of an argument
  std::string shape;               // of its value, such as FILE or error|drop; empty if it takes none
  std::string usual;               // its value where it is not given; may be empty
  std::string help;
  std::string heading;  // empty for a flag that the help does not show
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

// `choices`: the values of flags whose shape does not name them, such as those of --family.
using Choices = std::map<std::string, std::vector<std::string>>;
DescribedCommand described(const CLI::App& app, const Choices& choices = {});

// A script for a shell: bash, zsh or fish. Throws InputError if it is another.
std::string completions(const DescribedCommand& app, const std::string& shell);

// A page for `man`, in section 1. `exit_codes`: each with its meaning.
std::string manual(const DescribedCommand& app, const std::string& version,
                   const std::vector<std::pair<int, std::string>>& exit_codes);

}  // namespace flymc
