// The folder of a run: which file is which, and what each stage leaves there.
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
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flymc/data/files/store_file.hpp"
#include "flymc/run/files/settings.hpp"
#include "flymc/run/sampler.hpp"

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

class RunDirectory {
 public:
  // A new folder with these settings. One in which a run got no further than its settings, because its table could not
  // be read, is taken over. Throws InputError if there is more in it, or another process at work on it.
  // The folder stays locked, for the RunLock of whoever works on it first, or until this object is gone: of two
  // processes that create a run in one folder, one gets it.
  // With a `base`, the run uses its rows, and copies of its preparation and of where its chains ended: what happens to
  // the base afterwards does not matter, and no pass is needed. (A preparation under another prior is as good, since
  // the bound does not know the prior; but that a flat prior has a posterior is found by the search for its own
  // anchor.)
  static RunDirectory create(const std::filesystem::path& path, const Settings& settings,
                             const RunDirectory* base = nullptr);
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
  // Removes files of rows: they are to be made anew.
  void remove_rows() const;
  std::filesystem::path preparation() const { return path_ / "preparation.flymc"; }
  std::filesystem::path starts() const { return path_ / "starts.flymc"; }
  std::filesystem::path checkpoint(std::uint64_t chain) const;
  std::filesystem::path draws() const { return path_ / "draws.parquet"; }
  std::filesystem::path report() const { return path_ / "report.json"; }
  bool finished() const { return std::filesystem::exists(report()) && std::filesystem::exists(draws()); }

  // Every rank of a communicator calls them. The first writes what all have, each its rows' share of the gaps.
  void save(const Preparation& preparation, const StoreFile& rows,
            const Communicator& communicator = Communicator::alone()) const;
  // Throws InputError if it is damaged, or was made from other rows.
  Preparation load_preparation(const Model& model, const StoreFile& rows,
                               const Communicator& communicator = Communicator::alone()) const;

  // Whether the preparation was made under the run's own prior, and not another's that it was sampled from.
  bool prepared_for_its_prior() const;
  // Removes a preparation that does not suit this run. The starts that belong to it are not used any more.
  void discard_preparation() const;
  // Where chains begin; none: around the anchor.
  std::vector<Place> load_starts() const;
  // The seed of the random numbers. A run that was sampled from another has numbers of its own under the same seed:
  // chains that share theirs, even from different starts, would meet and go on as one.
  std::uint64_t seed() const;

  // A checkpoint belongs to the preparation that its z was drawn with.
  void save(std::uint64_t chain, const Checkpoint& checkpoint) const;
  // How a person gets the draws of a chain again when something of it is damaged or lost.
  std::string advice(std::uint64_t chain) const;
  // Nothing if the chain has not got so far. Throws InputError, naming the file, if that is damaged.
  std::optional<Checkpoint> load_checkpoint(std::uint64_t chain) const;

  // A part holds the draws of a chain from `first_draw` on, as far as they had come when it was closed.
  std::filesystem::path part(std::uint64_t chain, std::int64_t first_draw) const;
  // The parts of a chain before draw `draws`, in order; removes those after it, which a checkpoint does not know.
  std::vector<std::filesystem::path> settle_parts(std::uint64_t chain, std::int64_t draws) const;
  void remove_parts() const;

 private:
  // Copies what a run takes from another before it has settings: from then on it is a run. False if the preparation
  // does not serve, and the new run makes its own.
  static bool copy_preparation(const RunDirectory& base, const std::filesystem::path& path, const Settings& settings);
  static void copy_from(const RunDirectory& base, const std::filesystem::path& path, const Settings& settings);
  std::filesystem::path gaps() const { return path_ / "gaps.flymc"; }
  std::filesystem::path path_;
  Settings settings_;
  std::string sealed_;                     // the bytes of settings.toml, as they were read
  mutable std::unique_ptr<RunLock> held_;  // from creation on
  friend class RunLock;
};

}  // namespace flymc
