// The parts of a run whose rows exist, shared by all functions that work on a run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "flymc/groups/group_model.hpp"
#include "flymc/model/model.hpp"
#include "flymc/run/files/reading/run_rows.hpp"

namespace flymc {

struct RunParts {
  StoreFile rows;
  Encoding encoding;
  std::vector<std::string> names;  // of the coefficients, and of the scales of effects
  Model model;
  std::optional<GroupModel> groups = {};  // the model with effects of groups, if it has them

  // Converts theta to parameters on the scale of the table's columns, as the draws have them, and back. The effects of
  // groups are left out.
  Vector shown(const Vector& theta) const;
  // The effects of groups at theta, in the target's unit, in the order of effects_columns().
  Vector effects(const Vector& theta) const;
  Vector theta(const Vector& shown) const {
    return model.theta(encoding.from_original(shown, model.arrangement().blocks()));
  }
};

// Throws InputError if rows are missing, or the prior names a coefficient that does not exist.
RunParts parts_of(StoreFile rows, const Settings& settings);

// Throws InputError if the model of a run has groups, for work that does not know of them.
void refuse_groups(const RunDirectory& run);

// Opens a run that has rows. The checksums of the rows are not verified. Throws InputError if the model has groups.
RunParts open_parts(const RunDirectory& run);

}  // namespace flymc
