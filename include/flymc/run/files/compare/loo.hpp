// The sampled rows and proxies for leave-one-out cross-validation of one run, or of the rows common to several runs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "flymc/core/linear.hpp"
#include "flymc/run/files/compare/inspect.hpp"

namespace flymc {

struct SampledRows {
  RowId rows = 0;              // in the run, without rows of weight 0
  std::vector<RowId> sampled;  // the sample, in increasing order; rows kept from the table count from 0
};
// Returns a random sample without replacement of `count` rows of a run, or all rows if there are fewer. The choice
// depends on where a row came from, so two runs on one table choose the same rows among those that both kept. The
// exceptions are a few rows at the end of the list, which replace rows that one run dropped.
SampledRows sample_rows(const RunDirectory& run, RowId count, std::uint64_t seed);

// The difference estimator of elpd = sum_n log p(y_n | all other rows) (Magnusson and others 2020) needs a proxy for
// every row, which takes one pass, and the exact term of the sampled rows.
struct LooRows {
  RowId rows = 0;                           // common to all runs, without rows of weight 0
  std::vector<double> totals;               // for each run, the sum of its proxies
  RowMatrix squares;                        // (i, i): sum of squares of the proxies of run i; (i, j): of differences
  std::vector<std::vector<RowId>> sampled;  // for each run, its own numbers of the sampled rows
  std::vector<std::vector<PartRows>> of_parts;  // for each run, the sampled rows in each further part of its study
  RowMatrix proxies;                            // for the sampled rows, a column per run
  RowId table_rows = 0;                         // rows of the table, including those that were dropped or left out
};
// A study of one fit or more; log p(y) of a row is the sum over the parts. Rows are numbered by the first part, which has
// all of them.
struct NamedRun {
  std::vector<const RunDirectory*> parts;
  std::string name;  // for messages
  const RunDirectory& run() const { return *parts.front(); }
};
// Needs one or more finished studies. Throws InputError if they differ in table, target or weights, or have hardly a row
// in common.
LooRows loo_rows(std::span<const NamedRun> runs, RowId count, std::uint64_t seed);

}  // namespace flymc
