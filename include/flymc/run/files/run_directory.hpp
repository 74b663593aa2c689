// The folder of a run: its settings, its lock, and which file is which.
//
//   settings.toml       what was asked for
//   rows.arrow          the rows, encoded (stage 1, ingest); of four ranks, rows-1-of-4.arrow ... rows-4-of-4.arrow
//   preparation.flymc   the anchor and the collapsed bound (stage 2)
//   gaps.flymc          a byte per row, which belongs to it: how likely the row is to be bright
//   starts.flymc        where the chains of an earlier run ended, if this one was sampled from it
//   chains/             where each chain stands, to go on from
//   parts/              draws of a run that is not finished
//   draws.parquet       all draws (stage 3)
//   report.json         what it took; the last file to appear
//
// A stage is done when its file is there: files appear whole or not at all. Whatever is deleted is made again, and
// since draws depend on the seed alone they come out the same: rows.arrow from the table, preparation.flymc from the
// rows, a chain whose checkpoint is gone from its beginning.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "flymc/run/files/settings.hpp"

namespace flymc {

class RunDirectory;

// Keeps other processes off a run while this one works on it.
class RunLock {
 public:
  // Takes the lock over that the run has from its creation, or a new one. Throws InputError if another process holds
  // it, or if the settings are no longer those that were read: another process has taken the folder over since.
  explicit RunLock(const RunDirectory& directory);
  explicit RunLock(const std::filesystem::path& folder, std::string_view advice = "wait for it, or stop it");
  ~RunLock();
  RunLock(RunLock&& other) noexcept;
  RunLock& operator=(RunLock&&) = delete;

 private:
  int descriptor_;
};

// What becomes of a run in the folder that a new one is to have.
enum class Existing { keep, replace };

class RunDirectory {
 public:
  // A new folder with these settings. One in which a run got no further than its settings, because its table could not
  // be read, is taken over. Throws InputError if there is more in it, or another process at work on it.
  // The folder stays locked, for the RunLock of whoever works on it first, or until this object is gone: of two
  // processes that create a run in one folder, one gets it.
  // What `fill` puts into it is there before the settings are: from then on it is a run.
  using Fill = std::function<void(const std::filesystem::path& folder)>;
  static RunDirectory create(const std::filesystem::path& path, const Settings& settings, const Fill& fill = nullptr,
                             Existing existing = Existing::keep);
  // The folder of an earlier run. Throws InputError if it is none.
  explicit RunDirectory(std::filesystem::path path);

  const std::filesystem::path& path() const { return path_; }
  const Settings& settings() const { return settings_; }
  // The run whose rows are used: this one, or the one that `from` names.
  std::filesystem::path base() const;
  // The file that part `part` of `parts` of the rows has.
  std::filesystem::path rows(int part = 0, int parts = 1) const;
  // The files that hold the rows, in order; none if they are not all there.
  std::vector<std::string> rows_files() const;
  // Removes files of rows from the run's own folder, before they are made anew.
  void remove_rows() const;
  std::filesystem::path preparation() const { return path_ / "preparation.flymc"; }
  std::filesystem::path gaps() const { return path_ / "gaps.flymc"; }
  std::filesystem::path starts() const { return path_ / "starts.flymc"; }
  std::filesystem::path checkpoint(std::uint64_t chain) const;
  std::filesystem::path draws() const { return path_ / "draws.parquet"; }
  std::filesystem::path report() const { return path_ / "report.json"; }
  bool finished() const { return std::filesystem::exists(report()) && std::filesystem::exists(draws()); }

  // How a person gets the draws of a chain again when something of it is damaged or lost.
  std::string advice(std::uint64_t chain) const;

  // A part holds the draws of a chain from `first_draw` on, as far as they had come when it was closed.
  std::filesystem::path part(std::uint64_t chain, std::int64_t first_draw) const;
  // The parts of a chain before draw `draws`, in order; removes those after it, which a checkpoint does not know.
  std::vector<std::filesystem::path> keep_parts(std::uint64_t chain, std::int64_t draws) const;
  void remove_parts() const;

 private:
  std::filesystem::path path_;
  Settings settings_;
  std::string sealed_;                     // the bytes of settings.toml, as they were read
  mutable std::unique_ptr<RunLock> held_;  // from creation on
  friend class RunLock;
};

}  // namespace flymc
