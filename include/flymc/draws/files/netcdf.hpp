// Draws as NetCDF in the schema of ArviZ's InferenceData: arviz.from_netcdf(path) opens it.
//
//   posterior       theta(chain, draw, coefficient), with the names as the coordinate `coefficient`
//   sample_stats    lp, acceptance_rate, bright, queries (chain, draw); lp is DrawStats::log_density
//   observed_data   if given
//
// One variable with a coordinate of names, instead of a variable per coefficient: az.summary shows theta[age], any name
// is possible (a NetCDF variable cannot have a slash in its name, and "region[b]" would look like an index), two
// thousand coefficients are one array, and plots and comparisons can select coefficients by name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "flymc/draws/files/draws_file.hpp"

namespace flymc {

// The target on which the posterior is conditional.
struct ObservedData {
  std::string name;
  std::span<const double> values;
};

struct NetcdfOptions {
  std::map<std::string, std::string> attributes{};  // of the file and of every group
  std::optional<double> sampling_seconds{};         // sampling_time in the schema
  std::optional<std::int64_t> warmup{};             // tuning_steps in the schema
  std::optional<ObservedData> observed{};
  std::string created_at{};  // ISO 8601; if empty, the current time
};

// Streams the draws into the file, which appears complete or not at all. The metadata of the draws also become
// attributes, unless `attributes` has the same name. Concurrent calls wait, because the NetCDF library is not
// thread-safe.
//
// Throws InputError if the chains have unequal lengths, which the schema cannot represent, or if there is no draw;
// FileError, naming the file, if it cannot be written.
void export_netcdf(const DrawsFile& draws, const std::filesystem::path& path, const NetcdfOptions& options = {});

}  // namespace flymc
