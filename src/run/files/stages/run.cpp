// Runs the stages one after the other, each from the files of the one before.
#include "flymc/run/files/stages/run.hpp"

#include <fmt/format.h>

#include <optional>

#include "../folder/clock.hpp"
#include "../folder/seen_files.hpp"
#include "../json/record.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/data/files/store/store_file.hpp"
#include "stages.hpp"

namespace flymc {
namespace {

StoreFile open_old_or_new(const RunDirectory& directory, bool old, const Execution& execution) {
  try {
    // Rows that were just written need no check. Otherwise checksums are verified if passes over the rows follow
    // anyway, or if the files can be read in a second; else verification would cost a full pass, which sampling avoids.
    constexpr std::uintmax_t read_in_a_second = std::uintmax_t{1} << 30;
    const std::vector<std::string> files = directory.rows_files();
    std::uintmax_t bytes = 0;
    for (const std::string& file : files) bytes += std::filesystem::file_size(file);
    const bool verify = old && (!directory.has_preparation() || bytes < read_in_a_second);
    return open_store(files, verify ? Verify::numbers : Verify::metadata, execution);
  } catch (const InputError& error) {
    throw error.saying(fmt::format("{}: delete it, and {} makes it again, the same if the table is", error.what(),
                                   mention_action("resume", directory.path().string())));
  }
}

}  // namespace

namespace {

// Checks that all ranks see the same files of the run, since each rank reads them itself.
void check_all_see_the_run(const Job& job, const RunParts& parts) {
  const RunDirectory& directory = job.directory;
  std::vector<SeenFile> files = {seen(directory.path() / "settings.toml", to_toml(directory.settings())),
                                 seen(directory.rows(), fingerprint_of(parts.rows)),
                                 seen(directory.preparation(), record_checksum(directory.preparation())),
                                 seen(directory.starts(), record_checksum(directory.starts()))};
  for (int chain = 0; chain < directory.settings().fit.chains; ++chain) {
    const auto checkpoint = directory.checkpoint(static_cast<std::uint64_t>(chain));
    files.push_back(seen(checkpoint, record_checksum(checkpoint)));
  }
  check_all_see(files, job.communicator());
}

}  // namespace

bool complete(const RunDirectory& directory, Monitor& monitor, const Communicator& communicator) {
  const Threads threads(directory.settings().fit.threads);
  const Job job{directory, monitor, {threads, communicator}};
  std::optional<RunLock> lock;
  if (job.first() && !directory.finished()) lock.emplace(directory);
  if (job.found([&] { return directory.finished(); })) {  // perhaps by the process that held the lock until now
    if (job.first()) directory.remove_parts();            // left by a process that died before removing them
    return true;
  }
  const bool had_rows = job.found([&] { return !directory.rows_files().empty(); });
  const auto began = Clock::now();
  ingest(job);
  SetUpSeconds set_up{had_rows ? 0.0 : seconds_since(began), 0.0};
  if (job.stopped()) return false;
  const RunParts parts = parts_of(open_old_or_new(directory, had_rows, job.execution), job.settings());
  check_counted(directory, parts.rows);
  check_all_see_the_run(job, parts);
  const auto ingested = Clock::now();
  if (parts.groups) return sample_groups(job, parts, set_up);
  const bool had_preparation = job.found([&] { return directory.has_preparation(); });
  const std::optional<Preparation> preparation = prepared(job, parts);
  if (!had_preparation) set_up.prepare = seconds_since(ingested);
  return preparation && sample(job, parts, *preparation, set_up);
}

}  // namespace flymc
