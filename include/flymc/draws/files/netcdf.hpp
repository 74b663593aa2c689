// Draws as NetCDF in the schema of ArviZ's InferenceData: arviz.from_netcdf(path) opens it.
//
//   posterior       theta(chain, draw, coefficient), with the names as the coordinate `coefficient`
//   sample_stats    lp, acceptance_rate, bright, queries (chain, draw); lp is DrawStats::log_density
//   observed_data   if given
//
// One variable with a coordinate of names, rather than a variable per coefficient: az.summary shows theta[age], any
// name will do (a NetCDF variable cannot have a slash in its name, and "region[b]" would look like an index), two
// thousand coefficients are one array, and plots and comparisons can choose among them by name.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "flymc/draws/files/draws_file.hpp"

namespace flymc {

// The target that the posterior is conditional on.
struct ObservedData {
  std::string name;
  std::span<const double> values;
};

struct NetcdfOptions {
  std::map<std::string, std::string> attributes{};  // of the whole file and of every group
  std::optional<double> sampling_seconds{};         // sampling_time, in the schema
  std::optional<std::int64_t> warmup{};             // tuning_steps
  std::optional<ObservedData> observed{};
  std::string created_at{};  // ISO 8601; now, if empty
};

// Streams the draws into the file, which appears whole or not at all. The metadata of the draws become attributes too,
// where `attributes` has no entry of the same name. Calls wait for each other: the NetCDF library takes one thread.
//
// Throws InputError if the chains are of unequal length, which the schema cannot hold, or if there is no draw;
// FileError, naming the file, if it cannot be written.
void export_netcdf(const DrawsFile& draws, const std::filesystem::path& path, const NetcdfOptions& options = {});

}  // namespace flymc
