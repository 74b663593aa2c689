// What a fit would take, told from a look at the table and a short measurement of this machine.
#pragma once

#include "flymc/run/files/settings.hpp"

namespace flymc {

struct Plan {
  RowId rows = 0;
  bool rows_are_exact = false;  // known from the files, or a guess from the size of a CSV
  Index features = 0;           // levels are counted in the first rows: there may be more
  Index coefficients = 0;
  double table_bytes = 0.0;
  double store_bytes = 0.0;      // on disk, and in the page cache while it samples
  double memory_bytes = 0.0;     // beyond the store
  std::string choices;           // of bound, sweep and move, in words
  double setup_passes = 0.0;     // over the rows: anchor, bound and starts
  double sampling_passes = 0.0;  // what warm-up and sampling look at, in passes
  bool open_ended = false;       // --target-ess may ask for more rounds of draws
  double ingest_seconds = 0.0, prepare_seconds = 0.0, sample_seconds = 0.0;
  std::string text() const;
};

Plan make_plan(const Settings& settings);
std::string to_json(const Plan& plan);

}  // namespace flymc
