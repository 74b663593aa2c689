// Draws of the effects of groups in an Arrow IPC file: written draw by draw, read for some groups at a time.
//
// One row per draw. The columns are `chain` (int32), `draw` (int64), and one for the effects of each factor, a fixed-size
// list of float: those of the first group, then those of the second, and so on. Effects may be a million numbers per
// draw, so they are not columns by themselves, and have single precision.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "flymc/core/linear.hpp"

namespace flymc {

// The columns of effects: their names, and how many numbers each has.
using EffectsColumns = std::vector<std::pair<std::string, Index>>;

// The file appears at finish(), whole or not at all.
class EffectsWriter {
 public:
  // Throws FileError if the file cannot be created.
  EffectsWriter(const std::filesystem::path& path, const EffectsColumns& columns);
  ~EffectsWriter();
  EffectsWriter(EffectsWriter&&) noexcept;
  EffectsWriter& operator=(EffectsWriter&&) noexcept;

  // The numbers of all columns, one column after the other. Throws FileError if they cannot be written.
  void append(std::int32_t chain, std::int64_t draw, std::span<const double> effects);
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Which draws of a chain have effects in a file.
struct KeptDraws {
  std::int32_t chain = 0;
  std::vector<std::int64_t> draws = {};
};

// A file of effects, or several of them that follow each other. It is mapped, and not read as a whole.
class EffectsFile {
 public:
  // Throws DamagedDraws (draws_file.hpp), naming the file, if it is damaged, of another kind, or has other columns.
  EffectsFile(const std::vector<std::filesystem::path>& parts, const EffectsColumns& columns);

  std::int64_t draws() const;
  // For each chain, in the order of read().
  std::vector<KeptDraws> kept() const;
  // The chain of each draw and its number there, in the order of the file.
  std::vector<std::pair<std::int32_t, std::int64_t>> chains_and_draws() const;
  // The numbers of a column in each draw, in that order. They are in the mapped file, and valid while it is.
  std::vector<const float*> columns_of_draws(std::size_t column) const;
  // Throws DamagedDraws if a number is not finite.
  void check_finite() const;
  // Throws DamagedDraws unless these are the draws 0, m, 2 m, ... of one chain.
  void check_draws(std::int32_t chain, std::int64_t m) const;
  // The draws of numbers first, first + 1, ... of a column: for each number its chains, in the order of the file. Throws
  // DamagedDraws if one is not finite.
  std::vector<std::vector<std::vector<double>>> read(std::size_t column, Index first, Index count) const;

 private:
  friend void merge_effects(const std::vector<std::filesystem::path>&, const EffectsColumns&,
                            const std::filesystem::path&);
  struct State;
  std::shared_ptr<const State> state_;
};

// Writes the draws of all parts, in their order, to one file.
void merge_effects(const std::vector<std::filesystem::path>& parts, const EffectsColumns& columns,
                   const std::filesystem::path& target);

}  // namespace flymc
