// Copies the files of a run, and cuts the draws of a stopped run to one length.
#include "flymc/run/files/stages/copies.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "../folder/checkpoint_file.hpp"
#include "../folder/preparation_file.hpp"
#include "../folder/writable_copy.hpp"
#include "flymc/core/files.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/draws/files/draws_file.hpp"
#include "make_report.hpp"

namespace flymc {
namespace {

namespace fs = std::filesystem;

// Copies a file or a folder of files. Does nothing if it does not exist.
void copy_over(const fs::path& from, const fs::path& to) {
  if (!fs::exists(from)) return;
  if (!fs::is_directory(from)) return copy_writable(from, to);
  fs::create_directory(to);
  for (const auto& entry : fs::directory_iterator(from)) copy_over(entry.path(), to / entry.path().filename());
}

void link_or_copy(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::create_hard_link(from, to, error);
  if (error) copy_over(from, to);
}

// Creates a folder with a copy of the run, but without its parts, draws and report.
RunDirectory copy_without_draws(const RunDirectory& run, const fs::path& path, Settings settings) {
  settings.from.clear();
  RunDirectory to = RunDirectory::create(path, settings);
  for (const fs::path file : run.rows_files()) link_or_copy(file, path / file.filename());
  for (const char* name : {"starts.flymc", "gaps.flymc", "preparation.flymc", "chains"})
    copy_over(run.path() / name, path / name);
  to.record([&](Manifest& manifest) {
    const Manifest own = run.manifest();
    manifest.rows = Manifest::of(run.base()).rows;
    manifest.starts = own.starts;
    manifest.preparation = own.preparation;
  });
  return to;
}

struct StoppedChain {
  Checkpoint checkpoint;
  std::vector<fs::path> parts;
};

// The length that keeps the most draws, counting only chains that have at least that many.
std::int64_t best_length(const std::vector<StoppedChain>& chains) {
  std::int64_t best = 0, most = 0;
  for (const StoppedChain& one : chains) {
    const std::int64_t length = one.checkpoint.draws;
    const auto all = length * std::ranges::count_if(
                                  chains, [&](const StoppedChain& other) { return other.checkpoint.draws >= length; });
    if (all > most) most = all, best = length;
  }
  return best;
}

// The report before the chains have run. The preparation of a model with groups is not stored, and is made again.
Report prepared_report(const RunDirectory& run, const RunParts& parts, const Settings& settings) {
  if (!parts.groups) return report_before(parts, load_preparation(run, parts.model, parts.rows), settings);
  const Threads threads(settings.fit.threads);
  return report_before(parts, GroupSampler(parts.rows.store, *parts.groups, {threads}));
}

}  // namespace

RunDirectory copy_run(const RunDirectory& run, const fs::path& path) {
  const RunLock lock(run);
  RunDirectory to = copy_without_draws(run, path, run.settings());
  const RunLock until_all_is_there(to);
  for (const char* name : {"parts", "draws.parquet", "effects.arrow", "report.json"})
    copy_over(run.path() / name, path / name);
  to.record([&](Manifest& manifest) {
    const Manifest own = run.manifest();
    manifest.draws = own.draws;
    manifest.report = own.report;
  });
  return to;
}

std::optional<RunDirectory> conclude(const RunDirectory& stopped, const fs::path& path) {
  const RunLock lock(stopped);
  if (stopped.finished()) throw InputError(fmt::format("{}: the run is finished", stopped.path().string()));
  Settings settings = stopped.settings();
  std::vector<StoppedChain> chains;
  for (int i = 0; i < settings.fit.chains; ++i) {
    const auto chain = static_cast<std::uint64_t>(i);
    if (auto checkpoint = load_checkpoint(stopped, chain)) {
      auto parts = stopped.keep_parts(chain, checkpoint->draws);
      chains.push_back({std::move(*checkpoint), std::move(parts)});
    }
  }
  const std::int64_t length = best_length(chains);
  if (length == 0) return std::nullopt;
  std::erase_if(chains, [&](const StoppedChain& chain) { return chain.checkpoint.draws < length; });
  settings.fit.chains = static_cast<int>(chains.size());
  settings.fit.draws = static_cast<int>(length);
  settings.until_enough = false;
  settings.target_ess = 0.0;

  RunDirectory to = copy_without_draws(stopped, path, settings);
  const RunLock until_all_is_there(to);
  check_rows(to);
  const RunParts parts = parts_of(open_unverified(to), settings);
  DrawsWriter writer(to.draws(), parts.names, {{"flymc_settings", to_toml(settings)}});
  std::vector<ChainReport> reports;
  for (const StoppedChain& chain : chains) {
    std::int64_t kept = 0;
    DrawsFile(chain.parts).scan([&](const DrawsBatch& batch) {
      for (Index i = 0; i < batch.theta.rows(); ++i)
        if (const auto at = static_cast<std::size_t>(i); batch.draws[at] < length && ++kept > 0)
          writer.append(batch.chains[at], batch.draws[at],
                        {batch.theta.row(i).data(), static_cast<std::size_t>(batch.theta.cols())}, batch.stats[at]);
    });
    if (kept != length)
      throw InputError(fmt::format("{}: of {} draws of a chain, {} are there; {} says which to draw again",
                                   (stopped.path() / "parts").string(), length, kept,
                                   mention_action("resume", stopped.path().string())));
    reports.push_back(chain.checkpoint.report);
  }
  writer.finish();
  write_report(to, make_report(parts, prepared_report(to, parts, settings), settings, std::move(reports), length));
  return to;
}

}  // namespace flymc
