// A flag for every setting.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

#include "flymc/run/files/settings/settings.hpp"

namespace flymc {

// The settings that were given as flags, in their order.
class SettingsFlags {
 public:
  // Adds a flag for every setting of these groups.
  void add_to(CLI::App& app, const std::vector<Setting::Group>& groups);
  // Sets what was given. Throws CLI::ValidationError if a word is no value of its setting.
  void apply(Settings& settings) const;

 private:
  std::vector<std::pair<const Setting*, std::vector<std::string>>> given_;
};

}  // namespace flymc
