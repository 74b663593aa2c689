// Products of rows and draws, a few rows at a time, and what is asked of each row's numbers.
#include "row_predictor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

#include "flymc/diagnose/quantile_functions.hpp"

namespace flymc {
namespace {

// Predictors that are computed before any is looked at: half a MiB, which stays in a core's own cache.
constexpr Index batch_numbers = Index{1} << 16;

// Up to so many features a row's moments are quicker to have from those of the draws.
constexpr Index few_features = 64;

}  // namespace

AlignedNumbers::AlignedNumbers(Index count) : storage_(static_cast<std::size_t>(count + panel_width)) {
  void* at = storage_.data();
  std::size_t space = storage_.size() * sizeof(double);
  at_ = static_cast<double*>(std::align(64, sizeof(double), at, space));
}

// Numbers of the rows at hand.
class RowPredictor::Buffer {
 public:
  Buffer(Index rows, Index draws, Index predictors)
      : stride((draws + panel_width - 1) / panel_width * panel_width),
        storage_((rows + 1) * predictors * stride),
        numbers(storage_.data()),
        one(numbers + rows * predictors * stride) {
    if (predictors == 1) return;
    mixed.resize(static_cast<std::size_t>(draws * predictors));
    means.resize(mixed.size());
  }
  const Index stride;

 private:
  AlignedNumbers storage_;

