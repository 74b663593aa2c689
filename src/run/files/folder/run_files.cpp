// The names of a run's files.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "flymc/core/files.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/run/files/folder/run_directory.hpp"
#include "new_folder.hpp"

namespace flymc {

namespace fs = std::filesystem;

fs::path RunDirectory::base() const {
  if (settings_.from.empty()) return path_;
  const fs::path from(settings_.from);
  return from.is_absolute() ? from : (path_ / from).lexically_normal();
}

fs::path RunDirectory::rows(int part, int parts) const { return base() / name_of_rows(part, parts); }

std::vector<std::string> RunDirectory::rows_files() const {
  const fs::path folder = base();
  const Manifest there = Manifest::of(folder);
  if (!there.rows) return {};
  std::vector<std::string> files;
  for (const RowsPart& part : there.rows->parts) {
    const fs::path file = folder / part.file;
    if (!fs::exists(file)) return {};
    files.push_back(file.string());
  }
  return files;
}

void RunDirectory::record(const std::function<void(Manifest&)>& change) const {
  Manifest now = manifest();
  change(now);
  now.write(path_);
}

bool RunDirectory::has_starts() const { return manifest().starts.has_value(); }

bool RunDirectory::has_preparation() const { return manifest().preparation && fs::exists(preparation()); }

bool RunDirectory::has_draws() const { return manifest().draws && fs::exists(draws()); }

bool RunDirectory::finished() const {
  const Manifest now = manifest();
  return now.draws && now.report && fs::exists(report()) && fs::exists(draws());
}

void RunDirectory::remove_rows() const {
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(path_, none)) {
    const fs::path name = entry.path().filename();
    const std::string target = PendingFile::target_name(name);
    if (part_of_rows(target.empty() ? name.string() : target)) fs::remove(entry.path());
  }
}

fs::path RunDirectory::checkpoint(std::uint64_t chain) const {
  return path_ / "chains" / fmt::format("chain-{:03}.flymc", chain);
}

std::string RunDirectory::advice(std::uint64_t chain) const {
  if (finished())
    return fmt::format("it is kept only for other runs to start from: delete {}, and they start anew",
                       (path_ / "chains").string());
  return fmt::format("delete {}, and {} draws this chain again from its beginning, to the same result",
                     checkpoint(chain).string(), mention_action("resume", path_.string()));
}

namespace {

std::string beginning_of(std::uint64_t chain, RunDirectory::PartOf of) {
  return fmt::format("{}chain-{:03}-from-", of == RunDirectory::PartOf::effects ? "effects-of-" : "", chain);
}
std::string ending_of(RunDirectory::PartOf of) { return of == RunDirectory::PartOf::effects ? ".arrow" : ".parquet"; }

}  // namespace

fs::path RunDirectory::part(std::uint64_t chain, std::int64_t first_draw, PartOf of) const {
  make_inner_folder(path_ / "parts");
  return path_ / "parts" / fmt::format("{}{:012}{}", beginning_of(chain, of), first_draw, ending_of(of));
}

std::vector<fs::path> RunDirectory::keep_parts(std::uint64_t chain, std::int64_t draws, PartOf of) const {
  std::vector<fs::path> parts;
  if (!fs::exists(path_ / "parts")) return parts;
  make_inner_folder(path_ / "parts");
  const std::string prefix = beginning_of(chain, of);
  for (const auto& entry : fs::directory_iterator(path_ / "parts")) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix)) continue;
    std::int64_t first = 0;
    const auto [stop, error] = std::from_chars(name.data() + prefix.size(), name.data() + name.size(), first);
    if (error != std::errc() || std::string_view(stop) != ending_of(of) || first >= draws)
      fs::remove(entry.path());
    else
      parts.push_back(entry.path());
  }
  std::sort(parts.begin(), parts.end());
  return parts;
}

void RunDirectory::remove_parts() const {
  std::error_code ignored;
  fs::remove_all(path_ / "parts", ignored);
}

}  // namespace flymc
