// Exports draws, one format per extension.
#include "flymc/run/files/reading/export.hpp"

#include <fmt/format.h>

#include "flymc/core/files.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/data/files/table/output.hpp"
#include "flymc/draws/files/draws_file.hpp"
#include "flymc/draws/files/netcdf.hpp"
#include "flymc/draws/files/stan_csv.hpp"
#include "flymc/run/files/folder/report.hpp"
#include "flymc/run/files/folder/run_draws.hpp"
#include "flymc/run/files/reading/reported_draws.hpp"
#include "run_parts.hpp"

namespace flymc {
namespace {

// Chains run in parallel, so sampling took as long as the longest of them.
double sampling_seconds(const RunReport& report) {
  double longest = 0.0;
  for (const ChainReport& chain : report.chains) longest = std::max(longest, chain.sampling_seconds);
  return longest;
}

// Chains end their warm-up at different iterations. Returns the longest warm-up.
int warmup_iterations(const RunReport& report) {
  std::int64_t most = 0;
  for (const ChainReport& chain : report.chains) most = std::max(most, chain.warmup_iterations);
  return static_cast<int>(most);
}

void write_netcdf(const RunDirectory& directory, const RunReport& report, const DrawsFile& draws,
                  const std::filesystem::path& out) {
  NetcdfOptions options;
  options.warmup = warmup_iterations(report);
  options.sampling_seconds = sampling_seconds(report);
  std::vector<double> targets;
  if (report.rows <= most_observed) {
    const StoreFile rows = open_unverified(directory);
    const Encoding encoding = encoding_in(rows, directory.settings());
    // The store's target may be a side of a cut point, an event indicator, or a share of successes. It is then left
    // out.
    const bool another = encoding.target().cuts() > 0 || encoding.target().times || encoding.target().trials;
    for (std::size_t b = 0; b < rows.store.blocks() && !another; ++b) {
      const auto part = rows.store.block(b).facts().target;
      targets.insert(targets.end(), part.begin(), part.end());
    }
    if (!another) options.observed = ObservedData{directory.settings().target, targets};
  }
  export_netcdf(draws, out, options);
}

}  // namespace

std::vector<std::filesystem::path> export_draws(const RunDirectory& directory, const std::filesystem::path& out,
                                                const std::string& reference_class) {
  const std::string extension = extension_of(out.string());
  if (extension != ".nc" && extension != ".csv" && extension != ".parquet")
    throw InputError(
        fmt::format("{}: draws are exported as .nc (NetCDF), .csv (Stan CSV) or .parquet; name such a file "
                    "with {}",
                    out.string(), mention("out")));
  if (is_address(out.string())) {
    if (extension == ".csv")
      throw InputError(fmt::format(
          "{}: Stan CSV has a file for each chain, and is written to a folder; name a .parquet or .nc object, "
          "or a file, with {}",
          out.string(), mention("out")));
    write_object(out.string(),
                 [&](const std::filesystem::path& file) { export_draws(directory, file, reference_class); });
    return {out};
  }
  if (std::error_code none; std::filesystem::equivalent(out, directory.draws(), none))
    throw InputError(fmt::format("{}: is the run's own file; name another file with {}", out.string(), mention("out")));
  const RunReport report = read_report(directory);
  const Reported reported = report.reported(reference_class);
  const DrawsFile own = draws_of(directory, report);
  if (extension == ".parquet") {
    write_draws(own, reported, out);
    return {out};
  }
  const PendingFile differences(out.string() + ".differences");  // never committed, so it is removed at the end
  if (report.differences) write_draws(own, reported, differences.path());
  const DrawsFile draws = report.differences ? DrawsFile(differences.path()) : own;
  if (extension == ".csv") {
    StanCsvOptions options;
    options.seed = directory.settings().fit.seed;
    options.warmup = warmup_iterations(report);
    options.model = "flymc " + directory.settings().family;
    return export_stan_csv(draws, std::filesystem::path(out).replace_extension(), options);
  }
  write_netcdf(directory, report, draws, out);
  return {out};
}

}  // namespace flymc
