// Creates and opens runs, and protects their settings with a checksum.
#include "flymc/run/files/folder/run_directory.hpp"

#include <fmt/format.h>

#include "../json/record.hpp"
#include "flymc/core/files.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/run/files/settings/families.hpp"
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

const CompositeCard* composite_in(const fs::path& folder) {
  std::error_code unknown;
  if (fs::exists(folder / "settings.toml", unknown)) return nullptr;
  for (const CompositeCard& whole : all_composites())
    if (fs::exists(folder / whole.parts.front().name / "settings.toml", unknown)) return &whole;
  return nullptr;
}

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
  if (const CompositeCard* const whole = composite_in(path_)) {
    std::string parts;
    for (const PartCard& part : whole->parts)
      parts += fmt::format("{}{} ({})", parts.empty() ? "" : " or ", (path_ / part.name).string(),
                           fmt::format(fmt::runtime(part.question), "the target"));
    throw InputError(fmt::format("{}: here are the {} runs of a fit by {}, and one is needed: {}", path_.string(),
                                 whole->parts.size(), whole->name, parts));
  }
  if (!fs::exists(path_ / "settings.toml"))
    throw InputError(fmt::format("{}: there is no run here; {} makes one", path_.string(), mention_action("fit")),
                     {.file = path_.string()}, InputError::Kind::missing_file);
  sealed_ = read_whole(path_ / "settings.toml", most_settings_bytes);
  check_seal(path_ / "settings.toml", sealed_);
  from_toml(sealed_, (path_ / "settings.toml").string(), settings_, true);
}

}  // namespace flymc
