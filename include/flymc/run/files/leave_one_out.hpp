// Leave-one-out cross-validation of finished runs, from a sample of rows, and runs compared by it on the same rows.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "flymc/diagnose/difference_estimator.hpp"
#include "flymc/run/files/inspect.hpp"
#include "flymc/run/files/loo.hpp"

namespace flymc {

struct LooOptions {
  RowId rows = 1000;  // that are sampled
  std::int64_t seed = 0;
};
// Throws InputError if these can say nothing.
void check(const LooOptions& options);

// How well a run predicts rows that it has not seen: elpd_loo = sum_n log p(y_n | all other rows).
struct LooOfRun {
  std::string name;
  SumEstimate elpd;
  SumEstimate difference;  // of elpd from that of the best run, row by row; 0 of that run itself
  double p_loo = 0.0;      // the effective number of coefficients: how much better rows are predicted that were seen
  double good_k = 0.0;     // the Pareto k up to which as many draws can tell what leaving a row out says
  // Of the sampled rows:
  std::vector<RowId> rows;      // their numbers in the run, from 0
  std::vector<FileRow> places;  // where they came from; empty if the run does not know
  std::vector<double> terms;    // log p(y_n | all other rows)
  std::vector<double> pareto_k;

  // The sampled rows, by their place in these lists, whose Pareto k is too large for their terms to be trusted; the
  // largest first.
  std::vector<std::size_t> bad() const;
};
struct LeaveOneOut {
  RowId rows = 0;              // that all runs have, without those of weight 0
  RowId table_rows = 0;        // of the table, those that were dropped counted
  std::vector<LooOfRun> runs;  // as they were given
  std::vector<std::string> warnings;

  // The runs by their place in the list, the best first.
  std::vector<std::size_t> ranks() const;
};
// Of one run, or of several that are compared; see loo_rows for what is refused.
LeaveOneOut leave_one_out(std::span<const NamedRun> runs, const LooOptions& options);

// Of one run: its numbers, and the rows that are not to be trusted.
std::string loo_text(const LeaveOneOut& of_one);
std::string loo_json(const LeaveOneOut& of_one);
// Of several: a table of them, the best first.
std::string comparison_text(const LeaveOneOut& of_all);
std::string comparison_json(const LeaveOneOut& of_all);

}  // namespace flymc
