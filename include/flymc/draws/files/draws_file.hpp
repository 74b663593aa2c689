// Draws in a Parquet file: written row by row, read column by column or in batches, merged from parts.
//
// One row per draw. The columns are, in this order:
//   chain            int32    number of the chain
//   draw             int64    number of the draw, rising within a chain
//   <coefficient>    float64  one column per coefficient, under its own name, bit for bit
//   log_density__    float64  DrawStats, as Stan marks what belongs to the sampler: by two underscores at the end
//   bright__         int64
//   queries__        int64
//   acceptance__     float64
// So `chain`, `draw` and whatever ends in `__` cannot name a coefficient. Rows of several chains may alternate.
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

// Says which run the draws belong to: seed, model, data. Kept in the file, in the order of the keys.
using DrawsMetadata = std::map<std::string, std::string>;

// Throws InputError if a name cannot be a column: empty, reserved, not UTF-8, with a control character, or there twice.
// Capitals do not tell two columns apart, since SQL takes them for one. DrawsWriter calls this; call it early to fail
// before the work.
void check_coefficient_names(std::span<const std::string> names);

// Writes a file of draws, which appears when finish() returns and not before. Takes one thread.
class DrawsWriter {
 public:
  // What is buffered before it goes to the file. A writer takes little more memory than this, but for the footer, which
  // Parquet keeps until the end: 2 kB per column and row group. So row groups are not smaller.
  static constexpr std::int64_t row_group_bytes = std::int64_t{32} << 20;

  // Throws InputError for names that check_coefficient_names refuses, FileError if the file cannot be created.
  DrawsWriter(std::filesystem::path path, std::vector<std::string> names, const DrawsMetadata& metadata = {});
  ~DrawsWriter();
  DrawsWriter(DrawsWriter&&) noexcept;
  DrawsWriter& operator=(DrawsWriter&&) noexcept;

  // Throws FileError, naming the file, if it cannot be written; nothing can be appended afterwards.
  void append(std::int32_t chain, std::int64_t draw, std::span<const double> theta, const DrawStats& stats);
  // Puts the file in its place. A writer that is destroyed without it leaves nothing behind.
  void finish();

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

// Rows that follow each other in a file. The spans live until the visit returns.
struct DrawsBatch {
  std::span<const std::int32_t> chains;  // their numbers, row by row
  std::span<const std::int64_t> draws;
  const RowMatrix& theta;  // a row per draw
  std::span<const DrawStats> stats;
};

// A file of draws is cut off, damaged or something else.
class DamagedDraws : public InputError {
 public:
  using InputError::InputError;
};

// Reads a file of draws, or several that follow each other, as the parts of a run that is still going. Holds the
// footers and the order of the chains, never the draws. Every page is checked against its checksum. A copy shares the
// files.
//
// Throws FileError if a file cannot be read; DamagedDraws, naming it, if it is cut off, damaged or not of draws;
// InputError if its names or its metadata are not those of the first part, or if the draws of a chain do not rise: a
// part is missing its place or is there twice.
class DrawsFile {
 public:
  // What a batch of scan() holds, at most.
  static constexpr std::int64_t batch_bytes = std::int64_t{4} << 20;

  explicit DrawsFile(const std::filesystem::path& path);
  explicit DrawsFile(std::vector<std::filesystem::path> parts);

  const std::vector<std::string>& names() const;
  const DrawsMetadata& metadata() const;
  const std::vector<std::filesystem::path>& parts() const;

  // Chains are counted in the order in which they first appear; chain_number is what the column says.
  std::size_t chains() const;
  std::int32_t chain_number(std::size_t chain) const;
  std::int64_t draws(std::size_t chain) const;
  Index coefficients() const { return static_cast<Index>(names().size()); }

  // All draws of one coefficient, chain by chain, as diagnostics take them. Reads this column only.
  std::vector<std::vector<double>> coefficient(Index j) const;
  // The same for `log_density__`, `bright__`, `queries__` or `acceptance__`.
  std::vector<std::vector<double>> statistic(std::string_view name) const;
  // All rows in the order of the files.
  void scan(const std::function<void(const DrawsBatch&)>& visit) const;

 private:
  class Implementation;
  std::shared_ptr<const Implementation> implementation_;
};

// Puts the parts of every chain, in order, into one file, chain after chain. The bytes of the file depend on the draws
// alone, not on how they were cut into parts. Every list holds one chain, and no two lists the same one.
void merge_draws(const std::vector<std::vector<std::filesystem::path>>& parts_of_chains,
                 const std::filesystem::path& target);

}  // namespace flymc
