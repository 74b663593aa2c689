// Replaces those of the parser's messages that refer to its internals.
#include "usage.hpp"

#include <fmt/format.h>

#include "flymc/core/names.hpp"

namespace flymc {
namespace {

// Reports words that were not understood. They are reported first, because a missing argument is often a misspelt one.
std::string stray(const CLI::App& command, const std::string& name) {
  const auto with = [](const std::string& what, const std::string& meant) {
    return meant.empty() ? what : what + "; " + meant;
  };
  const bool no_command = command.get_parent() == nullptr;
  for (const std::string& word : command.remaining()) {
    if (!no_command || word.starts_with("-")) continue;
    std::vector<std::string> commands;
    for (const CLI::App* other : command.get_subcommands(nullptr)) commands.push_back(other->get_name());
    return fmt::format("there is no command '{}'{}", on_one_line(word), did_you_mean(word, commands));
  }
  for (const std::string& word : command.remaining()) {
    if (!word.starts_with("--")) continue;
    std::vector<std::string> flags;
    for (const CLI::Option* option : command.get_options())
      for (const std::string& flag : option->get_lnames()) flags.push_back("--" + flag);
    const std::string flag = word.substr(0, word.find('='));
    return with(fmt::format("`{}` has no flag {}", name, on_one_line(flag)), closest(flag, flags));
  }
  for (const std::string& word : command.remaining())
    return fmt::format("'{}' is one word too many; quote names that have spaces in them", on_one_line(word));
  return "";
}

std::string problem(const CLI::App& command, const std::string& name, const CLI::ParseError& error) {
  if (const std::string found = stray(command, name); !found.empty()) return found;
  std::string text = error.what(), kind = error.get_name();
  const std::string option = text.substr(0, text.find(": "));
  if (kind == "ArgumentMismatch" && text.find("At Most") != std::string::npos)
    return fmt::format("{} is given more than once; give it once (a list has commas between its names)", option);
  if (kind == "ArgumentMismatch" && text.find("missing") != std::string::npos)
    return fmt::format("{} needs a value", option);
  // "Could not convert: --interval = abc"
  if (const auto equals = text.find(" = "); kind == "ConversionError" && equals != std::string::npos) {
    const auto begin = text.find("--");
    return fmt::format("{}: '{}' is not a number", text.substr(begin, equals - begin), text.substr(equals + 3));
  }
  if (kind == "RequiredError" && command.get_parent() == nullptr) {
    std::vector<std::string> names;
    for (const CLI::App* one : command.get_subcommands([](const CLI::App* any) { return !any->get_group().empty(); }))
      names.push_back(one->get_name());
    return fmt::format("name a command: {}", joined(names, ", "));
  }
  if (kind == "RequiredError" && !text.starts_with("--"))
    return fmt::format("`{}` needs to know which {} to use", name, text.substr(0, text.find(' ')));
  return text;
}

}  // namespace

std::string usage_problem(const CLI::App& app, const CLI::ParseError& error) {
  const auto chosen = app.get_subcommands();
  const CLI::App& command = chosen.empty() ? app : *chosen.front();
  const std::string name = chosen.empty() ? "flymc" : "flymc " + command.get_name();
  return fmt::format("{}\n`{} --help` shows what it takes, and an example", problem(command, name, error), name);
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const {
  std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
  for (std::size_t at; (at = text.find("\n\n\n")) != std::string::npos;) text.erase(at, 1);
  return text;
}

}  // namespace flymc
