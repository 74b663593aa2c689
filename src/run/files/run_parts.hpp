// What a run is made of once its rows are there: shared by all that works on a run.
#pragma once

#include <string>
#include <vector>

#include "flymc/model/model.hpp"
#include "flymc/run/files/run_rows.hpp"

namespace flymc {

struct RunParts {
  StoreFile rows;
  Encoding encoding;
  std::vector<std::string> names;  // of the coefficients
  Model model;

  // Parameters on the scale of the table's own columns, as they stand in the draws, of theta; and back.
  Vector shown(const Vector& theta) const {
    return encoding.to_original(model.parameters(theta), model.arrangement().blocks());
  }
  Vector theta(const Vector& shown) const {
    return model.theta(encoding.from_original(shown, model.arrangement().blocks()));
  }
};

// Throws InputError if the rows are not all there, or the prior names what is not.
RunParts parts_of(StoreFile rows, const Settings& settings);

// Of a run that has rows. Their numbers are not verified.
RunParts open_parts(const RunDirectory& run);

}  // namespace flymc
