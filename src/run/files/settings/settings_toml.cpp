// Settings as a TOML file, by toml++. Reading what was written gives the same settings, whatever characters names have.
#define TOML_HEADER_ONLY 1
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include "flymc/core/error.hpp"
#include "flymc/core/files.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/core/names.hpp"
#include "flymc/core/shown.hpp"
#include "flymc/run/files/settings/settings.hpp"

namespace flymc {
namespace {

using Kind = Setting::Kind;
using Words = std::vector<std::string>;

constexpr std::string_view header = "# Settings of a flymc run; `flymc fit --config` takes them.\n";
// Version 0.1 wrote texts in double quotes without escapes, so a backslash in them is ambiguous. This line says that
// the file has escapes. It is written only if a text needs it, because settings are compared as text.
constexpr std::string_view escapes = "\n# Texts in double quotes have the escapes of TOML.\n";
bool needs_escapes(std::string_view text) { return text.find('"') != text.npos && text.find('\\') != text.npos; }
constexpr std::size_t largest = most_settings_bytes;

// Returns 'text', or "text" with escapes, on one line.
std::string quoted(const std::string& word) {
  if (!is_utf8(word)) throw InputError(fmt::format("'{}' is not UTF-8; rename it", on_one_line(word)));
  const toml::value<std::string> value(word);
  toml::format_flags flags = toml::format_flags::allow_unicode_strings;
  // toml++ 3.3 does not escape a new line in single quotes.
  if (word.find('\n') == word.npos) flags |= toml::format_flags::allow_literal_strings;
  std::ostringstream out;
  out << toml::toml_formatter(value, flags);
  return out.str();
}

// Whether a word is a TOML number that is read back as the same text.
bool is_number(const std::string& word) {
  const auto is = [&](auto value) {
    const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    return error == std::errc() && stop == word.data() + word.size() && fmt::format("{}", value) == word;
  };
  const bool digits = word.find_first_not_of("+-.0123456789e") == word.npos;
  return is(std::int64_t{}) || (digits && word.find_first_of(".e") != word.npos && is(double{}));
}

// Puts quotes around all values that have none: version 0.1 quoted neither numbers nor names of digits (007). Files of
// runs have one setting per line.
std::string with_quotes(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size()), value = text.find(" = ");
    const std::string_view line = text.substr(0, end);
    const std::string_view first = line.substr(std::min(value + 3, line.size()), 1);
    if (line.starts_with('#') || value >= end || first == "'" || first == "\"" || first == "[")
      out += line;
    else
      out.append(line.substr(0, value + 3)).append("'").append(line.substr(value + 3)).append("'");
    out += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

// The end of the string that begins at `at`; the text need not be valid TOML.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  const char quote = text[at];
  const std::string three(3, quote);
  const bool lines = text.substr(at, 3) == three;
  for (std::size_t i = at + (lines ? 3 : 1); i < text.size(); ++i) {
    if (quote == '"' && text[i] == '\\')
      ++i;
    else if (!lines && (text[i] == quote || text[i] == '\n'))
      return i;
    else if (lines && text.substr(i, 3) == three) {
      i += 2;
      for (int more = 0; more < 2 && i + 1 < text.size() && text[i + 1] == quote; ++more) ++i;
      return i;
    }
  }
  return text.size();
}

// Calls f with each place outside of strings and comments, and with the '#' of a comment, until f returns false.
template <class F>
void each_outside_of_strings(std::string_view text, F&& f) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '#') i = std::min(text.find('\n', i), text.size());
    if (c == '\'' || c == '"')
      i = end_of_string(text, i);
    else if (!f(i, c))
      return;
  }
}

// The parser makes a nested table for each dot of a key and destroys nested tables recursively; a few hundred thousand
// would overflow the stack. No setting has a dot in its name.
bool has_deep_key(std::string_view text) {
  constexpr int most = 16;
  int dots = 0;
  each_outside_of_strings(text, [&](std::size_t, char c) {
    if (std::string_view("#\n=,[]{}").find(c) != std::string_view::npos) dots = 0;
    return c != '.' || ++dots <= most;
  });
  return dots > most;
}

// Returns the line of the first byte beyond ASCII outside of strings and comments, and 0 if there is none. A byte-order
// mark at the beginning is allowed. TOML allows no such characters there, and some of them cause undefined behaviour in
// toml++ 3.3.
std::ptrdiff_t line_beyond_ascii(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  std::ptrdiff_t line = 0;
  each_outside_of_strings(text, [&](std::size_t at, char c) {
    if (static_cast<unsigned char>(c) >= 0x80) line = 1 + std::ranges::count(text.substr(0, at), '\n');
    return line == 0;
  });
  return line;
}

std::string word_of(const toml::node& node, std::string_view name) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* integer = node.as_integer()) return fmt::format("{}", integer->get());
  if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
  if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
  throw InputError(fmt::format("{}: a value is a number, true, false, a 'text' or a list of these", name));
}

