// Chooses the lit rows of a bound, and changes its sums accordingly.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "flymc/bound/bound.hpp"
#include "flymc/bound/lit_curve.hpp"

namespace flymc {

double largest_ratio(const Matrix& m, const Precision& a) {
  Vector v = Vector::Ones(m.rows()).normalized();
  double ratio = 0.0;
  for (int i = 0; i < 50; ++i) {
    const Vector next = a.whiten_gradient(m.selfadjointView<Eigen::Lower>() * a.unwhiten(v));
    ratio = next.norm();
    if (!(ratio > 0.0)) return 0.0;
    v = next / ratio;
  }
  return ratio;
}

std::optional<Precision> Bound::posterior_metric() const {
  if (sums_.hessian.size() == 0) return std::nullopt;
  Matrix precision = sums_.hessian.selfadjointView<Eigen::Lower>();
  if (further_precision_.diagonal.size() > 0) further_precision_.add_to(precision);
  return Precision::of(precision);
}

void Bound::take_out(const BoundRows& rows, const BoundRows& as_lit, BoundSums& sums) const {
  const Arrangement arrangement = family_->arrangement();
  const auto gram = [&](std::span<const double> c) {
    return arrangement.entries_of_form(rows.x.gram(c, arrangement.predictors()));
  };
  std::vector<double> more = rows.coefficients.curvature;
  for (std::size_t e = 0; e < more.size(); ++e) more[e] -= as_lit.coefficients.curvature[e];
  sums.curvature -= gram(more);
  if (rule_->grows()) sums.growth -= gram(rows.coefficients.growth);
}

double Bound::cheapest_limit(const Store& store, const std::vector<LooseRows::Row>& loose, std::size_t without_bound,
                             double bright_spread, const Lighting& lighting, const Communicator& communicator) {
  const double typical = std::sqrt(static_cast<double>(anchor_.size()));
  constexpr double none = std::numeric_limits<double>::infinity();
  if (!rule_->grows()) return none;  // the likelihood's own curvature was not summed
  const auto metric = posterior_metric();
  if (!metric) return none;

  const auto over_ranks = [&](double own) {
    double sum = 0.0;
    for (const double part : gather_all(communicator, std::span<const double>(&own, 1))) sum += part;
    return sum;
  };
  const double copies = lighting.stands_for;
  const TableShape shape = shape_of(scaled(store.rows(), copies), store.layout(), family_->arrangement().blocks());
  // Sums of this rank: the expected gaps of all rows that are not lit, and (expected gap) (spread)^2 of the lit rows.
  double gaps = expected_bright(copies), squares = 0.0;
  const auto gap_of = [&](const LooseRows::Row& row) {
    return expected_gaps_.has(row.row) ? std::min(copies, ExpectedGaps::value(expected_gaps_.level(row.row))) : 0.0;
  };
  BoundSums sums = sums_;
  std::size_t lit = 0;
  double cheapest = none, least = none;
  for (const double limit : {none, 10.0, 3.0, 1.0, 0.3, 0.1, 0.05, 0.02, 0.01}) {
    std::vector<RowId> rows;
    for (; lit < loose.size() && loose[lit].spread > limit; ++lit) {
      rows.push_back(loose[lit].row);
      gaps -= gap_of(loose[lit]);
      squares += gap_of(loose[lit]) * loose[lit].spread * loose[lit].spread;
    }
    if (limit != none && rows.empty()) continue;
    if (!rows.empty()) {
      BoundRows before;
      before.fetch(store, rows, communicator);
      BoundRows as_lit = before;
      complete(before);
      complete_as_lit(1.0, as_lit);
      take_out(before, as_lit, sums);
    }
    Looseness at;
    at.lit = copies * static_cast<double>(without_bound + lit);
    at.bright = std::max(0.0, over_ranks(gaps));
    at.spread_squared = at.bright > 0.0 ? std::max(0.0, bright_spread - over_ranks(squares)) / at.bright : 0.0;
    at.excess = largest_ratio(sums.curvature - sums.hessian + typical * sums.growth, *metric);
    // Rounded to float, so that ranks that sum in another order make the same choice.
    if (const auto cost = static_cast<double>(static_cast<float>(cost_with_bound(at, shape))); cost < least) {
      least = cost;
      cheapest = limit;
    }
  }
  costs_ = {least, cost_of_regular(shape)};
  return cheapest;
}

double Bound::expected_bright(double copies) const {
  double sum = 0.0;
  for (const std::uint8_t level : expected_gaps_.levels()) sum += std::min(copies, ExpectedGaps::value(level));
  return sum;
}

void Bound::collapse_lit() {
  const Arrangement arrangement = family_->arrangement();
  const BoundRows& rows = lit_.fixed;
  lit_.slope = Vector::Zero(lit_.size() > 0 ? anchor_.size() : 0);
  if (lit_.size() == 0) return;
  std::vector<double> value(rows.size()), slope(rows.eta_anchor.size());
  family_->likelihood(rows.facts.spans(), rows.eta_anchor, value, slope, {});
  lit_.value = std::accumulate(value.begin(), value.end(), 0.0);
  add_slopes(rows.x, slope, arrangement, lit_.slope);
  lit_.curvature = arrangement.entries_of_form(rows.x.gram(rows.coefficients.curvature, arrangement.predictors()));
  const Precision posterior = posterior_metric().value_or(*metric_);
  for (double likeness = 1.0; likeness > 0.1; likeness /= 2.0) {
    stand_ins_ = flymc::stand_ins(rows, *family_, posterior, likeness);
    if (stand_ins_.size() == 0) return;
    complete_as_lit(LitRows::share, stand_ins_.rows);
    if (stand_ins_are_good(posterior)) return;
  }
  stand_ins_ = {};
}

double Bound::lit_sum(const BoundPoint& point, Vector* gradient) const {
  if (lit_.size() == 0) return 0.0;
  const BoundRows& rows = lit_.fixed;
  std::vector<double> eta(rows.eta_anchor.size()), value(rows.size()), slope(gradient ? eta.size() : 0);
  rows.x.project(point.change, eta);
  for (std::size_t e = 0; e < eta.size(); ++e) eta[e] += rows.eta_anchor[e];
  family_->likelihood(rows.facts.spans(), eta, value, slope, {});
  const Vector change = family_->arrangement().entries_of(point.change);
  const Vector bend = lit_.curvature.selfadjointView<Eigen::Lower>() * change;
  if (gradient) {
    *gradient += bend - lit_.slope;
    add_slopes(rows.x, slope, family_->arrangement(), *gradient);
  }
  return std::accumulate(value.begin(), value.end(), 0.0) -
         (lit_.value + lit_.slope.dot(change) - 0.5 * change.dot(bend));
}

double Bound::on_the_way(std::span<const double> delta, std::span<double> slope) const {
  const auto k = static_cast<std::size_t>(family_->predictors());
  const BoundRows& rows = on_the_way();
  const bool few = stand_ins_.size() > 0;
  std::vector<double> value(rows.size());
  family_->remainder(rows.facts.spans(), rows.eta_anchor, delta, value, slope);
  double sum = 0.0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double weight = few ? stand_ins_.weight[i] : 1.0;
    double bend = 0.0;
    for (std::size_t j = 0; j < k; ++j) {
      double bent = 0.0;
      for (std::size_t m = 0; m < k; ++m) bent += rows.coefficients.curvature[(i * k + j) * k + m] * delta[i * k + m];
      bend += bent * delta[i * k + j];
      slope[i * k + j] = weight * (slope[i * k + j] + bent);
    }
    sum += weight * (value[i] + 0.5 * bend);
  }
  return sum;
}

