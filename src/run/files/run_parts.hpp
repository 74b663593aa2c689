// What a run is made of once its rows are there, and its report: shared by all that works on a run.
#pragma once

#include <string>
#include <vector>

#include "flymc/data/files/encoding.hpp"
#include "flymc/data/files/store_file.hpp"
#include "flymc/run/files/report.hpp"
#include "flymc/run/files/run.hpp"

namespace flymc {

struct RunParts {
  StoreFile rows;
  Encoding encoding;
  std::vector<std::string> names;  // of the coefficients
  Model model;
};

// The rows of a run whose numbers are not to be verified: a few of them will be looked at.
inline StoreFile open_rows(const RunDirectory& run) {
  const Threads threads(1);
  const std::vector<std::string> files = run.rows_files();
  return open_store(files.empty() ? std::vector{run.rows().string()} : files, Verify::metadata, {threads});
}

inline RunParts parts_of(StoreFile rows, const Settings& settings) {
  Encoding encoding = Encoding::from_json(rows.metadata.at("encoding"));
  auto names = coefficient_names(encoding.feature_names(), encoding.classes(), settings);
  Model model = make_model(settings, static_cast<int>(encoding.classes().size()), names);
  return {std::move(rows), std::move(encoding), std::move(names), std::move(model)};
}

// What is known of a run when `draws` draws of each chain are there.
RunReport make_report(const RunParts& parts, const Preparation& preparation, const FitOptions& options,
                      std::vector<ChainReport> chains, std::int64_t draws);

}  // namespace flymc
