// Simulation-based calibration (Talts and others 2018): ranks of the truth among posterior draws, and their tests.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "exactness/statistics.hpp"
#include "flymc/run/fit.hpp"
#include "flymc/run/sampler.hpp"
#include "problems/ordered.hpp"
#include "problems/problems.hpp"
#include "problems/shaped.hpp"

namespace flymc::exactness {

// Draw theta (the parameters) from the prior, y given theta, and draws given y. The draws and theta are exchangeable,
// so the rank of f(theta, y) among the f(draw, y) is uniform on 0 ... draws for every f. The log-likelihood is one f,
// because it depends on the data (Modrak and others 2023): a sampler that ignores y and draws from the prior leaves
// theta_j's ranks uniform.
constexpr int draws = 63;  // 64 ranks, in 16 bins of 4
constexpr int bins = 16;
constexpr int simulations = 1500;
// Draws are thinned until neighbours are nearly independent. An autocorrelation r between them widens the distribution
// of the ranks: its relative variance grows by about 4 r / (1 - r) / draws, 0.3 % at the limit below, while the spread
// over all simulations has a standard error of 2.3 %. With r = 0.05 the draws are worth 57 independent ones.
constexpr double most_autocorrelation = 0.05;

inline bool has_shape(const Model& model) { return model.arrangement().last_is_shared(); }

inline double log_likelihood(const Model& model, const Store& store, const Vector& parameters) {
  const FullDensity density(store, model);
  const Vector theta = model.theta(parameters);
  Evaluation at;
  density.evaluate(theta, BrightRows(0), false, at);
  double sum = at.log_density - model.term().log_density(theta);
  for (RowId i = 0; i < store.rows(); ++i)
    sum += model.log_likelihood_besides(parameters, has_shape(model) ? store.target(i) : 1.0);
  return sum;
}

// Ranks of one quantity over the simulations, against the uniform distribution on 0 ... draws.
class Ranks {
 public:
  void add(int rank) { ranks_.push_back(rank); }

  void judge(const std::string& name, Scores& scores) const {
    const auto n = static_cast<double>(ranks_.size());
    std::vector<double> count(bins);
    double linear = 0.0, quadratic = 0.0;
    for (const int rank : ranks_) {
      count[static_cast<std::size_t>(rank * bins / (draws + 1))] += 1.0;
      // The rank on (-1, 1). Its mean and spread reveal a shift or a wrong width earlier than the bins do.
      const double x = centred(rank);
      linear += x;
      quadratic += x * x;
    }
    double statistic = 0.0;
    for (const double c : count) statistic += (c - n / bins) * (c - n / bins) / (n / bins);
    scores.chi_square(name + ", bins", statistic, bins - 1);

    // Exact moments of x, uniform on its 64 points.
    double m2 = 0.0, m4 = 0.0;
    for (int rank = 0; rank <= draws; ++rank) {
      const double x = centred(rank);
      m2 += x * x / (draws + 1);
      m4 += x * x * x * x / (draws + 1);
    }
    scores.standard_normal(name + ", mean rank", linear / std::sqrt(n * m2));
    scores.standard_normal(name + ", spread of ranks", (quadratic - n * m2) / std::sqrt(n * (m4 - m2 * m2)));
  }

 private:
  static double centred(int rank) { return (2.0 * rank - draws) / (draws + 1); }
  std::vector<int> ranks_;
};

// Lag-1 autocorrelation of draws, pooled over simulations; each uses its own mean, with a bias of 1 / draws.
class Neighbours {
 public:
  void add(const std::vector<double>& values) {
    double mean = 0.0, square = 0.0, product = 0.0;
    for (const double v : values) mean += v / static_cast<double>(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      square += (values[i] - mean) * (values[i] - mean);
      if (i > 0) product += (values[i] - mean) * (values[i - 1] - mean);
    }
    sum_ += product / square + 1.0 / static_cast<double>(values.size());
    ++count_;
  }
  double correlation() const { return sum_ / count_; }

