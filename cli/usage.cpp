// Replaces those of the parser's messages that refer to its internals.
#include "usage.hpp"

#include <fmt/format.h>

#include <optional>

#include "flymc/core/mention.hpp"
#include "flymc/core/names.hpp"

namespace flymc {
namespace {

// A flag of the command line as a mention: --draws as ‹draws›.
std::string mentioned(const std::string& flag) { return flag.starts_with("--") ? mention(flag.substr(2)) : flag; }

// Reports words that were not understood. They are reported first, because a missing argument is often a misspelt one.
std::optional<Failure> stray(const CLI::App& command, const std::string& name) {
  const bool no_command = command.get_parent() == nullptr;
  for (const std::string& word : command.remaining()) {
    if (!no_command || word.starts_with("-")) continue;
    std::vector<std::string> commands;
    for (const CLI::App* other : command.get_subcommands(nullptr)) commands.push_back(other->get_name());
    return Failure{Exit::bad_usage, "usage",
                   fmt::format("there is no command '{}'{}", on_one_line(word), did_you_mean(word, commands))};
  }
  for (const std::string& word : command.remaining()) {
    if (!word.starts_with("--")) continue;
    std::vector<std::string> flags;
    for (const CLI::Option* option : command.get_options())
      for (const std::string& flag : option->get_lnames()) flags.push_back("--" + flag);
    const std::string flag = word.substr(0, word.find('=')), meant = closest(flag, flags);
    Failure out{Exit::bad_usage, "unknown_flag",
                fmt::format("`{}` has no flag {}{}{}", name, on_one_line(flag), meant.empty() ? "" : "; ", meant)};
    out.place.setting = flag.substr(2);
    for (const std::string& other : close_names(flag, flags)) out.meant.push_back(other.substr(2));
    return out;
  }
  for (const std::string& word : command.remaining())
    return Failure{Exit::bad_usage, "usage",
                   fmt::format("'{}' is one word too many; quote names that have spaces in them", on_one_line(word))};
  return std::nullopt;
}

std::string problem(const CLI::App& command, const std::string& name, const CLI::ParseError& error) {
  std::string text = error.what(), kind = error.get_name();
  const std::string option = mentioned(text.substr(0, text.find(": ")));
  if (kind == "ArgumentMismatch" && text.find("At Most") != std::string::npos)
    return fmt::format("{} is given more than once; give it once (a list has commas between its names)", option);
  if (kind == "ArgumentMismatch" && text.find("missing") != std::string::npos)
    return fmt::format("{} needs a value", option);
  // "Could not convert: --interval = abc"
  if (const auto equals = text.find(" = "); kind == "ConversionError" && equals != std::string::npos) {
    const auto begin = text.find("--");
    return fmt::format("{}: '{}' is not a number", mentioned(text.substr(begin, equals - begin)),
                       text.substr(equals + 3));
  }
  if (kind == "RequiredError" && command.get_parent() == nullptr) {
    std::vector<std::string> names;
    for (const CLI::App* one : command.get_subcommands([](const CLI::App* any) { return !any->get_group().empty(); }))
      names.push_back(one->get_name());
    return fmt::format("name a command: {}", joined(names, ", "));
  }
  if (kind == "RequiredError" && !text.starts_with("--"))
    return fmt::format("`{}` needs to know which {} to use", name, text.substr(0, text.find(' ')));
  // "--out is required", and messages of validators, "--expect-ranks: ..."
  const std::size_t end = text.find_first_of(": ");
  return end == std::string::npos ? text : mentioned(text.substr(0, end)) + text.substr(end);
}

}  // namespace

Failure usage_problem(const CLI::App& app, const CLI::ParseError& error) {
  const auto chosen = app.get_subcommands();
  const CLI::App& command = chosen.empty() ? app : *chosen.front();
  const std::string name = chosen.empty() ? "flymc" : "flymc " + command.get_name();
  Failure out = stray(command, name).value_or(Failure{Exit::bad_usage, "usage", problem(command, name, error)});
  out.advice.push_back(fmt::format("`{} --help` shows what it takes, and an example", name));
  return out;
}

std::string HelpFormatter::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const {
  std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
  for (std::size_t at; (at = text.find("\n\n\n")) != std::string::npos;) text.erase(at, 1);
  return text;
}

}  // namespace flymc
