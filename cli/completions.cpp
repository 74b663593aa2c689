// Scripts for bash, zsh and fish that complete the command's words: commands, flags, and values that are files, folders
// or one of a few words. Flags that the help hides are not offered.
#include <fmt/format.h>

#include "description.hpp"
#include "flymc/core/error.hpp"

namespace flymc {
namespace {

using Takes = DescribedOption::Takes;

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += with.size())
    text.replace(at, what.size(), with);
  return text;
}

// Quotes a text in single quotes, for bash and zsh.
std::string quoted(const std::string& text) { return "'" + replaced(text, "'", "'\\''") + "'"; }

std::string words(const std::vector<std::string>& list, const std::string& between = " ") {
  return fmt::format("{}", fmt::join(list, between));
}

std::vector<DescribedCommand> shown_commands(const DescribedCommand& app) {
  std::vector<DescribedCommand> out;
  for (const DescribedCommand& command : app.commands)
    if (!command.hidden) out.push_back(command);
  return out;
}

std::vector<std::string> names(const std::vector<DescribedCommand>& commands) {
  std::vector<std::string> out;
  for (const DescribedCommand& command : commands) out.push_back(command.name);
  return out;
}

bool offered(const DescribedOption& option) { return !option.flags.empty() && !option.heading.empty(); }

// The kind of a command's arguments: files if any of them is a file.
Takes arguments(const DescribedCommand& command) {
  Takes out = Takes::nothing;
  for (const DescribedOption& option : command.options)
    if (option.flags.empty() && out != Takes::files) out = option.takes;
  return out;
}

// The bash command that finds the words beginning with $word.
std::string bash_words(Takes takes, const std::vector<std::string>& choices) {
  switch (takes) {
    case Takes::files:
      return "_flymc_offer -f; compopt -o filenames";
    case Takes::folders:
      return "_flymc_offer -d; compopt -o filenames";
    case Takes::choice:
      return "_flymc_offer -W " + quoted(words(choices));
    default:
      return ":";
  }
}

std::string bash_command(const DescribedCommand& command, const std::string& pattern) {
  std::vector<std::string> flags, others;  // others: flags whose values cannot be guessed
  std::string values;
  for (const DescribedOption& option : command.options) {
    if (!offered(option)) continue;
    flags.insert(flags.end(), option.flags.begin(), option.flags.end());
    if (option.takes == Takes::anything)
      others.insert(others.end(), option.flags.begin(), option.flags.end());
    else if (option.takes != Takes::nothing)
      values += fmt::format("        {}) {}; return ;;\n", words(option.flags, "|"),
                            bash_words(option.takes, option.choices));
  }
  if (!others.empty()) values += fmt::format("        {}) return ;;\n", words(others, "|"));
  const std::string rest = command.commands.empty() ? bash_words(arguments(command), {})
                                                    : bash_words(Takes::choice, names(shown_commands(command)));
  return fmt::format(
      "    {})\n      case $before in\n{}      esac\n      case $word in\n        -*) {} ;;\n"
      "        *) {} ;;\n      esac ;;\n",
      pattern, values, bash_words(Takes::choice, flags), rest);
}

std::string bash(const DescribedCommand& app) {
  std::string cases = bash_command(app, "''");
  for (const DescribedCommand& command : shown_commands(app)) cases += bash_command(command, command.name);
  const std::string text = R"(# Completion of {name} for bash, written by `{name} completions bash`.
_{name}_offer() { mapfile -t COMPREPLY < <(compgen "$@" -- "$word"); }
_{name}() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command= i
  COMPREPLY=()
  # bash makes three words of --flag=value.
  if [ "$word" = = ]; then
    word=
  elif [ "$before" = = ]; then
    before=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case ${COMP_WORDS[i]} in
      {commands}) command=${COMP_WORDS[i]}; break ;;
    esac
  done
  case $command in
{cases}  esac
}
complete -F _{name} {name}
)";
  return replaced(
      replaced(replaced(replaced(text, "{cases}", cases), "{commands}", words(names(shown_commands(app)), "|")),
               "_flymc_offer", "_{name}_offer"),
      "{name}", app.name);
}

// In a specification of zsh a colon ends a part, and brackets enclose an explanation, so they are escaped.
std::string zsh_text(const std::string& text) {
  std::string out;
  for (const char c : text)
    out += c == ':' || c == '[' || c == ']' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return out;
}