double Bound::stand_in_sum(const BoundPoint& point, Vector& gradient) const {
  const BoundRows& rows = stand_ins_.rows;
  std::vector<double> delta(rows.eta_anchor.size()), slope(delta.size());
  rows.x.project(point.change, delta);
  const double sum = on_the_way(delta, slope);
  add_slopes(rows.x, slope, family_->arrangement(), gradient);
  return sum;
}

// A trajectory that uses the stand-ins is accepted with probability about exp(-|change of lit_sum - stand_in_sum|).
bool Bound::stand_ins_are_good(const Precision& posterior) const {
  constexpr std::uint64_t trials = 16;
  constexpr double most_variance = 0.05;
  double mean = 0.0, squares = 0.0;
  Vector z(anchor_.size()), gradient = Vector::Zero(anchor_.size());
  for (std::uint64_t i = 0; i < trials; ++i) {
    PhiloxRandom(1, 0, i).normals(Purpose::subsample, 0, {z.data(), static_cast<std::size_t>(z.size())});
    const Vector change = posterior.unwhiten(z);
    const BoundPoint point = at_distance(change, metric_->length(change));
    const double difference = lit_sum(point) - stand_in_sum(point, gradient), before = mean;
    mean += (difference - mean) / static_cast<double>(i + 1);
    squares += (difference - before) * (difference - mean);
  }
  return squares / static_cast<double>(trials - 1) <= most_variance;
}

