// Masses of spikes and of the likelihood's modes, by Laplace's approximation.
#include "flymc/anchor/long_tails.hpp"

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "flymc/core/numerics.hpp"
#include "flymc/core/precision.hpp"

namespace flymc {
namespace {

constexpr double wide = 30.0;  // a normal prior of this many standard deviations hardly changes the posterior

std::vector<Index> student_t_coefficients(const Model& model, Index size) {
  std::vector<Index> out;
  for (Index j = 0; j < size; ++j)
    if (model.is_coefficient(j, size) && model.prior().student_t_of(j)) out.push_back(j);
  return out;
}

double log_normal(double x, double mean, double variance) {
  return -0.5 * ((x - mean) * (x - mean) / variance + std::log(2.0 * std::numbers::pi * variance));
}

}  // namespace

void leave_out(std::span<const Index> entries, SparseSymmetric& curvature) {
  const auto is_one = [&](Index j) { return std::ranges::find(entries, j) != entries.end(); };
  for (const Index j : entries) curvature.diagonal[j] = 0.0;
  std::erase_if(curvature.couplings, [&](const auto& pair) { return is_one(pair.i) || is_one(pair.j); });
}

double StudentTOfEntry::log_density(double x) const {
  const double u = (x - location) / scale;
  return student_t_log_constant(nu) - 0.5 * (nu + 1.0) * std::log1p(u * u / nu) - std::log(scale);
}

// The mass of a spike is the normal's density at its location, because the spike is narrow. Outside of it, the prior
// hardly varies over the width of the normal given the spikes.
double log_mass(std::span<const StudentTOfEntry> priors, Vector mean, Matrix covariance, const AtPrior& places) {
  double sum = 0.0;
  // Spikes are added one by one: each contributes its density given the spikes before it, and conditions the others.
  for (std::size_t i = 0; i < priors.size(); ++i) {
    if (!places[i]) continue;
    const auto at = static_cast<Index>(i);
    const double variance = std::max(covariance(at, at), std::numeric_limits<double>::min());
    sum += log_normal(priors[i].location, mean[at], variance);
    const Vector part = covariance.col(at) / variance;
    mean += (priors[i].location - mean[at]) * part;
    covariance -= Matrix(part * covariance.row(at));
  }
  for (std::size_t i = 0; i < priors.size(); ++i) {
    if (places[i]) continue;
    const auto at = static_cast<Index>(i);
    const double away = std::hypot(mean[at] - priors[i].location, std::sqrt(std::max(0.0, covariance(at, at))));
    sum += priors[i].log_density(priors[i].location + away);
  }
  return sum;
}

LongTails::LongTails(const Model& model, const RowsQuadratic& rows)
    : LongTails(model, rows, student_t_coefficients(model, rows.at.size())) {
  if (empty()) return;
  // A likelihood of differences is flat along a shift of all classes; given the other coefficients it has a finite
  // width.
  const Vector sd = model.family().only_differences()
                        ? Vector(covariance_.inverse().diagonal().cwiseInverse().cwiseSqrt())
                        : this->sd();
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < size(); ++i)
    if (priors_[i].scale < narrow_share * sd[static_cast<Index>(i)]) kept.push_back(i);
  if (kept.size() > most) {
    std::vector<double> decided(size());
    for (const std::size_t i : kept) {
      AtPrior places(size(), false);
      const double at_rows = log_mass(places);
      places[i] = true;
      decided[i] = std::abs(log_mass(places) - at_rows);
    }
    std::ranges::stable_sort(kept, {}, [&](std::size_t i) { return decided[i]; });
    kept.resize(most);
    std::ranges::sort(kept);
  }
  if (kept.size() < size()) keep(kept, rows);
}

LongTails::LongTails(const Model& model, const RowsQuadratic& rows, std::vector<Index> entries)
    : model_(model), entries_(std::move(entries)) {
  if (!entries_.empty() && !expand(rows)) entries_.clear();
}

void LongTails::keep(const std::vector<std::size_t>& which, const RowsQuadratic& rows) {
  std::vector<Index> kept;
  for (const std::size_t i : which) kept.push_back(entries_[i]);
  entries_ = std::move(kept);
  if (!entries_.empty() && !expand(rows)) entries_.clear();
}

std::vector<StudentTOfEntry> LongTails::priors_at(const Vector& theta) const {
  const Vector parameters = model_.parameters(theta);
  std::vector<StudentTOfEntry> out;
  for (const Index j : entries_) {
    const auto [nu, location, scale] = *model_.prior().student_t_of(j);
    const double per_unit = model_.parameter_change(theta, Vector::Unit(theta.size(), j))[j];
    const bool is_itself = per_unit == 1.0 && parameters[j] == theta[j];
    out.push_back(
        {j, nu, is_itself ? location : theta[j] + (location - parameters[j]) / per_unit, scale / std::abs(per_unit)});
  }
  return out;
}

