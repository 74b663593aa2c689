// What a fit would take, told from one scan of the table and a short fit of some of its rows.
#pragma once

#include "flymc/run/files/settings.hpp"

namespace flymc {

struct Plan {
  RowId rows = 0;
  bool whole = true;           // whether all of the table was read; else rows and features are about what they are
  bool rows_are_exact = true;  // or a guess from the size of a CSV
  Index features = 0;
  Index coefficients = 0;
  double table_bytes = 0.0;
  double store_bytes = 0.0;      // on disk, and in the page cache while it samples
  double memory_bytes = 0.0;     // beyond the store
  std::string choices;           // of bound, sweep and move, in words
  RowId tried_rows = 0;          // of the short fit; 0: there was none, and what follows is the least to expect
  double lit_rows = 0.0;         // rows that are always evaluated
  double setup_passes = 0.0;     // over the rows: anchor, bound and starts
  double sampling_passes = 0.0;  // what warm-up and sampling look at, in passes
  bool open_ended = false;       // --target-ess may ask for more rounds of draws
  double ingest_seconds = 0.0, prepare_seconds = 0.0, sample_seconds = 0.0;
  // Where levels are so many and so thin that the sample has next to no rows of them, the posterior is wider there than
  // that of the table, and more rows look lit or bright: sampling takes at most what is said above, and at least this.
  double least_sampling_passes = 0.0, least_sample_seconds = 0.0;
  std::string text() const;
};

Plan make_plan(const Settings& settings);
std::string to_json(const Plan& plan);

}  // namespace flymc
