// Draws in a Parquet file: written row by row, read column by column or in batches, merged from parts.
//
// One row per draw. The columns are, in this order:
//   chain            int32    number of the chain
//   draw             int64    number of the draw, increasing within a chain
//   <coefficient>    float64  one column per coefficient, under its own name, bit for bit
//   log_density__    float64  DrawStats; two underscores at the end mark the sampler's columns, as in Stan
//   bright__         int64
//   queries__        int64
//   acceptance__     float64
// So `chain`, `draw` and names that end in `__` cannot name a coefficient. Rows of several chains may alternate.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flymc/core/error.hpp"
#include "flymc/core/files.hpp"
#include "flymc/core/linear.hpp"
#include "flymc/draws/sink.hpp"

namespace flymc {

// Identifies the run of the draws: seed, model, data. Stored in the file, in the order of the keys.
using DrawsMetadata = std::map<std::string, std::string>;

// Throws InputError if a name cannot be a column: empty, reserved, repeated, not UTF-8, or with a control character.
// Names that differ only in capitals count as repeated, as in SQL. DrawsWriter calls this; call it early to fail before
// the work.
void check_coefficient_names(std::span<const std::string> names);

// Writes a file of draws, which appears only when finish() returns. Uses one thread.
class DrawsWriter {
 public:
  // The size of the buffer before a write. A writer takes little more memory than this, except for the footer, which
  // Parquet keeps until the end: 2 kB per column and row group. Therefore row groups are not smaller.
  static constexpr std::int64_t row_group_bytes = std::int64_t{32} << 20;

  // Throws InputError for names that check_coefficient_names rejects, FileError if the file cannot be created.
  DrawsWriter(std::filesystem::path path, std::vector<std::string> names, const DrawsMetadata& metadata = {});
  ~DrawsWriter();
  DrawsWriter(DrawsWriter&&) noexcept;
  DrawsWriter& operator=(DrawsWriter&&) noexcept;

  // Throws FileError, naming the file, if it cannot be written; no append is possible afterwards.
  void append(std::int32_t chain, std::int64_t draw, std::span<const double> theta, const DrawStats& stats);
  // Moves the file into place. A writer that is destroyed before leaves no file behind.
  void finish();

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

// Consecutive rows of a file. The spans are valid until the visit returns.
struct DrawsBatch {
  std::span<const std::int32_t> chains;  // their numbers, row by row
  std::span<const std::int64_t> draws;
  const RowMatrix& theta;  // a row per draw
  std::span<const DrawStats> stats;
};

// Thrown if a file of draws is truncated, damaged or of another kind.
class DamagedDraws : public InputError {
 public:
  using InputError::InputError;
};

// Reads a file of draws, or several consecutive ones, such as the parts of an unfinished run. Keeps the footers and the
// order of the chains in memory, but not the draws. Every page is checked against its checksum. A copy shares the
// files.
//
// Throws FileError if a file cannot be read; DamagedDraws, naming it, if it is truncated, damaged or without draws;
// InputError if its names or its metadata differ from those of the first part, or if the draws of a chain do not
// increase, because parts are out of order or repeated.
class DrawsFile {
 public:
  // The largest batch of scan().
  static constexpr std::int64_t batch_bytes = std::int64_t{4} << 20;

  explicit DrawsFile(const std::filesystem::path& path);
  explicit DrawsFile(std::vector<std::filesystem::path> parts);

  const std::vector<std::string>& names() const;
  const DrawsMetadata& metadata() const;
  const std::vector<std::filesystem::path>& parts() const;

  // Chains are counted in the order in which they first appear; chain_number is the value of the column `chain`.
  std::size_t chains() const;
  std::int32_t chain_number(std::size_t chain) const;
  std::int64_t draws(std::size_t chain) const;
  Index coefficients() const { return static_cast<Index>(names().size()); }

  // All draws of one coefficient, chain by chain, as diagnostics need them. Reads this column only.
  std::vector<std::vector<double>> coefficient(Index j) const;
  // The same for `log_density__`, `bright__`, `queries__` or `acceptance__`.
  std::vector<std::vector<double>> statistic(std::string_view name) const;
  // All rows in the order of the files.
  void scan(const std::function<void(const DrawsBatch&)>& visit) const;

 private:
  class Implementation;
  std::shared_ptr<const Implementation> implementation_;
};

// Merges the parts of every chain, in order, into one file, chain after chain. The bytes of the file depend only on the
// draws, not on their division into parts. Every list holds one chain, and no two lists hold the same chain.
void merge_draws(const std::vector<std::vector<std::filesystem::path>>& parts_of_chains,
                 const std::filesystem::path& target);

}  // namespace flymc
