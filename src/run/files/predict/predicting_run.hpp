// A finished run as predictions use it: its encoding, and its draws with the effects of groups.
#pragma once

#include <optional>
#include <vector>

#include "drawn_effects.hpp"
#include "flymc/data/files/encoding/encoding.hpp"
#include "flymc/draws/files/draws_file.hpp"
#include "flymc/run/files/predict/predict.hpp"

namespace flymc {

class PredictingRun {
 public:
  // Throws InputError if the run is not finished, its rows are missing, or an option is for groups that it does not
  // have; DamagedDraws if draws or effects are not those that the run ended with.
  PredictingRun(const RunDirectory& run, const PredictOptions& options);

  // The encoding of new rows: without groups, if these are of no matter.
  const Encoding& encoding() const { return encoding_; }
  // How many draws can be used: all, or those with effects.
  std::int64_t draws() const;

  struct Draws {
    RowMatrix coefficients;               // a row per draw, on the scale of the table's columns
    std::optional<DrawnEffects> effects;  // of a model with groups
  };
  // `count` of the draws, evenly spaced. `part` is the number of the run among the parts of a target, and `seed` that of
  // the effects of new groups.
  Draws read(std::int64_t count, std::uint64_t seed, std::uint64_t part) const;

 private:
  Encoding encoding_;
  NewLevels new_levels_;
  Index coefficients_ = 0;
  std::optional<DrawsFile> draws_;
  std::optional<EffectsFile> effects_;
};

}  // namespace flymc
