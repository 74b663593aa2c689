// Draws a target for each row under each draw, a batch of rows at a time.
#include "flymc/run/files/check/replicates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "../reading/row_targets.hpp"
#include "../reading/table_rows.hpp"
#include "../reading/thinned_draws.hpp"
#include "flymc/bound/bound_rows.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/numerics.hpp"
#include "flymc/core/random.hpp"
#include "flymc/run/files/folder/report.hpp"
#include "flymc/run/files/folder/run_draws.hpp"

namespace flymc {
namespace {

// The number of successes of m trials with probability p, by inversion. It tries counts in the order of their distance
// from the mode, which takes about sqrt(m p (1 - p)) steps.
double successes(double m, double p, double u) {
  if (!(p > 0.0)) return 0.0;
  if (!(p < 1.0)) return m;
  const double mode = std::min(m, std::floor((m + 1.0) * p)), odds = p / (1.0 - p);
  const double log_mass = log_gamma(m + 1.0) - log_gamma(mode + 1.0) - log_gamma(m - mode + 1.0) + mode * std::log(p) +
                          (m - mode) * std::log1p(-p);
  double above = std::exp(log_mass), below = above, up = mode, down = mode, rest = u - above;
  while (rest > 0.0 && (up < m || down > 0.0)) {
    if (up < m) {
      above *= (m - up) / (up + 1.0) * odds;
      up += 1.0;
      if ((rest -= above) <= 0.0) return up;
    }
    if (down > 0.0) {
      below *= down / (m - down + 1.0) / odds;
      down -= 1.0;
      if ((rest -= below) <= 0.0) return down;
    }
    if (above + below < 1e-17) break;  // the rest is rounding error of the sum
  }
  return mode;
}

// The rows of one batch.
class Batch {
 public:
  Batch(const RunParts& parts, std::span<const RowId> rows) : parts_(parts), rows_(rows) {
    fixed_.fetch(parts.rows.store, rows);
    const Encoding& encoding = parts.encoding;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const RowFacts facts = fixed_.facts.spans()[i];
      if (encoding.target().times) {
        observed.push_back(log_time(parts, rows[i]));
      } else if (encoding.target().cuts() > 0) {
        Index cut = 0;
        while (cut + 1 < encoding.target().cuts() && parts.rows.store.value(rows[i], cut) == 0.0) ++cut;
        cut_.push_back(cut);
        observed.push_back(static_cast<double>(cut) + (facts.target > 0.5 ? 1.0 : 0.0));
      } else {
        observed.push_back(facts.target);
      }
      if (parts.model.censored()) longer.push_back(facts.target < 0.5 ? 1 : 0);
      if (encoding.target().trials) trials.push_back(facts.weight);
    }
  }

  // Draws targets under draw `s`, given as `shown` on the scale of the table, with the random numbers of rows first,
  // first + 1, ... Also returns their means, row by row; a row may have several.
  void draw(const Vector& shown, std::uint64_t s, std::uint64_t seed, std::uint64_t first, double* targets,
            std::span<double> means) const {
    const Model& model = parts_.model;
    const auto k = static_cast<std::size_t>(model.predictors());
    const Vector theta = parts_.theta(shown);
    std::vector<double> eta(rows_.size() * k);
    fixed_.predict(model.arrangement().columns(theta), eta);
    if (model.arrangement().last_is_shared()) {
      std::vector<double> with_shape(eta.size());
      model.family().mean(eta, with_shape);
      for (std::size_t i = 0; i < rows_.size(); ++i) means[i] = with_shape[i * k];
    } else if (cut_.empty() && !parts_.encoding.target().is_feature()) {
      model.family().mean(eta, means);
    }
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const PhiloxRandom random(seed, 0, first + i);
      if (!cut_.empty()) {
        const Index cut = cut_[i];
        targets[i] = ordered(
            theta, eta[i] - theta[cut], random.uniform(Purpose::simulate, 2 * s),
            means.subspan(i * parts_.encoding.target().classes.size(), parts_.encoding.target().classes.size()));
      } else if (parts_.encoding.target().is_feature()) {
        // The predictor is the residual of the row's observed target, in units of sigma.
        const double sigma = shown[shown.size() - 1], at_zero = 0.0;
        means[i] = observed[i] - sigma * eta[i];
        targets[i] = means[i] + sigma * model.family().simulate({&at_zero, 1}, random, s);
      } else if (!trials.empty()) {
        targets[i] = successes(trials[i], means[i], random.uniform(Purpose::simulate, 2 * s)) / trials[i];
      } else {
        targets[i] = model.family().simulate(std::span<const double>(eta).subspan(i * k, k), random, s);
      }
    }
  }

