// A short fit of a sample of the rows, which measures the cost of a fit of the whole table.
//
// Each row of the sample counts for the w rows of the table that it represents, so that the posterior is about as
// narrow as the table's. Each row's spread, which decides whether it is lit or bright, is then about right as well.
// Then
// - a pass over the sample is a pass over the table;
// - a chain evaluates w times as many lit rows of the table as of the sample. The numbers of bright and proposed rows
//   are about equal, because a row that counts for w has w times the gap.
// A level with fewer than w rows may be missing in the sample, or have too much weight.
#pragma once

#include "flymc/run/sampler.hpp"

namespace flymc {

struct Trial {
  Recipe recipe;
  RowId rows = 0;    // of the sample; 0: there was none, and the numbers come from the shape of the table
  double lit = 0.0;  // rows of the table
  double anchor_passes = 0.0, bound_passes = 0.0, start_passes = 0.0;  // over the sample; starts for one chain
  double prepare_seconds = 0.0;                                        // for the sample
  double warmup = 0.0;                                                 // iterations until warm-up ends
  // Per iteration of one chain on the table, in warm-up and after it.
  double warmup_queries = 0.0, sampling_queries = 0.0;
  double warmup_seconds = 0.0, sampling_seconds = 0.0;
};

// The rows of the sample have `stands_for` times their weight. A chain runs for a few hundred iterations, or until
// `most_seconds` have passed. Throws InputError if the sample cannot be fitted.
Trial try_fit(const Store& sample, double stands_for, const Model& model, FitOptions options, double most_seconds);

// Estimates the cost from the shape alone, without reading a row.
Trial guess_fit(const TableShape& shape, const FitOptions& options);

}  // namespace flymc
