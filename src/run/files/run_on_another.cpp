// What a run takes from another, it takes before it has settings: from then on it is a run.
#include "flymc/run/files/run_on_another.hpp"

#include "new_folder.hpp"
#include "preparation_file.hpp"
#include "run_parts.hpp"
#include "starts.hpp"

namespace flymc {

Settings settings_on(const RunDirectory& base, const std::filesystem::path& path) {
  check_rows(base);
  Settings settings = base.settings();
  const auto from = std::filesystem::absolute(base.base()).lexically_normal();
  const auto relative = from.lexically_relative(std::filesystem::absolute(path).lexically_normal());
  settings.from = (relative.empty() ? from : relative).string();
  return settings;
}

RunDirectory create_on(const RunDirectory& base, const std::filesystem::path& path, const Settings& settings) {
  // Before there is a folder: the prior may name a coefficient that the rows have not.
  check_vacant(path);
  if (!base.rows_files().empty()) parts_of(open_unverified(base), settings);
  return RunDirectory::create(path, settings, [&](const std::filesystem::path& folder) {
    write_starts(folder, base, copy_preparation(base, folder, settings));
  });
}

}  // namespace flymc
