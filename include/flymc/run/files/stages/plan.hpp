// The estimated cost of a fit, from one scan of the table and a short fit of some of its rows.
#pragma once

#include "flymc/run/files/settings/settings.hpp"

namespace flymc {

struct Plan {
  RowId rows = 0;
  bool whole = true;           // whether all of the table was read; otherwise rows and features are estimates
  bool rows_are_exact = true;  // false: estimated from the size of a CSV
  Index features = 0;
  Index coefficients = 0;
  double table_bytes = 0.0;
  double store_bytes = 0.0;      // on disk, and in the page cache during sampling
  double memory_bytes = 0.0;     // beyond the store
  std::string choices;           // of bound, sweep and move, in words
  RowId tried_rows = 0;          // in the short fit; 0: there was none, and the costs below are lower limits
  double lit_rows = 0.0;         // rows that are always evaluated
  double setup_passes = 0.0;     // over the rows: anchor, bound and starts
  double sampling_passes = 0.0;  // for warm-up and sampling
  bool open_ended = false;       // --target-ess may ask for more rounds of draws
  double ingest_seconds = 0.0, prepare_seconds = 0.0, sample_seconds = 0.0;
  // If there are many levels with hardly a row in the sample, the sample's posterior is wider along them than the
  // table's, and more rows look lit or bright. Sampling then takes at most the numbers above and at least these.
  double least_sampling_passes = 0.0, least_sample_seconds = 0.0;
  std::string text() const;
};

Plan make_plan(const Settings& settings);
std::string to_json(const Plan& plan);

}  // namespace flymc
