// Rows on disk, held against what the report says of them.
#include "flymc/run/files/run_rows.hpp"

#include <fmt/format.h>

#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/run/files/report.hpp"
#include "record.hpp"

namespace flymc {

void check_base(const RunDirectory& run) {
  if (run.settings().from.empty()) return;
  const RunDirectory base(run.base());
  for (const Setting& setting : all_settings())
    if ((setting.group == Setting::Group::rows || setting.name == "family" || setting.name == "hurdle") &&
        setting.get(run.settings()) != setting.get(base.settings()))
      throw InputError(fmt::format(
          "{}: it was sampled from the run in {}, and there is another run now, with another `{}`; bring the old one "
          "back, or fit the table anew ({})",
          run.path().string(), base.path().string(), setting.name, mention_action("fit")));
}

void check_rows(const RunDirectory& run) {
  if (!run.rows_files().empty()) return;
  throw InputError(run.finished()
                       ? fmt::format("{}: its rows were removed, and only a new fit of the table ({}) makes them again",
                                     run.path().string(), mention_action("fit"))
                       : fmt::format("{}: its rows are not there yet; {} makes them", run.path().string(),
                                     mention_action("resume", run.path().string())));
}

std::string fingerprint_of(const StoreFile& rows) {
  return fmt::format("{}-{}", rows.fingerprint, checksum(rows.metadata.at("encoding")));
}

StoreFile open_rows(const RunDirectory& run, Verify verify, const Execution& execution) {
  std::vector<std::string> files = run.rows_files();
  if (files.empty()) files.push_back(run.rows().string());  // which is then said not to be there
  StoreFile rows = open_store(files, verify, execution);
  const std::string of_draws = run.finished() ? read_report(run).fingerprint : std::string();
  if (of_draws.empty()) check_base(run);
  if (!of_draws.empty() && of_draws != fingerprint_of(rows))
    throw InputError(
        fmt::format("{}: its draws are of other rows than there are in {} now, which was made anew since; draw again "
                    "({}), or bring the rows back",
                    run.path().string(), run.base().string(), mention_action("sample", run.base().string())));
  return rows;
}

StoreFile open_unverified(const RunDirectory& run) { return open_rows(run, Verify::metadata, {Threads(1)}); }

Encoding encoding_of(const RunDirectory& run) {
  return Encoding::from_json(open_unverified(run).metadata.at("encoding"));
}

}  // namespace flymc
