// The spelling of flags, quoted for a shell.
#include "flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string_view>

#include "flymc/core/mention.hpp"
#include "flymc/run/files/settings/settings.hpp"

namespace flymc {
namespace {

std::string flag(const Mention& mention) {
  // A program that runs the command for its own users, such as the R package, spells mentions itself.
  static const char* const mentions = std::getenv("FLYMC_MENTIONS");
  if (mentions != nullptr && std::string_view(mentions) == "marked") return mention.text;
  const bool rows = mention.action && mention.name == "loo";  // the text of loo lists only some rows
  if (rows) return fmt::format("`flymc loo {} --json`", mention.value ? for_a_shell(*mention.value) : "RUN");
  if (mention.action)
    return fmt::format("`flymc {}{}`", mention.name, mention.value ? " " + for_a_shell(*mention.value) : std::string());
  const Setting* const setting = find_setting(mention.name);
  if (setting == nullptr && !is_argument(mention.name)) return mention.text;  // unknown name
  const bool no_value =
      !mention.value || (setting != nullptr ? setting->kind == Setting::Kind::flag : *mention.value == "true");
  return "--" + mention.name + (no_value ? "" : " " + for_a_shell(*mention.value));
}

}  // namespace

std::string for_a_shell(const std::string& word) {
  const auto bare = [](unsigned char c) {
    return std::isalnum(c) || std::string_view("_-.,/+:=@").find(static_cast<char>(c)) != std::string_view::npos;
  };
  const auto letter = [](unsigned char c) { return std::isalnum(c) != 0; };
  if (word.starts_with('-')) return for_a_shell("./" + word);  // otherwise it would be read as a flag
  if (std::ranges::any_of(word, letter) && std::ranges::all_of(word, bare)) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string in_flags(const std::string& text) { return spelled(text, flag); }
FitSummary in_flags(FitSummary summary) { return std::move(summary).spelled(flag); }

}  // namespace flymc
