// The folder of a run: which file is which, and what each stage leaves there.
//
//   settings.toml       what was asked for
//   rows.arrow          the rows, encoded (stage 1, ingest)
//   preparation.flymc   the anchor and the collapsed bound (stage 2)
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
#include <optional>
#include <string>
#include <vector>

#include "flymc/run/files/settings.hpp"
#include "flymc/run/sampler.hpp"

namespace flymc {

class RunDirectory {
 public:
  // A new folder with these settings. One in which a run got no further than its settings, because its table could not
  // be read, is taken over. Throws InputError if there is more in it, or another process at work on it.
  static RunDirectory create(const std::filesystem::path& path, const Settings& settings);
  // The folder of an earlier run. Throws InputError if it is none.
  explicit RunDirectory(std::filesystem::path path);

  const std::filesystem::path& path() const { return path_; }
  const Settings& settings() const { return settings_; }
  // The run whose rows and preparation are used: this one, or the one that `from` names.
  std::filesystem::path base() const;
  std::filesystem::path rows() const { return base() / "rows.arrow"; }
  std::filesystem::path preparation() const { return base() / "preparation.flymc"; }
  std::filesystem::path draws() const { return path_ / "draws.parquet"; }
  std::filesystem::path report() const { return path_ / "report.json"; }
  bool finished() const { return std::filesystem::exists(report()) && std::filesystem::exists(draws()); }

  void save(const Preparation& preparation) const;
  Preparation load_preparation(const Model& model) const;

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
  std::filesystem::path checkpoint(std::uint64_t chain) const;
  std::filesystem::path path_;
  Settings settings_;
};

// Keeps other processes off a run while this one works on it.
class RunLock {
 public:
  // Throws InputError if another process holds it.
  explicit RunLock(const RunDirectory& directory) : RunLock(directory.path()) {}
  explicit RunLock(const std::filesystem::path& folder);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace flymc
