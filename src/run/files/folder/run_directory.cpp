// Creates and opens runs, and protects their settings with a checksum.
#include "flymc/run/files/folder/run_directory.hpp"

#include <fmt/format.h>

#include "../json/record.hpp"
#include "flymc/core/files.hpp"
#include "flymc/core/mention.hpp"
#include "new_folder.hpp"

namespace flymc {

namespace fs = std::filesystem;

namespace {

// The last line of settings.toml. If a setting changed after the run began, its draws would fit no model.
constexpr std::string_view settings_mark = "# checksum ";
std::string seal(const std::string& toml) {
  return fmt::format("{}{}{}: the settings of a run do not change\n", toml, settings_mark, checksum(toml));
}

void check_seal(const fs::path& path, const std::string& text) {
  const std::size_t mark = text.rfind(settings_mark);
  if (mark == std::string::npos || text != seal(text.substr(0, mark)))
    throw InputError(
        fmt::format("{}: it was damaged or changed since the run began; put the old one back, or begin another run: "
                    "{}",
                    path.string(), mention_action("fit")));
}

}  // namespace

RunDirectory RunDirectory::create(const fs::path& path, const Settings& settings, const Fill& fill, Existing existing) {
  check_vacant(path, existing);
  make_folder(path);
  // Two processes may both have found the folder vacant, so it is checked again under the lock.
  auto lock =
      std::make_unique<RunLock>(path, fmt::format("name another folder with {}, or wait for it", mention("out")));
  check_vacant(path, existing);
  if (existing == Existing::replace) remove_run(path);
  // Written even if it says that there is nothing yet: files that somebody left in the folder are not those of a stage.
  (fill ? fill(path) : Manifest()).write(path);
  // Paths of tables become absolute, because a run may be resumed from another folder.
  Settings kept = settings;
  for (std::string& table : kept.table)
    if (!is_address(table)) table = fs::absolute(table).lexically_normal().string();
  write_whole(path / "settings.toml", seal(to_toml(kept)));
  RunDirectory made(path);
  made.held_ = std::move(lock);
  return made;
}

RunDirectory::RunDirectory(fs::path path) : path_(std::move(path)) {
  if (!fs::exists(path_ / "settings.toml") && fs::exists(path_ / "zero" / "settings.toml"))
    throw InputError(
        fmt::format("{0}: here are the two runs of a hurdle, and one is needed: {1} is of whether the target is more "
                    "than 0, and {2} of "
                    "how large it is where it is",
                    path_.string(), (path_ / "zero").string(), (path_ / "count").string()));
  if (!fs::exists(path_ / "settings.toml"))
    throw InputError(fmt::format("{}: there is no run here; {} makes one", path_.string(), mention_action("fit")));
  sealed_ = read_whole(path_ / "settings.toml", most_settings_bytes);
  check_seal(path_ / "settings.toml", sealed_);
  from_toml(sealed_, (path_ / "settings.toml").string(), settings_, true);
}

}  // namespace flymc
