// The settings and the folders of both parts.
#include "flymc/run/files/predict/hurdle.hpp"

#include <fmt/format.h>

#include "../folder/new_folder.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/run/files/settings/families.hpp"

namespace flymc {

namespace fs = std::filesystem;

std::vector<Settings> fits_of(const Settings& settings) {
  const HurdleCard* const card = find_hurdle(settings.family);
  if (card == nullptr) {
    check(settings);
    return {settings};
  }
  Settings zero = settings, count = settings;
  zero.family = card->zero;
  zero.hurdle = "zero";
  count.family = card->count;
  count.hurdle = "count";
  // With the same seed both parts would use the same random numbers and their draws would not be independent. The
  // constant is large because users choose small seeds.
  count.fit.seed = settings.fit.seed ^ 0x68757264'6c650000u;
  check(count);
  check(zero);
  return {zero, count};
}

bool HurdleRun::is_in(const fs::path& folder) {
  std::error_code unknown;
  return !fs::exists(folder / "settings.toml", unknown) && fs::exists(folder / "zero" / "settings.toml", unknown);
}

HurdleRun HurdleRun::create(const fs::path& folder, const std::vector<Settings>& parts, Existing existing) {
  if (!is_in(folder)) check_vacant(folder, Existing::keep);
  // The folder was vacant, but may contain the settings of a run that failed before it had rows.
  std::error_code none;
  if (!is_in(folder)) fs::remove(folder / "settings.toml", none);
  for (const char* part : {"zero", "count"}) refuse_link(folder / part);
  for (const char* part : {"zero", "count"}) check_vacant(folder / part, existing);
  RunDirectory zero = RunDirectory::create(folder / "zero", parts.at(0), nullptr, existing);
  return HurdleRun(folder, std::move(zero), RunDirectory::create(folder / "count", parts.at(1), nullptr, existing));
}

HurdleRun::HurdleRun(fs::path folder) : path(std::move(folder)), zero(path / "zero"), count(path / "count") {
  for (const char* part : {"zero", "count"}) refuse_link(path / part);
  if (zero.settings().hurdle != "zero" || count.settings().hurdle != "count")
    throw InputError(fmt::format("{}: the runs in it are not the parts of a hurdle; {} makes one", path.string(),
                                 mention_action("fit")));
}

}  // namespace flymc
