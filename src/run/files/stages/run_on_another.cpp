// Files from the other run are copied before the settings are written, because the settings make the folder a run.
#include "flymc/run/files/stages/run_on_another.hpp"

#include <fmt/format.h>

#include "../folder/new_folder.hpp"
#include "../folder/preparation_file.hpp"
#include "../reading/run_parts.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"
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

RunDirectory create_on(const RunDirectory& base, const std::filesystem::path& path, const Settings& settings,
                       Existing existing) {
  std::error_code unknown;
  for (const std::filesystem::path& used : {base.path(), base.base()})
    if (existing == Existing::replace && std::filesystem::equivalent(path, used, unknown))
      throw InputError(
          fmt::format("{}: this run cannot be replaced by one that is sampled from it; name another folder "
                      "with {}",
                      path.string(), mention("out")));
  // Checked before the folder is created: the prior may name a coefficient that the rows lack.
  check_vacant(path, existing);
  if (!base.rows_files().empty()) parts_of(open_unverified(base), settings);
  const auto fill = [&](const std::filesystem::path& folder) {
    Manifest made;
    const bool copied = copy_preparation(base, folder, settings);
    write_starts(folder, base, copied);
    made.starts = time_now();
    if (copied) made.preparation = made.starts;
    return made;
  };
  return RunDirectory::create(path, settings, fill, existing);
}

}  // namespace flymc
