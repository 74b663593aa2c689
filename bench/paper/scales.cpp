// Finds the mode for each scale, and the likelihood of held-out rows at it.
#include "scales.hpp"

#include <algorithm>
#include <cmath>

#include "flymc/anchor/anchor.hpp"

namespace flymc::paper {
namespace {

// Log likelihoods of the held-out rows.
Vector held_out_scores(const Store& held_out, const Model& model, const Vector& theta) {
  Vector out(held_out.rows());
  RowMatrix eta;
  for (std::size_t b = 0; b < held_out.blocks(); ++b) {
    const Block& block = held_out.block(b);
    block.predict(model.arrangement().columns(theta), eta);
    model.family().likelihood(block.facts(), {eta.data(), static_cast<std::size_t>(eta.size())},
                              {out.data() + block.first_row(), static_cast<std::size_t>(block.rows())}, {}, {});
  }
  return out;
}

// Whether the mean of the differences is less than one standard error.
bool within_one_error(const Vector& differences) {
  const auto n = static_cast<double>(differences.size());
  const double mean = differences.mean();
  const double variance = (differences.array() - mean).square().sum() / (n - 1.0);
  return mean < std::sqrt(variance / n);
}

}  // namespace

Choice choose_scales(const Experiment& experiment, const Table& table, const Execution& execution) {
  Choice out;
  out.best.prior = experiment.prior_grid[experiment.prior_grid.size() / 2];
  const auto try_all = [&](const std::vector<double>& grid, double Scales::*scale) {
    std::vector<Vector> scores;
    for (const double value : grid) {
      Trial trial{out.best, 0.0};
      trial.scales.*scale = value;
      const Model model = experiment.model(trial.scales);
      const Anchor anchor = find_anchor(table.fit, model, execution);
      scores.push_back(held_out_scores(table.held_out, model, anchor.theta));
      trial.score = scores.back().mean();
      out.trials.push_back(trial);
      out.queries += anchor.queries + table.held_out.rows();
    }
    return scores;
  };
  const auto best_of = [](const std::vector<Vector>& scores) {
    return std::max_element(scores.begin(), scores.end(),
                            [](const Vector& a, const Vector& b) { return a.mean() < b.mean(); });
  };
  if (!experiment.likelihood_grid.empty()) {
    const auto scores = try_all(experiment.likelihood_grid, &Scales::likelihood);
    out.best.likelihood = experiment.likelihood_grid[static_cast<std::size_t>(best_of(scores) - scores.begin())];
  }
  const auto scores = try_all(experiment.prior_grid, &Scales::prior);
  const auto best = best_of(scores);
  const auto chosen = std::find_if(scores.begin(), best, [&](const Vector& s) { return within_one_error(*best - s); });
  out.best.prior = experiment.prior_grid[static_cast<std::size_t>(chosen - scores.begin())];
  return out;
}

}  // namespace flymc::paper
