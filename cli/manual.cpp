// The command's page for `man`, in the macros of man(7).
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "description.hpp"

namespace flymc {
namespace {

// Escapes text for roff, which would interpret backslashes and lines that begin with a dot or a quote, and would print
// other characters than a shell needs.
std::string plain(const std::string& text) {
  std::string out;
  for (const char c : text) switch (c) {
      case '\\':
        out += "\\(rs";
        break;
      case '-':
        out += "\\-";
        break;
      case '\'':
        out += "\\(aq";
        break;
      case '`':
        out += "\\(ga";
        break;
      case '^':
        out += "\\(ha";
        break;
      case '~':
        out += "\\(ti";
        break;
      case '.':
        out += out.empty() || out.back() == '\n' ? "\\&." : ".";
        break;
      default:
        out += c;
    }
  return out;
}

std::string bold(const std::string& text) { return "\\fB" + plain(text) + "\\fR"; }
std::string slanted(const std::string& text) { return "\\fI" + plain(text) + "\\fR"; }

// "table TABLE ..." and "--out RUN", as in the help.
std::string term(const DescribedOption& option) {
  std::string out = option.flags.empty() ? slanted(option.shape.empty() ? option.name : option.shape) : "";
  for (const std::string& flag : option.flags) out += (out.empty() ? "" : ", ") + bold(flag);
  if (!option.flags.empty() && !option.shape.empty()) out += " " + slanted(option.shape);
  return out + (option.many && option.shape.find("...") == std::string::npos ? " ..." : "");
}

std::string item(const DescribedOption& option) {
  std::string out = ".TP\n" + term(option) + "\n" + plain(option.help);
  if (option.required && !option.flags.empty()) out += " (required)";
  if (!option.usual.empty()) out += plain(fmt::format(" (default: {})", option.usual));
  return out + "\n";
}

// The headings of the command's options, in order. Hidden options have an empty heading and come last.
std::vector<std::string> headings(const DescribedCommand& command) {
  std::vector<std::string> out;
  const auto add = [&](const std::string& heading) {
    if (std::ranges::find(out, heading) == out.end()) out.push_back(heading);
  };
  for (const bool shown : {true, false})
    for (const DescribedOption& option : command.options)
      if (!option.flags.empty() && option.heading.empty() != shown) add(option.heading);
  return out;
}

std::string synopsis(const std::string& app, const DescribedCommand& command) {
  std::string out = bold(app + " " + command.name);
  for (const DescribedOption& option : command.options)
    if (option.flags.empty()) out += option.required ? " " + term(option) : " [" + term(option) + "]";
  for (const DescribedOption& option : command.options)
    if (!option.flags.empty() && option.required) out += " " + term(option);
  return out + " [" + slanted("options") + "]";
}

std::string capitals(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

// A sentence in the form that `whatis` lists: without a capital letter and a full stop.
std::string phrase(std::string text) {
  if (!text.empty()) text.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(text.front())));
  if (text.ends_with('.')) text.pop_back();
  return text;
}

// Keeps line breaks, because the text contains examples.
std::string as_it_stands(const std::string& text) { return text.empty() ? "" : ".PP\n.nf\n" + plain(text) + "\n.fi\n"; }

std::string section(const std::string& app, const DescribedCommand& command) {
  std::string out =
      fmt::format(".SS {} {}\n{}\n.PP\n{}\n", app, command.name, plain(command.help), synopsis(app, command));
  for (const DescribedOption& option : command.options)
    if (option.flags.empty()) out += item(option);
  for (const std::string& heading : headings(command)) {
    out += fmt::format(".PP\n{}:\n", heading.empty() ? "More options" : plain(heading));
    for (const DescribedOption& option : command.options)
      if (!option.flags.empty() && option.heading == heading) out += item(option);
  }
  return out + as_it_stands(command.footer);
}

}  // namespace

std::string manual(const DescribedCommand& app, const std::string& version,
                   const std::vector<std::pair<int, std::string>>& exit_codes) {
  std::string out = fmt::format(".TH {} 1 \"\" \"{} {}\" \"User Commands\"\n", capitals(app.name), app.name, version);
  out += ".nh\n.ad l\n";  // words of a shell must not be hyphenated
  out += fmt::format(".SH NAME\n{} \\- {}\n", app.name, plain(phrase(app.help)));
  out += ".SH SYNOPSIS\n";
  for (const DescribedCommand& command : app.commands)
    if (!command.hidden) out += synopsis(app.name, command) + "\n.br\n";
  out += ".SH OPTIONS\n";
  for (const DescribedOption& option : app.options) out += item(option);
  out += as_it_stands(app.footer);
  out += ".SH COMMANDS\n";
  for (const DescribedCommand& command : app.commands) out += section(app.name, command);
  out += ".SH EXIT STATUS\n";
  for (const auto& [code, meaning] : exit_codes) out += fmt::format(".TP\n{}\n{}\n", code, plain(meaning));
  return out;
}

}  // namespace flymc