void set(std::string_view key, const toml::node& value, Settings& settings, bool of_a_run) {
  const std::string name(key);
  const Setting* const found = find_setting(name);
  if (value.is_table() || value.is_array_of_tables())
    throw InputError(fmt::format("settings stand under no heading; remove [{}]", on_one_line(name)));
  if (found == nullptr && name == "standardise") {  // a setting of version 6 of the format
    if (of_a_run) return;
    throw InputError(
        "there is no setting 'standardise' any more: numeric columns are always standardised inside, and a prior "
        "is per unit of a column; leave the line out");
  }
  if (found == nullptr) {
    Words names;
    for (const Setting& setting : all_settings()) names.push_back(setting.name);
    const std::string meant = closest(name.substr(0, 100), names);
    throw InputError(fmt::format("there is no setting '{}'; {}", on_one_line(name),
                                 meant.empty() ? "a line is NAME = VALUE, and the reference lists the names" : meant));
  }
  Words words;
  if (const toml::array* list = value.as_array())
    for (const toml::node& one : *list) words.push_back(word_of(one, name));
  else
    words.push_back(word_of(value, name));
  // If the setting has a default, to_toml would omit an empty value, and it would be read back as the default.
  if (words == Words{""} && !found->get(Settings()).empty())
    throw InputError(fmt::format("{}: has no value; give it one, or leave the line out", name));
  found->set(settings, words);
}

}  // namespace

std::string to_toml(const Settings& settings) {
  std::string out(header);
  for (const Setting& setting : all_settings()) {
    const Words words = setting.get(settings);
    if (words.empty()) continue;
    std::string value;
    for (const std::string& word : words) {
      const bool bare = setting.kind != Kind::list && (word == "true" || word == "false" || is_number(word));
      value += (value.empty() ? "" : ", ") + (bare ? word : quoted(word));
    }
    out += fmt::format(fmt::runtime(setting.kind == Kind::list ? "{} = [{}]\n" : "{} = {}\n"), setting.name, value);
  }
  if (needs_escapes(out)) out += escapes.substr(1);
  if (out.size() > largest)
    throw InputError(
        fmt::format("the names in the settings take {} MiB, and may take {}; name a folder or a pattern "
                    "in place of many files, and leave out columns by a formula",
                    out.size() >> 20, largest >> 20));
  return out;
}

void from_toml(std::string_view text, const std::string& place, Settings& settings, bool of_a_run) {
  try {
    if (text.size() > largest)
      throw InputError(fmt::format("it is larger than {} MiB; settings are a few lines", largest >> 20));
    if (of_a_run && needs_escapes(text) && text.find(escapes) == text.npos)
      throw InputError(
          fmt::format("an earlier version wrote names with quotes and backslashes so that they cannot be "
                      "read for certain; begin another run: {}",
                      mention_action("fit")));
    if (has_deep_key(text)) throw InputError("settings stand under no heading; remove the dots of the names");
    const std::string marked = of_a_run ? with_quotes(text) : std::string(text);
    if (const auto line = line_beyond_ascii(marked); line > 0)
      throw InputError(
          fmt::format("line {} is not TOML (a letter beyond ASCII outside of quotes); a line is NAME = VALUE, and a "
                      "text stands in quotes",
                      line));
    const toml::table table = toml::parse(marked);
    // In the file's order, because a formula affects the settings after it.
    std::vector<std::pair<const toml::key*, const toml::node*>> lines;
    for (const auto& [key, value] : table) lines.emplace_back(&key, &value);
    std::ranges::sort(lines, {}, [](const auto& line) {
      const toml::source_position at = line.first->source().begin;
      return std::pair(at.line, at.column);
    });
    for (const auto& [key, value] : lines) set(key->str(), *value, settings, of_a_run);
  } catch (const toml::parse_error& error) {
    throw InputError(fmt::format("{}: line {} is not TOML ({}); a line is NAME = VALUE, and a text stands in quotes",
                                 place, error.source().begin.line, on_one_line(error.description(), 200)));
  } catch (const InputError& error) {
    // Messages about a file call a setting by its name, not by its flag.
    const auto name = [](const Mention& mention) { return mention.action ? mention.text : mention.name; };
    throw InputError(fmt::format("{}: {}", place, spelled(error.what(), name)),
                     {.file = place, .setting = leading_setting(error.what())});
  }
}

void read_toml(const std::filesystem::path& path, Settings& settings) {
  std::error_code unknown;
  const auto size = std::filesystem::file_size(path, unknown);
  std::string text;
  try {
    text = !unknown && size > largest ? std::string(largest + 1, ' ') : read_whole(path);
  } catch (const FileError&) {
    throw InputError(fmt::format("{}: the settings cannot be read; check the name and its permissions", path.string()));
  }
  from_toml(text, path.string(), settings);
}

}  // namespace flymc