 private:
  double sum_ = 0.0;
  int count_ = 0;
};

// Average numbers of bright and lit rows in a calibration.
struct Seen {
  double bright = 0.0, lit = 0.0;  // lit: in the first simulations only
};

// Draws theta from the prior, and y at theta. An ordered target has `cuts` cut points and a model of its own, since the
// weights of categories are part of it. If a category is empty, both are drawn again: selection by y does not change
// the posterior of theta given y.
inline problems::Problem simulate(const Model& model, const RowMatrix& x, Index dimension, Index cuts,
                                  std::uint64_t seed) {
  for (std::uint64_t attempt = 0;; ++attempt) {
    const std::uint64_t own = seed + (attempt << 40);
    const Vector theta =
        model.parameters(model.term().simulate(dimension, PhiloxRandom(own, 2000, 0), Purpose::simulate));
    if (cuts > 0) {
      if (auto made = problems::ordered_problem(model.prior(), x, cuts, theta, own)) return *std::move(made);
      continue;
    }
    if (has_shape(model)) return problems::shaped_problem(model, x, theta, own);
    if (model.scales_coefficients()) return {model, problems::rows_with_targets(model, x, theta, own), theta};
    return {model, Store::from_matrix(x, problems::targets(model, x, theta, own)), theta};
  }
}

// Fits y drawn at theta drawn from the model's prior, with the same features each time, and tests the ranks of every
// coefficient and of the log-likelihood. Sets the options' chains, draws and seeds. False alarms: false_alarm_per_case
// (1e-4), shared by three statistics per coefficient and three of the log-likelihood.
inline Seen calibrate(const Model& prior_of, const RowMatrix& x, FitOptions options, std::uint64_t seed,
                      Index cuts = 0) {
  const bool one_more = prior_of.scales_coefficients() || has_shape(prior_of);
  const Index dimension = cuts + x.cols() * prior_of.arrangement().blocks() + (one_more ? 1 : 0);
  const auto quantities = static_cast<std::size_t>(dimension) + 1;
  std::vector<Ranks> ranks(quantities);
  std::vector<Neighbours> neighbours(quantities);
  Seen seen;
  const Threads one(1);
  options.chains = 1;
  options.threads = 1;
  options.warmup = 300;
  options.draws = draws;
  for (int s = 0; s < simulations; ++s) {
    const std::uint64_t own = 10000 * seed + static_cast<std::uint64_t>(s);
    const auto [model, store, theta] = simulate(prior_of, x, dimension, cuts, own);
    options.seed = own;
    if (s < 50 && options.bound != BoundKind::untuned)
      seen.lit += static_cast<double>(prepare(store, model, options, {one}).bound->lit().size()) / 50.0;
    const Fit fitted = fit(store, model, options);
    seen.bright += fitted.chains[0].bright_mean / simulations;

    std::vector<std::vector<double>> values(quantities);
    for (std::size_t i = 0; i < draws; ++i) {
      Vector drawn(dimension);
      for (Index j = 0; j < dimension; ++j) {
        drawn[j] = fitted.draws.value(0, i, j);
        values[static_cast<std::size_t>(j)].push_back(drawn[j]);
      }
      values.back().push_back(log_likelihood(model, store, drawn));
    }
    for (std::size_t f = 0; f < quantities; ++f) {
      const double truth = f + 1 < quantities ? theta[static_cast<Index>(f)] : log_likelihood(model, store, theta);
      int rank = 0;
      for (const double v : values[f]) rank += v < truth ? 1 : 0;
      ranks[f].add(rank);
      neighbours[f].add(values[f]);
    }
  }
  Scores scores;
  for (std::size_t f = 0; f < quantities; ++f) {
    const std::string name = f + 1 < quantities ? numbered("theta", static_cast<Index>(f)) : "log likelihood";
    ranks[f].judge(name, scores);
    EXPECT_LT(neighbours[f].correlation(), most_autocorrelation) << name;
  }
  scores.expect_all_within_limits();
  return seen;
}

}  // namespace flymc::exactness
