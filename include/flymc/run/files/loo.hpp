// What leave-one-out cross-validation needs of the rows of a run, or of the rows that several runs have in common.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "flymc/core/linear.hpp"
#include "flymc/run/files/run_directory.hpp"

namespace flymc {

struct SampledRows {
  RowId rows = 0;              // of the run, without those of weight 0
  std::vector<RowId> sampled;  // of them, in order; rows that were kept of the table count from 0
};
// A random sample without replacement of `count` rows of a run, or all. A row is chosen by where it came from: of two
// runs on one table, which may have dropped different rows, both choose a row or neither, as far as both have it (but
// for a few at the end of the list, which take the place of those that one of them dropped).
SampledRows sample_rows(const RunDirectory& run, RowId count, std::uint64_t seed);

// elpd = sum_n log p(y_n | all other rows) by the difference estimator (Magnusson and others 2020) needs a proxy of every
// row, which one pass gives, and the exact term of a few.
struct LooRows {
  RowId rows = 0;                           // that all runs have, without those of weight 0
  std::vector<double> totals;               // of each run, the sum of its proxies
  RowMatrix squares;                        // (i, i): sum of squares of the proxies of run i; (i, j): of differences
  std::vector<std::vector<RowId>> sampled;  // of each run, its numbers of the sampled rows
  // Of each run that is a hurdle, the sampled rows that its count part has, by their place in the list, and their numbers
  // there.
  struct OfCount {
    std::vector<std::size_t> place;
    std::vector<RowId> row;
  };
  std::vector<OfCount> of_count;
  RowMatrix proxies;  // of the sampled rows, a column per run
  // Of the table: those that were dropped, or are zeros that the count part of a hurdle leaves out, are counted.
  RowId table_rows = 0;
};
struct NamedRun {
  const RunDirectory& run;
  std::string name;  // for messages
  // Of a hurdle (hurdle.hpp) `run` is the zero part, and this the count part.
  const RunDirectory* count = nullptr;
};
// Of finished runs, one or more. Throws InputError if they are not of one table, with one target and one weight per row,
// or have hardly a row in common.
LooRows loo_rows(std::span<const NamedRun> runs, RowId count, std::uint64_t seed);

}  // namespace flymc