bool LongTails::expand(const RowsQuadratic& rows) {
  const Term& term = model_.term();
  priors_ = priors_at(rows.at);
  precision_ = rows.curvature;
  Vector slope = Vector::Zero(rows.at.size());
  term.surrogate(rows.at, slope);
  SparseSymmetric others = term.curvature(Term::Of::surrogate, rows.at);
  others -= term.curvature(Term::Of::corner, rows.at);
  leave_out(entries_, others);
  others.add_to(precision_);
  wide_.clear();
  for (const StudentTOfEntry& prior : priors_) {
    const Index j = prior.entry;
    const double known = rows.curvature(j, j);
    const double sd = wide * std::max(prior.scale, known > 0.0 ? 1.0 / std::sqrt(known) : 0.0);
    precision_(j, j) += 1.0 / (sd * sd);
    slope[j] = -(rows.at[j] - prior.location) / (sd * sd);
    wide_.push_back(sd);
  }
  slope += rows.slope;
  const auto metric = Precision::of(precision_);
  if (!metric || !slope.allFinite()) return false;
  mean_ = rows.at + metric->solve(slope);
  const auto n = static_cast<Index>(entries_.size());
  columns_.resize(rows.at.size(), n);
  covariance_.resize(n, n);
  for (Index i = 0; i < n; ++i)
    columns_.col(i) = metric->solve(Vector::Unit(rows.at.size(), entries_[static_cast<std::size_t>(i)]));
  for (Index i = 0; i < n; ++i) covariance_.row(i) = columns_.row(entries_[static_cast<std::size_t>(i)]);
  return mean_.allFinite() && covariance_.allFinite();
}

SparseSymmetric LongTails::prior_precision(const Vector& theta) const {
  SparseSymmetric out = model_.prior_precision(theta);
  leave_out(entries_, out);
  for (std::size_t i = 0; i < size(); ++i) out.diagonal[entries_[i]] = 1.0 / (wide_[i] * wide_[i]);
  return out;
}

Model LongTails::with_wide_priors() const {
  std::vector<std::pair<Index, Prior>> priors;
  for (std::size_t i = 0; i < size(); ++i) {
    const auto [nu, location, scale] = *model_.prior().student_t_of(entries_[i]);
    priors.emplace_back(entries_[i], Prior::normal(location, wide_[i] * scale / priors_[i].scale));
  }
  return model_.with_prior(model_.prior().with(priors, mean_.size()));
}

double LongTails::log_mass(const AtPrior& places) const {
  Vector mean(covariance_.rows());
  for (std::size_t i = 0; i < size(); ++i) mean[static_cast<Index>(i)] = mean_[entries_[i]];
  return flymc::log_mass(priors_, std::move(mean), covariance_, places);
}

// By a sum over u with x = location + scale sinh(u), whose points are dense enough for the spike.
std::optional<double> LongTails::share_of_spike(std::size_t i) const {
  AtPrior places = likeliest();
  places[i] = false;
  const double mean = theta(places)[entries_[i]];
  const auto [entry, nu, location, scale] = priors_[i];
  // The normal of coefficient i given the coefficients in their spikes.
  Matrix left = covariance_;
  for (std::size_t k = 0; k < size(); ++k)
    if (const auto at = static_cast<Index>(k); places[k]) left -= Matrix(left.col(at) * left.row(at) / left(at, at));
  const double variance = left(static_cast<Index>(i), static_cast<Index>(i));

  constexpr int points = 8000;
  constexpr double far = 10.0;  // standard deviations
  const double side = mean < location ? -1.0 : 1.0;
  const double end = std::asinh((std::abs(mean - location) + far * std::sqrt(variance)) / scale);
  std::vector<double> at(points + 1), log_density(points + 1), mass(points + 1);
  for (int k = 0; k <= points; ++k) {
    const auto n = static_cast<std::size_t>(k);
    const double u = end * (2.0 * k / points - 1.0);
    at[n] = scale * std::sinh(u);  // signed distance from the location towards the mean
    const double x = location + side * at[n];
    log_density[n] = log_normal(x, mean, variance) + priors_[i].log_density(x);
    mass[n] = log_density[n] + std::log(std::cosh(u));
  }
  // The lowest point between the location and the mean separates the modes; if it is the mean, there is only one mode.
  std::size_t valley = points / 2, last = valley;
  for (std::size_t n = points / 2; n <= points && at[n] <= std::abs(mean - location); ++n) {
    if (log_density[n] <= log_density[valley]) valley = n;
    last = n;
  }
  if (valley == last || valley == points / 2) return std::nullopt;
  const double largest = *std::ranges::max_element(mass);
  double spike = 0.0, all = 0.0;
  for (std::size_t n = 0; n <= points; ++n) {
    const double here = std::exp(mass[n] - largest);
    all += here;
    if (n <= valley) spike += here;
  }
  return spike / all;
}

AtPrior LongTails::likeliest() const {
  AtPrior best;
  double most_mass = -HUGE_VAL;
  for (const bool begin : {false, true}) {
    AtPrior places(size(), begin);
    double mass = log_mass(places);
    for (bool better = true; better;) {
      better = false;
      for (std::size_t i = 0; i < size(); ++i) {
        places[i] = !places[i];
        if (const double other = log_mass(places); other > mass)
          mass = other, better = true;
        else
          places[i] = !places[i];
      }
    }
    if (best.empty() || mass > most_mass) best = places, most_mass = mass;
  }
  return best;
}

Vector LongTails::theta(const AtPrior& places) const {
  std::vector<Index> spikes;
  for (std::size_t i = 0; i < size(); ++i)
    if (places[i]) spikes.push_back(static_cast<Index>(i));
  if (spikes.empty()) return mean_;
  Vector away(spikes.size());
  for (std::size_t k = 0; k < spikes.size(); ++k) {
    const auto i = static_cast<std::size_t>(spikes[k]);
    away[static_cast<Index>(k)] = priors_[i].location - mean_[entries_[i]];
  }
  const Eigen::LLT<Matrix> of_spikes{Matrix(covariance_(spikes, spikes))};
  Vector out = mean_ + columns_(Eigen::all, spikes) * of_spikes.solve(away);
  for (const Index k : spikes) {
    const auto i = static_cast<std::size_t>(k);
    out[entries_[i]] = priors_[i].location;
  }
  return out;
}

}  // namespace flymc
