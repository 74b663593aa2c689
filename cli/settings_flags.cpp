// Flags from the list of settings.
#include "settings_flags.hpp"

#include <algorithm>

#include "flymc/core/error.hpp"
#include "usage.hpp"

namespace flymc {
namespace {

// Options under an empty heading are hidden.
std::string heading(Setting::Group group) {
  return group == Setting::Group::rows       ? "Rows"
         : group == Setting::Group::model    ? "Model"
         : group == Setting::Group::sampling ? "Sampling"
                                             : "";
}

}  // namespace

void SettingsFlags::add_to(CLI::App& app, const std::vector<Setting::Group>& groups) {
  for (const Setting& setting : all_settings()) {
    if (std::find(groups.begin(), groups.end(), setting.group) == groups.end()) continue;
    const auto take = [this, &setting](const std::vector<std::string>& words) { given_.emplace_back(&setting, words); };
    CLI::Option* option = nullptr;
    if (setting.kind == Setting::Kind::flag)
      option = app.add_flag_callback(
          "--" + setting.name, [take] { take({"true"}); }, setting.help);
    else if (setting.kind == Setting::Kind::list)
      option = app.add_option_function<std::string>(
          "--" + setting.name, [take](const std::string& words) { take(CLI::detail::split(words, ',')); },
          setting.help);
    else
      option = app.add_option_function<std::string>(
          "--" + setting.name, [take](const std::string& word) { take({word}); }, setting.help);
    if (setting.kind != Setting::Kind::flag) option->type_name(setting.shape);
    option->group(heading(setting.group));
  }
}

void SettingsFlags::apply(Settings& settings) const {
  for (const auto& [setting, words] : given_) {
    try {
      setting->set(settings, words);
    } catch (const InputError& error) {
      throw CLI::ValidationError(error.what(), Exit::bad_usage);
    }
  }
}

}  // namespace flymc