std::string zsh_value(const DescribedOption& option) {
  const std::string action = option.takes == Takes::files     ? "_files"
                             : option.takes == Takes::folders ? "_files -/"
                             : option.takes == Takes::choice  ? "(" + words(option.choices) + ")"
                                                              : " ";
  return fmt::format(":{}:{}", zsh_text(option.shape), action);
}

std::string zsh_arguments(const DescribedCommand& command, const std::string& indent) {
  std::string out;
  int place = 0;
  for (const DescribedOption& option : command.options) {
    if (option.flags.empty()) {
      out += " \\\n" + indent + quoted((option.many ? "*" : std::to_string(++place)) + zsh_value(option));
      continue;
    }
    if (!offered(option)) continue;
    const bool value = option.takes != Takes::nothing;
    for (const std::string& flag : option.flags)
      out += " \\\n" + indent +
             quoted(fmt::format("({}){}{}[{}]{}", words(option.flags), flag, value && flag.starts_with("--") ? "=" : "",
                                zsh_text(option.help), value ? zsh_value(option) : ""));
  }
  return out;
}

std::string zsh(const DescribedCommand& app) {
  std::string listed, cases;
  for (const DescribedCommand& command : shown_commands(app)) {
    listed += "        " + quoted(zsh_text(command.name) + ":" + command.help) + "\n";
    cases += fmt::format("        {})\n          _arguments -s{} ;;\n", command.name,
                         zsh_arguments(command, "            "));
  }
  const std::string text = R"(#compdef {name}
# Completion of {name} for zsh, written by `{name} completions zsh`.
_{name}() {
  local context state state_descr line
  local -A opt_args
  _arguments -C{flags} \
    '1:command:->command' \
    '*::argument:->argument'
  case $state in
    command)
      local -a commands=(
{listed}      )
      _describe command commands ;;
    argument)
      case $line[1] in
{cases}      esac ;;
  esac
}
if [ "$funcstack[1]" = _{name} ]; then
  _{name} "$@"
else
  compdef _{name} {name}
fi
)";
  return replaced(
      replaced(replaced(replaced(text, "{cases}", cases), "{listed}", listed), "{flags}", zsh_arguments(app, "    ")),
      "{name}", app.name);
}

// Fish has two escapes in single quotes.
std::string fish_text(const std::string& text) {
  return "'" + replaced(replaced(text, "\\", "\\\\"), "'", "\\'") + "'";
}

std::string fish_value(Takes takes, const std::vector<std::string>& choices) {
  switch (takes) {
    case Takes::files:
      return " -r -F";
    case Takes::folders:
      return " -x -a '(__fish_complete_directories)'";
    case Takes::choice:
      return " -x -a " + fish_text(words(choices));
    case Takes::anything:
      return " -x";
    default:
      return "";
  }
}

std::string fish_options(const std::string& name, const DescribedCommand& command, const std::string& condition) {
  std::string out;
  for (const DescribedOption& option : command.options) {
    if (!offered(option)) continue;
    out += fmt::format("complete -c {} -n {}", name, condition);
    for (const std::string& flag : option.flags)
      out += flag.starts_with("--") ? " -l " + flag.substr(2) : " -s " + flag.substr(1);
    out += fish_value(option.takes, option.choices) + " -d " + fish_text(option.help) + "\n";
  }
  return out;
}

std::string fish(const DescribedCommand& app) {
  const std::string none = "__fish_use_subcommand";
  std::string out =
      fmt::format("# Completion of {0} for fish, written by `{0} completions fish`.\ncomplete -c {0} -f\n", app.name);
  out += fish_options(app.name, app, none);
  for (const DescribedCommand& command : shown_commands(app)) {
    const std::string here = fish_text("__fish_seen_subcommand_from " + command.name);
    out += fmt::format("complete -c {} -n {} -a {} -d {}\n", app.name, none, command.name, fish_text(command.help));
    if (arguments(command) == Takes::files) out += fmt::format("complete -c {} -n {} -F\n", app.name, here);
    if (arguments(command) == Takes::folders)
      out += fmt::format("complete -c {} -n {} -a '(__fish_complete_directories)'\n", app.name, here);
    out += fish_options(app.name, command, here);
  }
  return out;
}

}  // namespace

std::string completions(const DescribedCommand& app, const std::string& shell) {
  if (shell == "bash") return bash(app);
  if (shell == "zsh") return zsh(app);
  if (shell == "fish") return fish(app);
  throw InputError(fmt::format("there are no completions for the shell '{}'; there are for bash, zsh and fish", shell));
}

}  // namespace flymc