 public:
  double* const numbers;             // row by row, predictor by predictor, a number per draw
  double* const one;                 // as much as a row
  std::vector<double> mixed, means;  // draw by draw, predictor by predictor
};

// The p-quantile of n numbers stands at (n - 1) p among them in order, as in R and NumPy.
RowPredictor::Place::Place(double p, std::size_t count) {
  const double at = p * static_cast<double>(count - 1);
  rank = static_cast<std::size_t>(at);
  share = at - std::floor(at);
  score = normal_quantile(p);
  const double density = std::exp(-0.5 * score * score) / std::sqrt(2.0 * std::numbers::pi);
  step = 1.0 / (density * static_cast<double>(count));
}

RowPredictor::RowPredictor(Model model, const Encoding& encoding, const RowMatrix& theta, std::uint64_t seed,
                           const PredictOptions& options)
    : model_(std::move(model)),
      target_(encoding.target_kind()),
      seed_(seed),
      new_targets_(options.kind.empty() ? target_ == TargetKind::number : options.kind == "target"),
      tail_((1.0 - options.interval) / 2.0),
      lower_(tail_, static_cast<std::size_t>(theta.rows())),
      upper_(1.0 - tail_, static_cast<std::size_t>(theta.rows())),
      width_(widest_vectors()),
      link_mean_(model_.family()),
      features_(static_cast<Index>(encoding.feature_names().size())),
      predictors_(model_.predictors()),
      draws_(theta.rows()),
      panels_((draws_ + panel_width - 1) / panel_width),
      panel_values_(predictors_ * panels_ * features_ * panel_width) {
  if (target_ == TargetKind::classes)
    names_ = encoding.classes();
  else
    names_ = {""};
  if (predictors_ == 1 && features_ <= few_features) {
    mean_ = theta.leftCols(features_).colwise().mean();
    const Matrix centred = theta.leftCols(features_).rowwise() - mean_.transpose();
    covariance_ = centred.transpose() * centred / static_cast<double>(draws_);
  }
  for (Index k = 0; k < predictors_; ++k)
    for (Index s = 0; s < draws_; ++s) {
      double* const panel = panel_values_.data() + (k * panels_ + s / panel_width) * features_ * panel_width;
      for (Index j = 0; j < features_; ++j) panel[j * panel_width + s % panel_width] = theta(s, k * features_ + j);
    }
}

void RowPredictor::predict(const NewRows& rows, Index begin, Index end, RowMatrix& out) const {
  const Index padded = panels_ * panel_width;
  const Index most = std::clamp<Index>(batch_numbers / (padded * predictors_), panel_width, 64);
  Buffer buffer(std::min(most, end - begin), draws_, predictors_);
  for (Index first = begin; first < end; first += most) {
    const Index count = std::min(most, end - first);
    for (Index k = 0; k < predictors_; ++k)
      for (Index p = 0; p < panels_; ++p)
        panel_product(width_, panel_values_.data() + (k * panels_ + p) * features_ * panel_width, features_,
                      rows.features.row(first).data(), features_, count, buffer.numbers + k * padded + p * panel_width,
                      predictors_ * padded);
    for (Index i = 0; i < count; ++i) {
      const Index row = first + i;
      if (!rows.complete[static_cast<std::size_t>(row)]) continue;
      const std::span<double> eta(buffer.numbers + i * predictors_ * padded,
                                  static_cast<std::size_t>(predictors_ * padded));
      const double offset = rows.offsets[static_cast<std::size_t>(row)];
      if (offset != 0.0)
        for (double& e : eta) e += offset;
      if (predictors_ == 1) {
        const auto numbers = eta.first(static_cast<std::size_t>(draws_));
        predict_number(numbers, guess(rows.features.row(row), offset, numbers),
                       rows.first + static_cast<std::uint64_t>(row), buffer, out.row(row).data());
      } else {
        predict_classes(eta, buffer, out.row(row).data());
      }
    }
  }
}

// An inverse link rises with its predictor, so order statistics of means are means of order statistics, and only the
// mean itself needs all of them.
void RowPredictor::predict_number(std::span<const double> eta, const Moments& guess, std::uint64_t row, Buffer& buffer,
                                  double* out) const {
  const BatchedFamily& family = model_.family();
  const Range range = range_of(width_, eta);
  const std::span<double> means(buffer.one, eta.size());
  const auto polynomial = link_mean_(width_, eta, range);
  if (!polynomial) family.mean(eta, means);
  out[0] = polynomial ? *polynomial : moments_of(width_, means).mean;
  Ends found;
  if (new_targets_ && target_ == TargetKind::number) {
    const PhiloxRandom random(seed_, 0, row);
    for (std::size_t s = 0; s < eta.size(); ++s) means[s] = family.simulate(eta.subspan(s, 1), random, s);
    found = ends(means);
  } else if (new_targets_) {
    found = ends_of_indicator(out[0]);
  } else {
    const auto quantile = [&](const Place& place) {
      const Neighbours at = neighbours_at(eta, range, guess, place);
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
    out[3 * k] = moments_of(width_, one).mean;
    const Ends found = new_targets_ ? ends_of_indicator(out[3 * k]) : ends(one);
    out[3 * k + 1] = found.lower;
    out[3 * k + 2] = found.upper;
  }
}

Moments RowPredictor::guess(const Vector& x, double offset, std::span<const double> eta) const {
  if (covariance_.size() == 0) return moments_of(width_, eta);
  double variance = 0.0;
  for (Index j = 0; j < features_; ++j) variance += x[j] * covariance_.col(j).dot(x);
  return {mean_.dot(x) + offset, std::sqrt(std::max(variance, 0.0))};
}

Neighbours RowPredictor::neighbours_at(std::span<const double> numbers, const Range& range, const Moments& guess,
                                       const Place& place) const {
  return neighbours(width_, numbers, range, place.rank, guess.mean + place.score * guess.deviation,
                    place.step * guess.deviation);
}

RowPredictor::Ends RowPredictor::ends(std::span<const double> numbers) const {
  const Range range = range_of(width_, numbers);
  const Moments guess = moments_of(width_, numbers);
  const auto quantile = [&](const Place& place) {
    const Neighbours at = neighbours_at(numbers, range, guess, place);
    return at.at + place.share * (at.next - at.at);
  };
  return {quantile(lower_), quantile(upper_)};
}

// Whether a new target is of a class is 1 with the posterior mean of its probability, and 0 else: its quantiles need no
// draws.
RowPredictor::Ends RowPredictor::ends_of_indicator(double probability) const {
  return {1.0 - probability < tail_ ? 1.0 : 0.0, probability > tail_ ? 1.0 : 0.0};
}

}  // namespace flymc
