// The sink for draws of a run on disk: a Parquet part per chain and checkpoint, merged when the run is finished.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "../reading/run_parts.hpp"
#include "flymc/draws/files/draws_file.hpp"
#include "flymc/draws/files/effects_file.hpp"
#include "flymc/run/files/folder/run_directory.hpp"
#include "flymc/run/files/settings/group_settings.hpp"

namespace flymc {

// Parameters are written on the scale of the table's own columns.
class PartSink final : public Sink {
 public:
  PartSink(const RunDirectory& directory, const RunParts& parts)
      : directory_(directory), parts_(parts), chains_(static_cast<std::size_t>(directory.settings().fit.chains)) {
    if (!parts.groups) return;
    columns_ = effects_columns(parts.encoding);
    double numbers = 0.0;
    for (const auto& [name, size] : columns_) numbers += static_cast<double>(size);
    const FitOptions& fit = directory.settings().fit;
    every_ = 1 + static_cast<std::int64_t>(4.0 * numbers * fit.draws * fit.chains / most_bytes_of_a_round);
  }

  // Resumes a chain that has `draws` draws in these parts.
  void go_on(std::size_t chain, std::vector<std::filesystem::path> parts,
             std::vector<std::filesystem::path> parts_of_effects, std::int64_t draws) {
    chains_[chain].parts = std::move(parts);
    chains_[chain].parts_of_effects = std::move(parts_of_effects);
    chains_[chain].draws = draws;
  }

  // Throws InputError if the parts lack draws that the chain's checkpoint counts, or cannot be read.
  void check_complete(std::size_t chain) const {
    const Chain& at = chains_[chain];
    advised(chain, [&] {
      std::int64_t found = 0;
      if (!at.parts.empty()) {
        const DrawsFile file(at.parts);
        for (std::size_t c = 0; c < file.chains(); ++c) found += file.draws(c);
      }
      if (found != at.draws)
        throw InputError(fmt::format("{}: of {} draws of chain {}, {} are there",
                                     (directory_.path() / "parts").string(), at.draws, chain + 1, found));
      if (!parts_.groups) return;
      const std::int64_t kept = (at.draws + every_ - 1) / every_;
      const EffectsFile file(at.parts_of_effects, columns_);
      file.check_draws(static_cast<std::int32_t>(chain), every_);
      const std::int64_t effects = file.draws();
      if (effects != kept)
        throw InputError(fmt::format("{}: of {} draws of the effects in chain {}, {} are there",
                                     (directory_.path() / "parts").string(), kept, chain + 1, effects));
    });
  }

  void write(std::size_t chain, const Vector& theta, const DrawStats& stats) override {
    Chain& to = chains_[chain];
    if (!to.writer) {
      to.path = directory_.part(chain, to.draws);
      to.writer.emplace(to.path, parts_.names, DrawsMetadata{{"flymc_settings", to_toml(directory_.settings())}});
    }
    const Vector shown = parts_.shown(theta);
    if (!shown.allFinite()) refuse(shown);
    if (parts_.groups && to.draws % every_ == 0) write_effects(chain, theta);
    to.writer->append(static_cast<std::int32_t>(chain), to.draws++,
                      {shown.data(), static_cast<std::size_t>(shown.size())}, stats);
  }

  // Writes the draws since the last part to disk.
  void close_part(std::size_t chain) {
    Chain& from = chains_[chain];
    if (!from.writer) return;
    from.writer->finish();
    from.writer.reset();
    from.parts.push_back(from.path);
    if (!from.effects) return;
    from.effects->finish();
    from.effects.reset();
    from.parts_of_effects.push_back(from.path_of_effects);
  }

  // The parts of all chains, in order. All parts must be closed.
  std::vector<std::filesystem::path> parts() const {
    std::vector<std::filesystem::path> all;
    for (const Chain& chain : chains_) all.insert(all.end(), chain.parts.begin(), chain.parts.end());
    return all;
  }
  // Merges the draws, and before them the effects of groups.
  void merge() const {
    if (parts_.groups) {
      std::vector<std::filesystem::path> all;
      for (const Chain& chain : chains_)
        all.insert(all.end(), chain.parts_of_effects.begin(), chain.parts_of_effects.end());
      merge_effects(all, columns_, directory_.effects());
    }
    const std::filesystem::path target = directory_.draws();
    std::vector<std::vector<std::filesystem::path>> parts;
    for (const Chain& chain : chains_) parts.push_back(chain.parts);
    try {
      merge_draws(parts, target);
    } catch (const InputError&) {
      for (std::size_t i = 0; i < chains_.size(); ++i)
        advised(i, [&] { DrawsFile(parts[i]).scan([](const DrawsBatch&) {}); });
      throw;
    }
  }

 private:
  // If the effects of all draws of a round were larger, those of every m-th draw are kept.
  static constexpr double most_bytes_of_a_round = 1 << 29;

  void write_effects(std::size_t chain, const Vector& theta) {
    Chain& to = chains_[chain];
    if (!to.effects) {
      to.path_of_effects = directory_.part(chain, to.draws, RunDirectory::PartOf::effects);
      to.effects.emplace(to.path_of_effects, columns_);
    }
    const Vector effects = parts_.effects(theta);
    to.effects->append(static_cast<std::int32_t>(chain), to.draws,
                       {effects.data(), static_cast<std::size_t>(effects.size())});
  }

  // A coefficient of a column of tiny numbers may be too large for double precision.
  [[noreturn]] void refuse(const Vector& shown) const {
    Index j = 0;
    while (std::isfinite(shown[j])) ++j;
    throw InputError(fmt::format(
        "a draw of '{}' is too large for double precision on the scale of the table's columns; multiply the "
        "numbers in its column",
        parts_.names[static_cast<std::size_t>(j)]));
  }

  // Adds advice about the chain to the message of a damaged part.
  template <class Step>
  void advised(std::size_t chain, const Step& step) const {
    try {
      step();
    } catch (const InputError& error) {
      throw error.saying(fmt::format("{}; {}", error.what(), directory_.advice(chain)));
    }
  }

  struct Chain {
    std::vector<std::filesystem::path> parts;
    std::filesystem::path path;  // of the part being written
    std::optional<DrawsWriter> writer;
    std::vector<std::filesystem::path> parts_of_effects;
    std::filesystem::path path_of_effects;
    std::optional<EffectsWriter> effects;
    std::int64_t draws = 0;
  };
  const RunDirectory& directory_;
  const RunParts& parts_;
  std::vector<Chain> chains_;
  EffectsColumns columns_;
  std::int64_t every_ = 1;  // the effects of every so many draws are kept
};

}  // namespace flymc
