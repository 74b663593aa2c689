// Opens rows on disk and compares them with the report.
#include "flymc/run/files/reading/run_rows.hpp"

#include <fmt/format.h>

#include "../json/record.hpp"
#include "../settings/encoding_options.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/run/files/folder/report.hpp"
#include "flymc/run/files/settings/group_settings.hpp"

namespace flymc {

void check_base(const RunDirectory& run) {
  if (run.settings().from.empty()) return;
  const RunDirectory base(run.base());
  for (const Setting& setting : all_settings())
    if ((setting.group == Setting::Group::rows || setting.name == "family" || setting.name == part_setting) &&
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

namespace {

const std::string& text_of_encoding(const StoreFile& rows) {
  const auto found = rows.metadata.find("encoding");
  if (found == rows.metadata.end())
    throw InputError(
        fmt::format("the files of rows do not say how they were made from the table; delete them, and {} "
                    "makes them again",
                    mention_action("resume")));
  return found->second;
}

// Whether these settings would produce such an encoding.
bool suits(const Encoding& encoding, const Settings& settings) {
  const EncodingOptions asked = encoding_options(settings);
  return encoding.target().suits(asked.target) && encoding.exposure() == asked.exposure &&
         encoding.weights() == asked.weights && encoding.offset() == asked.offset &&
         encoding.intercept() == (asked.intercept && asked.target.kind != TargetKind::ordered);
}

}  // namespace

std::string fingerprint_of(const StoreFile& rows) {
  return fmt::format("{}-{}", rows.fingerprint, checksum(text_of_encoding(rows)));
}

Encoding encoding_in(const StoreFile& rows, const Settings& settings) {
  Encoding encoding = Encoding::from_json(text_of_encoding(rows));
  if (rows.store.columns() != encoding.feature_names() || rows.store.fact_kinds() != encoding.fact_kinds() ||
      rows.store.factors() != encoding.group_factors() || has_groups(settings) == encoding.factors().empty())
    throw InputError(
        fmt::format("the files of rows hold other columns than their encoding names; delete them, and {} makes them "
                    "again",
                    mention_action("resume")));
  if (!suits(encoding, settings))
    throw InputError(
        fmt::format("the files of rows were made for another family or other settings than those of the "
                    "run; delete them, and {} makes them again",
                    mention_action("resume")));
  return encoding;
}

void check_counted(const RunDirectory& run, const StoreFile& rows) {
  const Manifest manifest = Manifest::of(run.base());
  if (!manifest.rows) return;
  RowId counted = 0;
  for (const RowsPart& part : manifest.rows->parts) {
    if (!part.rows) return;  // of an earlier version
    counted += *part.rows;
  }
  if (counted != rows.store.rows())
    throw InputError(
        fmt::format("{}: it names {} rows, and their files have {}; delete it, and {} goes by the files that "
                    "are there",
                    (run.base() / "manifest.json").string(), counted, rows.store.rows(),
                    mention_action("resume", run.base().string())));
}

StoreFile open_rows(const RunDirectory& run, Verify verify, const Execution& execution) {
  std::vector<std::string> files = run.rows_files();
  if (files.empty()) files.push_back(run.rows().string());  // the error then names this missing file
  StoreFile rows = open_store(files, verify, execution);
  const std::string of_draws = run.finished() ? read_report(run).fingerprint : std::string();
  if (of_draws.empty()) check_base(run);
  if (!of_draws.empty() && of_draws != fingerprint_of(rows))
    throw InputError(
        fmt::format("{}: its draws are of other rows than there are in {} now, which was made anew since; draw again "
                    "({}), or bring the rows back",
                    run.path().string(), run.base().string(), mention_action("sample", run.base().string())));
  check_counted(run, rows);
  return rows;
}

StoreFile open_unverified(const RunDirectory& run) { return open_rows(run, Verify::metadata, {Threads(1)}); }

Encoding encoding_of(const RunDirectory& run) { return encoding_in(open_unverified(run), run.settings()); }

}  // namespace flymc
