// The folder of a run: its settings, its lock, and the names of its files.
//
//   settings.toml       the settings that were requested
//   manifest.json       which of the following are done, and which files have the rows (manifest.hpp)
//   rows.arrow          the rows, encoded (stage 1, ingest); with four ranks, rows-1-of-4.arrow ... rows-4-of-4.arrow
//   preparation.flymc   the anchor and the collapsed bound (stage 2)
//   gaps.flymc          part of the preparation: a byte per row, how likely the row is to be bright
//   starts.flymc        where the chains of an earlier run ended, if this one was sampled from it
//   chains/             a checkpoint of each chain, to resume from
//   parts/              draws of a run that is not finished
//   draws.parquet       all draws (stage 3)
//   effects.arrow       draws of the effects of groups, of a model that has them
//   report.json         the cost and diagnostics; the last of these to appear
//
// A stage is done if the manifest says so and its files exist. Files appear whole or not at all, and the manifest is
// written after them. A deleted file is recreated, and since draws depend on the seed alone they are the same:
// rows.arrow from the table, preparation.flymc from the rows, and a chain without a checkpoint from its first
// iteration.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flymc/run/files/folder/manifest.hpp"
#include "flymc/run/files/settings/settings.hpp"

namespace flymc {

class RunDirectory;
struct CompositeCard;

// Keeps other processes off a run while this one works on it.
class RunLock {
 public:
  // Takes over the lock that the run has had since its creation, or takes a new one. Throws InputError if another
  // process holds it, or if the settings differ from those that were read, because another process has replaced the run
  // since.
  explicit RunLock(const RunDirectory& directory);
  explicit RunLock(const std::filesystem::path& folder, std::string_view advice = "wait for it, or stop it");
  ~RunLock();
  RunLock(RunLock&& other) noexcept;
  RunLock& operator=(RunLock&&) = delete;

 private:
  int descriptor_;
};

// Whether a new run may replace a run that is already in its folder.
enum class Existing { keep, replace };

class RunDirectory {
 public:
  // Creates a folder with these settings. A folder is reused if an earlier run in it got no further than its settings,
  // because its table could not be read. Throws InputError if the folder contains more, or another process works on it.
  // The folder stays locked until a RunLock takes the lock over or this object is destroyed. If two processes create a
  // run in one folder, one of them gets it.
  // `fill` writes files and returns the manifest that names them, before the settings are written; the settings make
  // the folder a run.
  using Fill = std::function<Manifest(const std::filesystem::path& folder)>;
  static RunDirectory create(const std::filesystem::path& path, const Settings& settings, const Fill& fill = nullptr,
                             Existing existing = Existing::keep);
  // Opens the folder of an earlier run. Throws InputError if there is none.
  explicit RunDirectory(std::filesystem::path path);

  const std::filesystem::path& path() const { return path_; }
  const Settings& settings() const { return settings_; }
  Manifest manifest() const { return Manifest::of(path_); }
  // Changes the manifest on disk. One process at a time may do this, the one with the run's lock.
  void record(const std::function<void(Manifest&)>& change) const;
  // The folder of the run whose rows are used: this run, or the one that `from` names.
  std::filesystem::path base() const;
  // The name of the file with part `part` of `parts` of the rows.
  std::filesystem::path rows(int part = 0, int parts = 1) const;
  // The files that hold the rows, in order, by the manifest of that folder. Empty if the rows are not there, or a part is
  // missing.
  std::vector<std::string> rows_files() const;
  // Removes the files of rows from the run's own folder, before they are recreated.
  void remove_rows() const;
  std::filesystem::path preparation() const { return path_ / "preparation.flymc"; }
  std::filesystem::path gaps() const { return path_ / "gaps.flymc"; }
  std::filesystem::path starts() const { return path_ / "starts.flymc"; }
  std::filesystem::path checkpoint(std::uint64_t chain) const;
  std::filesystem::path draws() const { return path_ / "draws.parquet"; }
  std::filesystem::path effects() const { return path_ / "effects.arrow"; }
  std::filesystem::path report() const { return path_ / "report.json"; }
  // Whether the run began where the chains of another ended.
  bool has_starts() const;
  bool has_preparation() const;
  bool has_draws() const;
  // Whether it has its draws and the report.
  bool finished() const;

  // Tells the user how to recreate the draws of a chain if one of its files is damaged or lost.
  std::string advice(std::uint64_t chain) const;

  // A part holds consecutive draws of a chain, from `first_draw` until the part was closed: parameters, or the effects
  // of groups.
  enum class PartOf { parameters, effects };
  std::filesystem::path part(std::uint64_t chain, std::int64_t first_draw, PartOf of = PartOf::parameters) const;
  // Returns the parts of a chain before draw `draws`, in order. Removes later parts, which are not in the checkpoint.
  std::vector<std::filesystem::path> keep_parts(std::uint64_t chain, std::int64_t draws,
                                                PartOf of = PartOf::parameters) const;
  void remove_parts() const;

 private:
  std::filesystem::path path_;
  Settings settings_;
  std::string sealed_;                     // the bytes of settings.toml when they were read
  mutable std::unique_ptr<RunLock> held_;  // from the creation until a RunLock takes it over
  friend class RunLock;
};

// The runs of the parts of one study (study.hpp), in their order; one run if the study is one fit.
using PartRuns = std::span<const RunDirectory* const>;

// The family of several fits whose runs are in the folder; null if there are none.
const CompositeCard* composite_in(const std::filesystem::path& folder);

}  // namespace flymc