  std::vector<double> observed, trials;
  std::vector<char> longer;

 private:
  // Draws a class: the number of cut points below eta plus a logistic random number. The first entries of theta are the
  // negative cut points.
  double ordered(const Vector& theta, double eta, double u, std::span<double> probabilities) const {
    const double latent = eta + std::log(u) - std::log1p(-u);
    const Index cuts = parts_.encoding.target().cuts();
    double target = 0.0, below = 0.0;
    for (Index c = 0; c < cuts; ++c) {
      const double cut = -theta[c], up_to = sigmoid(cut - eta);
      if (latent > cut) target = static_cast<double>(c) + 1.0;
      probabilities[static_cast<std::size_t>(c)] = up_to - below;
      below = up_to;
    }
    probabilities[static_cast<std::size_t>(cuts)] = 1.0 - below;
    return target;
  }

  const RunParts& parts_;
  std::span<const RowId> rows_;
  BoundRows fixed_;
  std::vector<Index> cut_;  // for an ordered target, the cut point that each row is compared with
};

}  // namespace

Replicates replicate(const RunDirectory& run, std::span<const RowId> rows, std::int64_t draws, std::uint64_t seed) {
  read_report(run);  // the run must be finished
  const RunParts parts = open_parts(run);
  for (const RowId row : rows)
    if (row < 0 || row >= parts.encoding.rows())
      throw InputError(
          fmt::format("there is no row {}; the run has {}, which count from 0", row, parts.encoding.rows()));
  const RowMatrix theta = thinned_draws(draws_of(run, parts.names), draws);
  const Threads threads(run.settings().fit.threads);
  const std::vector<RowId> stored = TableRows(parts, threads).stored(rows);
  const Index count = theta.rows(), size = static_cast<Index>(rows.size());
  const Index width = parts.encoding.target().cuts() > 0 ? static_cast<Index>(parts.encoding.target().classes.size())
                                                         : parts.model.arrangement().blocks();
  Replicates out;
  out.replicated.resize(count, size);
  out.means.resize(size, width);
  const Index most = std::clamp<Index>((Index{1} << 22) / (count * width), 1, 1024);
  for (Index first = 0; first < size; first += most) {
    const Index n = std::min(most, size - first);
    const Batch batch(parts, {stored.data() + first, static_cast<std::size_t>(n)});
    RowMatrix means(count, n * width);
    threads.run(static_cast<std::size_t>(count), [&](std::size_t s) {
      const auto draw = static_cast<Index>(s);
      batch.draw(theta.row(draw).transpose(), s, seed, static_cast<std::uint64_t>(first),
                 out.replicated.row(draw).data() + first,
                 {means.row(draw).data(), static_cast<std::size_t>(n * width)});
    });
    const Vector mean = means.colwise().mean().transpose();
    out.means.middleRows(first, n) = Eigen::Map<const RowMatrix>(mean.data(), n, width);
    out.observed.insert(out.observed.end(), batch.observed.begin(), batch.observed.end());
    out.longer.insert(out.longer.end(), batch.longer.begin(), batch.longer.end());
    out.trials.insert(out.trials.end(), batch.trials.begin(), batch.trials.end());
  }
  // Times are stored as logarithms.
  if (parts.encoding.target().times) {
    out.replicated = out.replicated.array().exp();
    out.means = out.means.array().exp();
    for (double& time : out.observed) time = std::exp(time);
  }
  return out;
}

}  // namespace flymc