double add_lit_beyond_quadratic(const Bound& bound, const Vector& theta, Vector& slope, Matrix& curvature) {
  const LitRows& lit = bound.lit();
  const BatchedFamily& family = bound.family();
  if (lit.size() == 0) return 0.0;
  const BoundRows& rows = lit.fixed;
  const auto k = static_cast<std::size_t>(family.predictors());
  const Vector change = theta - bound.anchor();
  std::vector<double> eta(rows.eta_anchor.size()), value(rows.size()), slopes(eta.size()), bends(eta.size() * k);
  const Arrangement arrangement = family.arrangement();
  rows.predict(arrangement.columns(theta), eta);
  family.likelihood(rows.facts.spans(), eta, value, slopes, bends);
  const Matrix own = Matrix(lit.curvature.selfadjointView<Eigen::Lower>()) / LitRows::share;
  slope += own * change - lit.slope;
  add_slopes(rows.x, slopes, arrangement, slope);
  curvature += arrangement.entries_of_form(rows.x.gram(bends, arrangement.predictors())) - own;
  return std::accumulate(value.begin(), value.end(), 0.0) -
         (lit.value + lit.slope.dot(change) - 0.5 * change.dot(own * change));
}

void Bound::light(const Store& store, LooseRows& collected, double bright_spread, const Lighting& lighting,
                  const Communicator& communicator) {
  std::vector<RowId> rows = collected.gather_without_bound(communicator);
  const std::vector<LooseRows::Row> loose = collected.gather(communicator);
  const double limit = lighting.automatic
                           ? cheapest_limit(store, loose, rows.size(), bright_spread, lighting, communicator)
                           : lighting.above;
  const double above = lighting.rows.empty() ? std::max(limit, collected.above()) : lighting.above;
  rows.insert(rows.end(), lighting.rows.begin(), lighting.rows.end());
  for (const LooseRows::Row& row : loose)
    if (lighting.rows.empty() && row.spread > above) rows.push_back(row.row);
  if (rows.empty()) return;
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  BoundRows before;
  before.fetch(store, rows, communicator);
  lit_ = LitRows(before, above, store.rows());
  complete_as_lit(LitRows::share, lit_.fixed);
  collapse_lit();
  queries_ += static_cast<RowId>(lit_.size());
  complete(before);
  take_out(before, lit_.fixed, sums_);
  for (const RowId row : rows)
    if (expected_gaps_.has(row)) expected_gaps_.forget(row);
}

}  // namespace flymc
