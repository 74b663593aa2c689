// The runs of one model and their assessment.
#pragma once

#include <string>
#include <vector>

#include "flymc/run/options.hpp"
#include "models.hpp"
#include "quadrature.hpp"
#include "scores.hpp"

namespace flymc::truth {

struct Run {
  std::vector<Score> scores;  // one per identified coefficient
  bool warned = false;        // by the summary, or not trustworthy by R-hat and effective sizes
  std::string refused;        // the error if there are no draws; counts as warned
  double passes = 0.0, seconds = 0.0;
};

// One fit through the public interface.
Run run(const TruthModel& model, const Store& store, const Quadrature& truth, const FitOptions& options,
        bool quantiles);

// One identified coefficient over all runs without a warning.
struct Found {
  double truth_mean = 0.0, truth_sd = 0.0;
  double rms_mean = 0.0, rms_mean_limit = 0.0;
  double rms_sd = 0.0, rms_sd_limit = 0.0;
  double largest = 0.0;  // |z| of means and sds
  int outliers = 0, outliers_limit = 0;
  double sd_ratio = 0.0, ess_bulk = 0.0, ess_tail = 0.0;  // means over the runs
  double off_mean = 0.0;                                  // mean over the runs of (mean - truth), in the truth's sds
  Expected expected;

  bool wrong() const { return !(rms_mean <= rms_mean_limit && rms_sd <= rms_sd_limit && outliers <= outliers_limit); }
};

// The probability that a model fails although flymc is right, due to the choice of seeds alone.
constexpr double false_alarm_per_model = 1e-4;
// For a long run, the limit of |z| for mean, sd, 5 % and 95 % quantile: 6.3e-5 for each of them.
constexpr double long_limit = 4.0;

struct Trial {
  const TruthModel* model = nullptr;
  Quadrature truth;
  std::vector<Run> runs;
  std::vector<Found> found;  // empty if all runs have a warning

  std::size_t unwarned() const;
  bool wrong(bool long_run) const;
};

// Fits with the seeds 1 ... seeds.
Trial try_model(const TruthModel& model, const FitOptions& options, int seeds, bool long_run);

}  // namespace flymc::truth
