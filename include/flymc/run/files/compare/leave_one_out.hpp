// Leave-one-out cross-validation of finished runs on a sample of rows, and comparison of runs on the same rows.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "flymc/diagnose/difference_estimator.hpp"
#include "flymc/run/files/compare/inspect.hpp"
#include "flymc/run/files/compare/loo.hpp"

namespace flymc {

struct LooOptions {
  RowId rows = 1000;  // how many rows are sampled
  std::int64_t seed = 0;
};
// Throws InputError if an option cannot be used.
void check(const LooOptions& options);

// How well a run predicts unseen rows: elpd_loo = sum_n log p(y_n | all other rows).
struct LooOfRun {
  std::string name;
  SumEstimate elpd;
  SumEstimate difference;  // this run's elpd minus that of the best run, summed row by row; 0 for the best run
  double p_loo = 0.0;      // the effective number of coefficients: how much better seen rows are predicted
  double good_k = 0.0;     // the largest Pareto k at which this number of draws gives reliable terms
  // For the sampled rows:
  std::vector<RowId> rows;      // their numbers in the run, from 0
  std::vector<FileRow> places;  // where they came from; empty if the run does not record it
  std::vector<double> terms;    // log p(y_n | all other rows)
  std::vector<double> pareto_k;

  // Positions in these lists of the sampled rows whose Pareto k is too large for a reliable term, largest k first.
  std::vector<std::size_t> bad() const;
};
struct LeaveOneOut {
  RowId rows = 0;              // common to all runs, without rows of weight 0
  RowId table_rows = 0;        // in the table, including dropped rows
  std::vector<LooOfRun> runs;  // in the order given
  std::vector<std::string> warnings;

  // Positions of the runs in the list, best first.
  std::vector<std::size_t> ranks() const;
};
// Evaluates one run, or compares several. Throws InputError as loo_rows does.
LeaveOneOut leave_one_out(std::span<const NamedRun> runs, const LooOptions& options);

// The result of one run as text: its numbers, and the rows with unreliable terms.
std::string loo_text(const LeaveOneOut& of_one);
std::string loo_json(const LeaveOneOut& of_one);
// The comparison of several runs as a table, best first.
std::string comparison_text(const LeaveOneOut& of_all);
std::string comparison_json(const LeaveOneOut& of_all);

}  // namespace flymc
