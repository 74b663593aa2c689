// A folder can be taken for a run if it contains nothing worth keeping.
#include "new_folder.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "flymc/core/error.hpp"
#include "flymc/core/files.hpp"
#include "flymc/core/mention.hpp"

namespace flymc {

namespace fs = std::filesystem;

namespace {

// Other programs have files of this name, too.
bool is_own_manifest(const fs::path& file) {
  if (file.filename() != "manifest.json") return false;
  try {
    Manifest::of(file.parent_path());
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

// Whether the manifest of a run, if it can be read, says that the run is finished.
bool says_finished(const fs::path& run) {
  try {
    return Manifest::of(run).report.has_value();
  } catch (const InputError&) {
    return false;
  }
}

// A run that failed before it had rows leaves only its settings and a manifest. A run that died before it had settings leaves only
// copies from another run.
bool holds_nothing_of_worth(const fs::path& path) {
  const bool has_settings = fs::exists(path / "settings.toml");
  return std::all_of(fs::directory_iterator(path), fs::directory_iterator(), [&](const fs::directory_entry& entry) {
    const fs::path name = entry.path().filename();
    const std::string target = PendingFile::target_name(name);
    return name == "settings.toml" || target == "settings.toml" || is_own_manifest(entry) ||
           target == "manifest.json" || (name.string().starts_with("rows") && name.extension() == ".partial") ||
           (!has_settings && (name.string().starts_with("starts.flymc") || name.string().starts_with("gaps.flymc") ||
                              name.string().starts_with("preparation.flymc")));
  });
}

}  // namespace

void check_vacant(const fs::path& path, Existing existing) {
  if (path.empty()) throw InputError(fmt::format("no folder is named for the run; name one with {}", mention("out")));
  refuse_address(path);
  if (!fs::exists(path)) return;
  const std::string name = path.string();
  const auto conflict = [&](const std::string& what) {
    return InputError(name + ": " + what, {.file = name}, InputError::Kind::conflict);
  };
  if (!fs::is_directory(path))
    throw conflict(fmt::format("this is a file, and a run is a folder; name another one with {}", mention("out")));
  if (holds_nothing_of_worth(path)) return;
  const bool is_run = fs::exists(path / "settings.toml");
  if (is_run && existing == Existing::replace) return;
  if (is_run && says_finished(path))
    throw conflict(
        fmt::format("there is a finished run here; name another folder with {}, or replace it with {} "
                    "({} draws again from its rows)",
                    mention("out"), mention("overwrite", "true"), mention_action("sample", name)));
  if (is_run)
    throw conflict(
        fmt::format("there is a run here already; {} goes on with it, {} replaces it, {} names another folder",
                    mention_action("resume", name), mention("overwrite", "true"), mention("out")));
  throw conflict(fmt::format("this folder holds other files; name a new or empty one with {}", mention("out")));
}

void remove_run(const fs::path& path) {
  for (const auto& entry : fs::directory_iterator(path)) {
    const std::string own = entry.path().filename().string(), target = PendingFile::target_name(own);
    const std::string& name = target.empty() ? own : target;
    const auto is = [&](std::string_view file) { return name == file; };
    if (is("manifest.json") || is("preparation.flymc") || is("gaps.flymc") || is("starts.flymc") ||
        is("draws.parquet") || is("effects.arrow") || is("report.json") || is("report.html") || is("formula.json") ||
        is("formula.rds") || name == "chains" || name == "parts" || target == "settings.toml" ||
        (name.starts_with("rows") && name.ends_with(".arrow")))
      fs::remove_all(entry.path());
  }
  fs::remove(path / "settings.toml");
}

void refuse_link(const fs::path& path) {
  std::error_code unknown;
  if (fs::is_symlink(fs::symlink_status(path, unknown)))
    throw InputError(
        fmt::format("{}: is a link, and a run writes and deletes in its own folder alone; put a folder in its place",
                    path.string()));
}

void make_inner_folder(const fs::path& path) {
  refuse_link(path);
  make_folder(path);
}

void make_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error)
    throw FileError(path, fmt::format("the folder cannot be made ({}); check the name, or name another one with {}",
                                      error.message(), mention("out")));
}

}  // namespace flymc
