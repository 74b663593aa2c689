// A short fit of a sample of the rows: what a fit of the whole table would take, measured.
//
// Each row of the sample counts for the w rows of the table that it stands for, so that the posterior is as narrow as
// the table's, about, and with it the spread of each row, on which lit and bright rows depend. Then
// - a pass over the sample is a pass over the table;
// - of the rows that a chain looks at, lit rows are w times as many in the table, and bright and proposed rows are as
//   many: one that stands for w has w times the gap of each of them.
// A level of fewer rows than w may be missing in the sample, or count for more than it is.
#pragma once

#include "flymc/run/sampler.hpp"

namespace flymc {

struct Trial {
  Recipe recipe;
  RowId rows = 0;    // of the sample; 0: there was none, and this is what the shape of the table tells
  double lit = 0.0;  // rows of the table
  double anchor_passes = 0.0, bound_passes = 0.0, start_passes = 0.0;  // over the sample; the last of one chain
  double prepare_seconds = 0.0;                                        // for the sample
  double warmup = 0.0;                                                 // iterations until warm-up ends
  // Of an iteration of one chain on the table, in warm-up and after it.
  double warmup_queries = 0.0, sampling_queries = 0.0;
  double warmup_seconds = 0.0, sampling_seconds = 0.0;
};

// The rows of the sample have `stands_for` times their weight. A chain runs for a few hundred iterations, or until
// `most_seconds` are over. Throws InputError where a fit of the sample would.
Trial try_fit(const Store& sample, double stands_for, const Model& model, FitOptions options, double most_seconds);

// Without a look at any row.
Trial guess_fit(const TableShape& shape, const FitOptions& options);

}  // namespace flymc
