// The parts of a run whose rows exist, shared by all functions that work on a run.
#pragma once

#include <string>
#include <vector>

#include "flymc/model/model.hpp"
#include "flymc/run/files/reading/run_rows.hpp"

namespace flymc {

struct RunParts {
  StoreFile rows;
  Encoding encoding;
  std::vector<std::string> names;  // of the coefficients
  Model model;

  // Converts theta to parameters on the scale of the table's columns, as the draws have them, and back.
  Vector shown(const Vector& theta) const {
    return encoding.to_original(model.parameters(theta), model.arrangement().blocks());
  }
  Vector theta(const Vector& shown) const {
    return model.theta(encoding.from_original(shown, model.arrangement().blocks()));
  }
};

// Throws InputError if rows are missing, or the prior names a coefficient that does not exist.
RunParts parts_of(StoreFile rows, const Settings& settings);

// Opens a run that has rows. The checksums of the rows are not verified.
RunParts open_parts(const RunDirectory& run);

}  // namespace flymc
