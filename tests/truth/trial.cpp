// Fits of a model, their scores and the limits for these.
#include "trial.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "flymc/core/error.hpp"
#include "flymc/run/fit.hpp"
#include "reference.hpp"

namespace flymc::truth {
namespace {

// theta holds the columns of class 0, then those of class 1, and so on.
std::vector<std::vector<double>> identified_draws(const TruthModel& model, const MemorySink& draws, std::size_t j) {
  if (model.asinh) {
    auto out = draws.coefficient(static_cast<Index>(j));
    for (auto& chain : out)
      for (double& draw : chain) draw = std::asinh(draw);
    return out;
  }
  if (model.family != FamilyKind::softmax) return draws.coefficient(static_cast<Index>(j));
  const std::size_t features = model.features();
  auto out = draws.coefficient(static_cast<Index>(j + features));
  const auto first = draws.coefficient(static_cast<Index>(j % features));
  for (std::size_t chain = 0; chain < out.size(); ++chain)
    for (std::size_t i = 0; i < out[chain].size(); ++i) out[chain][i] -= first[chain][i];
  return out;
}

// Whether the summary warns that draws may be wrong: that chains disagree, that z is not as expected, or that there is
// another mode. Warnings about data and prior, such as separated classes, do not count.
bool doubted(const Fit& fitted) {
  const auto of_modes = [](const std::string& warning) {
    return warning.starts_with("the posterior has a second mode");
  };
  return fitted.summary().warnings.size() > fitted.warnings.size() || std::ranges::any_of(fitted.warnings, of_modes);
}

Found find(const Trial& trial, std::size_t j) {
  Found out;
  const Marginal& truth = trial.truth.marginals[j];
  out.truth_mean = truth.mean();
  out.truth_sd = truth.sd();
  const auto n = static_cast<double>(trial.unwarned());
  for (const Run& run : trial.runs) {
    if (run.warned) continue;
    const Score& s = run.scores[j];
    out.rms_mean += s.z_mean * s.z_mean / n;
    out.rms_sd += s.z_sd * s.z_sd / n;
    for (const double z : {s.z_mean, s.z_sd, s.z_q5, s.z_q95}) out.largest = std::max(out.largest, std::abs(z));
    out.outliers += (std::abs(s.z_mean) > outlying) + (std::abs(s.z_sd) > outlying);
    out.off_mean += (s.mean - truth.mean()) / truth.sd() / n;
    out.sd_ratio += s.sd / truth.sd() / n;
    out.ess_bulk += s.ess_bulk / n;
    out.ess_tail += s.ess_tail / n;
  }
  out.rms_mean = std::sqrt(out.rms_mean);
  out.rms_sd = std::sqrt(out.rms_sd);
  return out;
}

// Three limits for each coefficient share the model's false-alarm rate.
void set_limits(Found& found, const Marginal& truth, std::size_t unwarned, std::size_t coefficients,
                const FitOptions& options) {
  found.expected =
      expect(truth, options.chains, options.draws, std::min(found.ess_bulk, found.ess_tail), /*seed=*/20210701);
  const Expected& e = found.expected;
  const double rate = false_alarm_per_model / (3.0 * static_cast<double>(coefficients));
  found.rms_mean_limit = rms_limit(e.mean_square, e.mean_variance, unwarned, rate);
  found.rms_sd_limit = rms_limit(e.sd_square, e.sd_variance, unwarned, rate);
  found.outliers_limit = outlier_limit(e.mean_outlying + e.sd_outlying, unwarned, rate);
}

}  // namespace

Run run(const TruthModel& model, const Store& store, const Quadrature& truth, const FitOptions& options,
        bool quantiles) {
  Run out;
  const auto start = std::chrono::steady_clock::now();
  try {
    const Fit fitted = fit(store, make_model(model), options);
    out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    out.passes = static_cast<double>(fitted.queries()) / static_cast<double>(store.rows());
    out.warned = doubted(fitted);
    for (std::size_t j = 0; j < model.identified(); ++j) {
      out.scores.push_back(score(identified_draws(model, fitted.draws, j), truth.marginals[j], quantiles));
      out.warned |= !out.scores.back().trustworthy();
    }
  } catch (const InputError& error) {
    out.refused = error.what();
    out.warned = true;
  }
  return out;
}

std::size_t Trial::unwarned() const {
  return static_cast<std::size_t>(std::count_if(runs.begin(), runs.end(), [](const Run& r) { return !r.warned; }));
}

bool Trial::wrong(bool long_run) const {
  return std::any_of(found.begin(), found.end(),
                     [&](const Found& f) { return long_run ? !(f.largest <= long_limit) : f.wrong(); });
}

Trial try_model(const TruthModel& model, const FitOptions& options, int seeds, bool long_run) {
  Trial out{&model, reference(model), {}, {}};
  const Store store = make_store(model);
  for (int seed = 1; seed <= seeds; ++seed) {
    FitOptions seeded = options;
    seeded.seed = static_cast<std::uint64_t>(seed);
    out.runs.push_back(run(model, store, out.truth, seeded, long_run));
  }
  if (out.unwarned() == 0) return out;
  for (std::size_t j = 0; j < model.identified(); ++j) {
    out.found.push_back(find(out, j));
    if (!long_run) set_limits(out.found.back(), out.truth.marginals[j], out.unwarned(), model.identified(), options);
  }
  return out;
}

}  // namespace flymc::truth
