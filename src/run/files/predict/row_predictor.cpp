// Products of rows and draws, a few rows at a time, and the summaries of each row's predictions.
#include "row_predictor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "flymc/core/numerics.hpp"
#include "flymc/diagnose/quantile_functions.hpp"

namespace flymc {
namespace {

// The most predictors that are computed at once: half a MiB, which stays in the cache of one core.
constexpr Index batch_numbers = Index{1} << 16;

}  // namespace

// Working memory for the current rows.
struct RowPredictor::Buffer {
  Buffer(Index rows, Index draws, Index predictors, bool survival)
      : stride((draws + panel_width - 1) / panel_width * panel_width),
        storage(aligned_numbers(static_cast<std::size_t>((rows + 1) * predictors * stride))),
        numbers(storage.get()),
        one(numbers + rows * predictors * stride) {
    if (predictors == 1 && !survival) return;
    mixed.resize(static_cast<std::size_t>(draws * predictors));
    means.resize(mixed.size());
  }
  const Index stride;
  const AlignedNumbers storage;
  double* const numbers;  // points into storage: row by row, predictor by predictor, a number per draw
  double* const one;      // points into storage: space for one more row
  // Draw by draw, predictor by predictor. For survival probabilities `mixed` has standardised residuals and `means`
  // zeros.
  std::vector<double> mixed, means;
};

// The p-quantile of n sorted numbers lies at position (n - 1) p, counted from 0, as in R and NumPy.
RowPredictor::Place::Place(double p, std::size_t count) {
  const double at = p * static_cast<double>(count - 1);
  rank = static_cast<std::size_t>(at);
  share = at - std::floor(at);
  score = normal_quantile(p);
  const double density = std::exp(-0.5 * score * score) / std::sqrt(2.0 * std::numbers::pi);
  step = 1.0 / (density * static_cast<double>(count));
}

RowPredictor::RowPredictor(Model model, const Encoding& encoding, const RowMatrix& theta, std::uint64_t seed,
                           const PredictOptions& options, std::vector<RowEffects> effects,
                           std::optional<WhetherPositive> zero)
    : model_(std::move(model)),
      effects_(std::move(effects)),
      zero_(std::move(zero)),
      target_(encoding.target().kind),
      seed_(seed),
      times_(encoding.target().times),
      new_targets_(options.kind.empty() ? target_ == TargetKind::number && !encoding.target().trials
                                        : options.kind == "target"),
      tail_((1.0 - options.interval) / 2.0),
      lower_(tail_, static_cast<std::size_t>(theta.rows())),
      upper_(1.0 - tail_, static_cast<std::size_t>(theta.rows())),
      width_(widest_vectors()),
      of_mean_(model_.family().of_mean()),
      link_mean_(of_mean_ ? *of_mean_ : model_.family()),
      features_(static_cast<Index>(encoding.feature_names().size())),
      predictors_(zero_ ? 2 : model_.arrangement().blocks()),
      draws_(theta.rows()),
      panels_((draws_ + panel_width - 1) / panel_width),
      panel_values_(aligned_numbers(static_cast<std::size_t>(predictors_ * panels_ * features_ * panel_width))) {
  if (encoding.target().is_feature())
    for (Index s = 0; s < draws_; ++s) sigma_.push_back(theta(s, features_ - 1));
  if (encoding.target().has_shape())
    for (Index s = 0; s < draws_; ++s) log_shape_.push_back(std::log(theta(s, features_ - 1)));
  for (Index k = 0; k < encoding.target().cuts(); ++k) {
    cuts_.emplace_back();
    for (Index s = 0; s < draws_; ++s) cuts_.back().push_back(theta(s, k));
  }
  for (const double time : options.times) log_times_.push_back(std::log(time));
  if (target_ == TargetKind::classes || target_ == TargetKind::ordered)
    names_ = encoding.target().classes;
  else
    names_ = {""};
  if (survival()) names_.clear();
  for (const double time : options.times) names_.push_back(fmt::format("{}", time));
  for (Index k = 0; k < predictors_; ++k)
    for (Index s = 0; s < draws_; ++s) {
      double* const panel = panel_values_.get() + (k * panels_ + s / panel_width) * features_ * panel_width;
      for (Index j = 0; j < features_; ++j) panel[j * panel_width + s % panel_width] = theta(s, k * features_ + j);
    }
}

void RowPredictor::prepare(const NewRows& rows, const Threads& threads) {
  for (RowEffects& effects : effects_) effects.prepare(rows.groups, threads);
}

void RowPredictor::predict(const NewRows& rows, Index begin, Index end, RowMatrix& out) const {
  const Index padded = panels_ * panel_width;
  const Index most = std::clamp<Index>(batch_numbers / (padded * predictors_), panel_width, 64);
  Buffer buffer(std::min(most, end - begin), draws_, predictors_, survival());
  for (Index first = begin; first < end; first += most) {
    const Index count = std::min(most, end - first);
    for (Index k = 0; k < predictors_; ++k)
      for (Index p = 0; p < panels_; ++p)
        rows.features.multiply_panel(width_, panel_values_.get() + (k * panels_ + p) * features_ * panel_width,
                                     features_, static_cast<std::size_t>(first), count,
                                     buffer.numbers + k * padded + p * panel_width, predictors_ * padded);
    for (Index i = 0; i < count; ++i) {
      const Index row = first + i;
      if (!rows.complete[static_cast<std::size_t>(row)]) continue;
      const std::span<double> eta(buffer.numbers + i * predictors_ * padded,
                                  static_cast<std::size_t>(predictors_ * padded));
      if (const double offset = rows.offsets[static_cast<std::size_t>(row)]; offset != 0.0)
        for (double& e : zero_ ? eta.first(static_cast<std::size_t>(padded)) : eta) e += offset;
      for (std::size_t k = 0; k < effects_.size(); ++k)
        effects_[k].add(rows.features, static_cast<std::size_t>(row),
                        eta.subspan(k * static_cast<std::size_t>(padded), static_cast<std::size_t>(draws_)));
      const std::uint64_t number = rows.first + static_cast<std::uint64_t>(row);
      const std::span<double> of_draws = eta.first(static_cast<std::size_t>(draws_));
      if (survival())
        predict_survival(of_draws, buffer, out.row(row).data());
      else if (times_)
        predict_time(of_draws, number, buffer, out.row(row).data());
      else if (!cuts_.empty())
        predict_ordered(of_draws, buffer, out.row(row).data());
      else if (zero_)
        predict_count(eta, number, buffer, out.row(row).data());
      else if (predictors_ == 1)
        predict_number(of_draws, number, buffer, out.row(row).data());
      else
        predict_classes(eta, buffer, out.row(row).data());
    }
  }
}

// An inverse link is increasing, so the order statistics of the means are the means of the predictors' order
// statistics. Only the posterior mean needs all of them.
void RowPredictor::predict_number(std::span<const double> eta, std::uint64_t row, Buffer& buffer, double* out) const {
  const BatchedFamily& family = of_mean_ ? *of_mean_ : model_.family();
  const Location location = locate(width_, eta);
  const std::span<double> means(buffer.one, eta.size());
  const auto polynomial = link_mean_(width_, eta, location);
  if (!polynomial) family.mean(eta, means);
  out[0] = polynomial ? *polynomial : locate(width_, means).mean;
  Ends found;
  if (new_targets_ && target_ == TargetKind::number) {
    const PhiloxRandom random(seed_, 0, row);
    if (!log_shape_.empty()) {
      for (std::size_t s = 0; s < eta.size(); ++s) {
        const double both[2] = {eta[s], log_shape_[s]};
        means[s] = model_.family().simulate(both, random, s);
      }
    } else if (sigma_.empty()) {
      for (std::size_t s = 0; s < eta.size(); ++s) means[s] = family.simulate(eta.subspan(s, 1), random, s);
    } else {
      const double at_zero = 0.0;
      for (std::size_t s = 0; s < eta.size(); ++s)
        means[s] = eta[s] + sigma_[s] * family.simulate({&at_zero, 1}, random, s);
    }
    found = ends(means);
  } else if (new_targets_) {
    found = ends_of_indicator(out[0]);
  } else {
    const auto quantile = [&](const Place& place) {
      const Neighbours at = neighbours_at(eta, location, place);
      double mean[2];
      family.mean(std::span<const double>(&at.at, 1), {&mean[0], 1});
      family.mean(std::span<const double>(&at.next, 1), {&mean[1], 1});
      return mean[0] + place.share * (mean[1] - mean[0]);
    };
    found = {quantile(lower_), quantile(upper_)};
  }
  out[1] = found.lower;
  out[2] = found.upper;
}

// P(y > 0) E[y | y > 0] for each draw. The parts use different random numbers even if their seeds are equal.
void RowPredictor::predict_count(std::span<const double> eta, std::uint64_t row, Buffer& buffer, double* out) const {
  const auto draws = static_cast<std::size_t>(draws_);
  const BatchedFamily &family = model_.family(), &of_zero = zero_->model.family();
  const std::span<const double> count = eta.first(draws),
                                zero = eta.subspan(static_cast<std::size_t>(buffer.stride), draws);
  const std::span<double> numbers(buffer.one, draws), probability(buffer.means.data(), draws);
  family.mean(count, numbers);
  of_zero.mean(zero, probability);
  for (std::size_t s = 0; s < draws; ++s) numbers[s] *= probability[s];
  out[0] = locate(width_, numbers).mean;
  if (new_targets_) {
    const PhiloxRandom random(seed_, 0, row), random_of_zero(zero_->seed, 1, row);
    for (std::size_t s = 0; s < draws; ++s) {
      const bool more = of_zero.simulate(zero.subspan(s, 1), random_of_zero, s) > 0.5;
      numbers[s] = more ? family.simulate(count.subspan(s, 1), random, s) : 0.0;
    }
  }
  const Ends found = ends(numbers);
  out[1] = found.lower;
  out[2] = found.upper;
}

// log t = eta + sigma e, so the median of t is exp(eta + sigma * median of e).
void RowPredictor::predict_time(std::span<const double> eta, std::uint64_t row, Buffer& buffer, double* out) const {
  const BatchedFamily& family = model_.family();
  const std::span<double> times(buffer.one, eta.size());
  const double at_zero = 0.0;
  double median = 0.0;
  family.mean({&at_zero, 1}, {&median, 1});
  for (std::size_t s = 0; s < eta.size(); ++s) times[s] = std::exp(eta[s] + sigma_[s] * median);
  out[0] = locate(width_, times).mean;
  if (new_targets_) {
    const PhiloxRandom random(seed_, 0, row);
    for (std::size_t s = 0; s < eta.size(); ++s)
      times[s] = std::exp(eta[s] + sigma_[s] * family.simulate({&at_zero, 1}, random, s));
  }
  const Ends found = ends(times);
  out[1] = found.lower;
  out[2] = found.upper;
}

// P(longer than t) = S((log t - eta) / sigma), the likelihood of a row that is censored at t.
void RowPredictor::predict_survival(std::span<const double> eta, Buffer& buffer, double* out) const {
  const std::vector<double>& not_seen = buffer.means;
  std::vector<double>& u = buffer.mixed;
  const std::span<double> probability(buffer.one, eta.size());
  for (std::size_t t = 0; t < log_times_.size(); ++t) {
    for (std::size_t s = 0; s < eta.size(); ++s) u[s] = (log_times_[t] - eta[s]) / sigma_[s];
    model_.family().likelihood(not_seen, u, probability, {}, {});
    for (double& p : probability) p = std::exp(p);
    out[3 * t] = locate(width_, probability).mean;
    const Ends found = ends(probability);
    out[3 * t + 1] = found.lower;
    out[3 * t + 2] = found.upper;
  }
}

void RowPredictor::predict_classes(std::span<const double> eta, Buffer& buffer, double* out) const {
  for (Index s = 0; s < draws_; ++s)
    for (Index k = 0; k < predictors_; ++k)
      buffer.mixed[static_cast<std::size_t>(s * predictors_ + k)] =
          eta[static_cast<std::size_t>(k * buffer.stride + s)];
  model_.family().mean(buffer.mixed, buffer.means);
  const std::span<double> one(buffer.one, static_cast<std::size_t>(draws_));
  for (Index k = 0; k < predictors_; ++k) {
    for (Index s = 0; s < draws_; ++s)
      one[static_cast<std::size_t>(s)] = buffer.means[static_cast<std::size_t>(s * predictors_ + k)];
    put_probability(one, out + 3 * k);
  }
}

// P(class k) = sigmoid(cut_k - eta) - sigmoid(cut_(k-1) - eta). If both terms are near 1, the difference is computed
// from the complementary probabilities, which are small and so more exact.
void RowPredictor::predict_ordered(std::span<const double> eta, Buffer& buffer, double* out) const {
  const std::span<double> one(buffer.one, eta.size());
  for (std::size_t k = 0; k <= cuts_.size(); ++k) {
    for (std::size_t s = 0; s < eta.size(); ++s) {
      const double upper = k < cuts_.size() ? cuts_[k][s] - eta[s] : HUGE_VAL;
      const double lower = k > 0 ? cuts_[k - 1][s] - eta[s] : -HUGE_VAL;
      one[s] = lower > 0.0 ? sigmoid(-lower) - sigmoid(-upper) : sigmoid(upper) - sigmoid(lower);
    }
    put_probability(one, out + 3 * k);
  }
}

void RowPredictor::put_probability(std::span<const double> probability, double* out) const {
  out[0] = locate(width_, probability).mean;
  const Ends found = new_targets_ ? ends_of_indicator(out[0]) : ends(probability);
  out[1] = found.lower;
  out[2] = found.upper;
}

Neighbours RowPredictor::neighbours_at(std::span<const double> numbers, const Location& location,
                                       const Place& place) const {
  return neighbours(width_, numbers, location, place.rank, location.mean + place.score * location.deviation,
                    place.step * location.deviation);
}

RowPredictor::Ends RowPredictor::ends(std::span<const double> numbers) const {
  const Location location = locate(width_, numbers);
  const auto quantile = [&](const Place& place) {
    const Neighbours at = neighbours_at(numbers, location, place);
    return at.at + place.share * (at.next - at.at);
  };
  return {quantile(lower_), quantile(upper_)};
}

// The indicator of a class is 1 with the posterior mean of the class's probability, else 0. Its quantiles therefore
// need no draws.
RowPredictor::Ends RowPredictor::ends_of_indicator(double probability) const {
  return {1.0 - probability < tail_ ? 1.0 : 0.0, probability > tail_ ? 1.0 : 0.0};
}

}  // namespace flymc
