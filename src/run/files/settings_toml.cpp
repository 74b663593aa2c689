// Settings as a file of TOML.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>

#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/core/names.hpp"
#include "flymc/run/files/settings.hpp"

namespace flymc {
namespace {

using Kind = Setting::Kind;
using Words = std::vector<std::string>;

// As TOML: literal strings, so that backslashes need no care; a basic string where there is a quote.
std::string quoted(const std::string& word) {
  if (std::any_of(word.begin(), word.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\t'; }))
    throw InputError(fmt::format("'{}' has a control character in it; rename it", on_one_line(word)));
  if (word.find('\'') == std::string::npos) return "'" + word + "'";
  if (word.find('"') == std::string::npos) return '"' + word + '"';
  throw InputError(fmt::format("{} has both kinds of quotes; rename it", word));
}

bool is_bare(const std::string& word) {
  if (word == "true" || word == "false") return true;
  double value = 0.0;
  const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc() && stop == word.data() + word.size() && std::isfinite(value);
}

}  // namespace

std::string to_toml(const Settings& settings) {
  std::string out = "# Settings of a flymc run; `flymc fit --config` takes them.\n";
  for (const Setting& setting : all_settings()) {
    const Words words = setting.get(settings);
    if (words.empty()) continue;
    std::string value;
    for (const std::string& word : words)
      value += (value.empty() ? "" : ", ") + (setting.kind != Kind::list && is_bare(word) ? word : quoted(word));
    out += fmt::format(fmt::runtime(setting.kind == Kind::list ? "{} = [{}]\n" : "{} = {}\n"), setting.name, value);
  }
  return out;
}

void read_toml(const std::filesystem::path& path, Settings& settings, bool of_a_run) {
  std::ifstream in(path);
  // A folder opens, and reads as if it were empty.
  std::error_code unknown;
  if (!in || std::filesystem::is_directory(path, unknown))
    throw InputError(fmt::format("{}: the settings cannot be read; check the name and its permissions", path.string()));
  std::vector<CLI::ConfigItem> items;
  try {
    items = CLI::ConfigTOML().from_config(in);
  } catch (const CLI::Error& error) {
    throw InputError(
        fmt::format("{}: is not TOML ({}); a line is NAME = VALUE", path.string(), on_one_line(error.what())));
  }
  for (const CLI::ConfigItem& item : items) {
    const Setting* const found = find_setting(item.name);
    if (!item.parents.empty())
      throw InputError(fmt::format("{}: settings stand under no heading; remove [{}]", path.string(),
                                   on_one_line(item.parents.front())));
    if (found == nullptr && item.name == "standardise") {  // which version 6 of a run's format still had
      if (of_a_run) continue;
      throw InputError(
          fmt::format("{}: there is no setting 'standardise' any more: numeric columns always are, inside, and a prior "
                      "is per unit of a column; leave the line out",
                      path.string()));
    }
    if (found == nullptr) {
      Words names;
      for (const Setting& setting : all_settings()) names.push_back(setting.name);
      const std::string meant = closest(item.name, names);
      throw InputError(
          fmt::format("{}: there is no setting '{}'; {}", path.string(), on_one_line(item.name),
                      meant.empty() ? "a line is NAME = VALUE, and the reference lists the names" : meant));
    }
    try {
      found->set(settings, item.inputs);
    } catch (const InputError& error) {
      // In the file a setting is called by its name.
      const auto name = [](const Mention& mention) { return mention.name; };
      throw InputError(fmt::format("{}: {}", path.string(), spelled(error.what(), name)));
    }
  }
}

}  // namespace flymc
