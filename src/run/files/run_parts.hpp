// What a run is made of once its rows are there, and its report: shared by all that works on a run.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/data/files/encoding.hpp"
#include "flymc/data/files/store_file.hpp"
#include "flymc/run/files/families.hpp"
#include "flymc/run/files/priors.hpp"
#include "flymc/run/files/report.hpp"
#include "flymc/run/files/run.hpp"

namespace flymc {

struct RunParts {
  StoreFile rows;
  Encoding encoding;
  std::vector<std::string> names;  // of the coefficients
  Model model;
};

// All rows of a run, however many files they are in. Their numbers are not verified: few of them will be looked at.
inline StoreFile open_unverified(const RunDirectory& run) {
  std::vector<std::string> files = run.rows_files();
  if (files.empty()) files.push_back(run.rows().string());  // which is then said not to be there
  return open_store(files, Verify::metadata, {Threads(1)});
}

inline RunParts parts_of(StoreFile rows, const Settings& settings) {
  Encoding encoding = Encoding::from_json(rows.metadata.at("encoding"));
  if (encoding.rows() != rows.store.rows())
    throw InputError(fmt::format("the files of rows hold {} of {} rows; delete them, and {} makes them again",
                                 rows.store.rows(), encoding.rows(), mention_action("resume")));
  auto names = coefficient_names(encoding, settings);
  Model model = make_model(settings, encoding);
  return {std::move(rows), std::move(encoding), std::move(names), std::move(model)};
}

// Throws InputError if the run has no rows.
inline void check_rows(const RunDirectory& run) {
  if (!run.rows_files().empty()) return;
  throw InputError(run.finished()
                       ? fmt::format("{}: its rows were removed, and only a new fit of the table ({}) makes them again",
                                     run.path().string(), mention_action("fit"))
                       : fmt::format("{}: its rows are not there yet; {} makes them", run.path().string(),
                                     mention_action("resume", run.path().string())));
}

// Of a run that has rows. Their numbers are not verified.
inline RunParts open_parts(const RunDirectory& run) {
  check_rows(run);
  return parts_of(open_unverified(run), run.settings());
}

// What is known of a run when `draws` draws of each chain are there.
RunReport make_report(const RunParts& parts, const Preparation& preparation, const Settings& settings,
                      std::vector<ChainReport> chains, std::int64_t draws);

}  // namespace flymc
