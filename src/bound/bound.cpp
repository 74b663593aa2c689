// The statistics pass, the collapsed sum, and the gaps of single rows.
#include "flymc/bound/bound.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "flymc/bound/collapse.hpp"
#include "flymc/core/error.hpp"

namespace flymc {
namespace {

// delta' c delta over one row's K x K numbers, and the sum of the terms' magnitudes.
struct Quadratic {
  double value = 0.0;
  double size = 0.0;
};
Quadratic quadratic(const double* c, const double* delta, std::size_t k) {
  Quadratic q;
  for (std::size_t i = 0; i < k; ++i)
    for (std::size_t j = 0; j < k; ++j) {
      const double term = c[i * k + j] * delta[i] * delta[j];
      q.value += term;
      q.size += std::abs(term);
    }
  return q;
}

}  // namespace

void Gaps::append(const Gaps& other, std::size_t i) {
  gap.push_back(other.gap[i]);
  if (!other.slope.empty()) {
    const auto k = static_cast<std::ptrdiff_t>(other.slope.size() / other.gap.size());
    const auto first = other.slope.begin() + static_cast<std::ptrdiff_t>(i) * k;
    slope.insert(slope.end(), first, first + k);
  }
  if (!other.rho_slope.empty()) rho_slope.push_back(other.rho_slope[i]);
}

namespace {

// What a row's linear predictor varies by: for several predictors the most that one does, or a difference of two where
// the likelihood knows nothing else.
double largest_variance(const double* spread, std::size_t k, bool only_differences) {
  double most = 0.0;
  for (std::size_t i = 0; i < k; ++i) {
    if (!only_differences) most = std::max(most, spread[i * k + i]);
    for (std::size_t j = 0; only_differences && j < i; ++j)
      most = std::max(most, spread[i * k + i] + spread[j * k + j] - 2.0 * spread[i * k + j]);
  }
  return most;
}

}  // namespace

Bound::Bound(const Store& store, std::shared_ptr<const BatchedFamily> family, std::shared_ptr<const BoundRule> rule,
             Vector anchor, const Execution& execution, std::optional<Metric> metric, const Lighting& lighting,
             Vector further_precision)
    : family_(std::move(family)),
      rule_(std::move(rule)),
      anchor_(std::move(anchor)),
      metric_(std::move(metric)),
      further_precision_(std::move(further_precision)) {
  const Index k = family_->predictors();
  family_->check(store, execution);
  check_parts(store.features() * k);

  // Curvatures: c, k, and the likelihood's own w, of which c then has only what is more: nothing for most rows. Those
  // that the rule lacks are not summed.
  const bool grows = rule_->grows();
  const auto width = static_cast<std::size_t>(k), entries = width * width;
  const double typical = std::sqrt(static_cast<double>(anchor_.size()));
  const bool expects = metric_ && rule_->touches();
  const bool differences = family_->only_differences();
  if (expects) {
    const RowRange own = own_rows(store, execution.communicator);
    expected_gaps_ = ExpectedGaps(own.last - own.first, own.first);
  }
  LooseRows loose(lighting, store.features());
  Collapsed sum = collapse(store, k, grows ? 3 : 1, execution, [&](const Block& block, BlockTerms& terms) {
    const auto n = static_cast<std::size_t>(block.rows());
    std::vector<RowId> rows(n);
    std::iota(rows.begin(), rows.end(), block.first_row());
    BoundRows fixed;
    fixed.fetch(store, rows);
    complete(expects || rule_->uses_spread(), fixed);
    std::vector<double> value(n), own(expects || grows ? n * entries : 0);
    family_->likelihood(fixed.facts.spans(), fixed.eta_anchor, value,
                        {terms.slope.data(), static_cast<std::size_t>(terms.slope.size())}, own);
    Coefficients& c = fixed.coefficients;
    for (std::size_t i = 0; i < n; ++i) terms.value += value[i] - (c.value_drop.empty() ? 0.0 : c.value_drop[i]);
    if (!c.slope_drop.empty()) terms.slope -= Eigen::Map<const RowMatrix>(c.slope_drop.data(), block.rows(), k);
    if (expects)
      for (std::size_t i = 0; i < n; ++i) {
        // tr((c + k rho - w) spread) / 2 at the typical rho, to second order in the change. That is nothing where the
        // bound has the likelihood's own curvature (eta = 0 of the logistic, a residual of 0), though the gap is not:
        // its fourth order is at most about tr(c spread)^2 / 2 of a row that counts once, and without it such a row
        // would never be proposed.
        const double weight = fixed.facts.spans()[i].weight;
        double twice = 0.0, bend = 0.0;
        for (std::size_t e = i * entries; e < (i + 1) * entries; ++e) {
          twice += (c.curvature[e] - own[e] + (grows ? typical * c.growth[e] : 0.0)) * fixed.spread[e];
          bend += c.curvature[e] * fixed.spread[e];
        }
        const double gap = 0.5 * (std::max(0.0, twice) + (weight > 0.0 ? bend * bend / weight : 0.0));
        const double variance = largest_variance(fixed.spread.data() + i * entries, width, differences);
        expected_gaps_.set(rows[i], gap);
        loose.add(rows[i], variance);
        terms.further +=
            std::min(1.0, ExpectedGaps::value(expected_gaps_.level(rows[i]))) * variance * variance;  // as it is kept
      }
    terms.curvature[0] = std::move(c.curvature);
    if (!grows) return;
    for (std::size_t e = 0; e < own.size(); ++e) terms.curvature[0][e] -= own[e];
    terms.curvature[1] = std::move(c.growth);
    terms.curvature[2] = std::move(own);
  });
  queries_ = store.rows();
  sums_.value = sum.value;
  sums_.slope = std::move(sum.slope);
  sums_.curvature = std::move(sum.curvature[0]);
  if (grows) {
    sums_.growth = std::move(sum.curvature[1]);
    sums_.hessian = std::move(sum.curvature[2]);
    sums_.curvature += sums_.hessian;
  }
  if (!std::isfinite(sums_.value) || !sums_.slope.allFinite() || !sums_.curvature.allFinite() ||
      !sums_.growth.allFinite())
    throw InputError("the likelihood at the anchor is not finite; rescale the columns");
  if (expects) light(store, loose, sum.further, lighting, execution.communicator);
}

Bound::Bound(std::shared_ptr<const BatchedFamily> family, std::shared_ptr<const BoundRule> rule, Vector anchor,
             BoundSums sums, RowId queries, std::optional<Metric> metric, ExpectedGaps expected_gaps, LitRows lit,
             Vector further_precision)
    : family_(std::move(family)),
      rule_(std::move(rule)),
      anchor_(std::move(anchor)),
      metric_(std::move(metric)),
      queries_(queries),
      sums_(std::move(sums)),
      expected_gaps_(std::move(expected_gaps)),
      lit_(std::move(lit)),
      further_precision_(std::move(further_precision)) {
  const Index dimension = anchor_.size();
  check_parts(dimension);
  const auto fits = [&](const Matrix& m, bool needed) {
    const Index size = needed ? dimension : 0;
    return m.rows() == size && m.cols() == size;
  };
  if (sums_.slope.size() != dimension || !fits(sums_.curvature, true) || !fits(sums_.growth, rule_->grows()) ||
      !fits(sums_.hessian, rule_->grows()))
    throw InputError(fmt::format("these are not the sums of the {} bound in {} dimensions", rule_->name(), dimension));
  complete_as_lit(LitRows::share, lit_.fixed);
  collapse_lit();
}

void Bound::check_parts(Index dimension) {
  if (const std::string problem = rule_->family_problem(*family_); !problem.empty()) throw InputError(problem);
  if (anchor_.size() != dimension || !anchor_.allFinite())
    throw InputError(fmt::format("the anchor must be {} finite numbers", dimension));
  if ((rule_->grows() || std::isfinite(rule_->radius()) || rule_->uses_spread()) &&
      (!metric_ || metric_->dimension() != dimension))
    throw InputError(fmt::format("the {} bound needs a metric of dimension {}", rule_->name(), dimension));
  if (metric_ && metric_->dimension() != dimension)
    throw InputError(fmt::format("a metric of dimension {} for {} coefficients", metric_->dimension(), dimension));
  if (further_precision_.size() != 0 && further_precision_.size() != dimension)
    throw InputError(
        fmt::format("a precision of {} numbers for {} coefficients", further_precision_.size(), dimension));
  if (metric_) spread_.emplace(*metric_, family_->predictors());
}

void BoundPoint::pull_to_theta(Vector& gradient) const {
  if (!outside()) return;
  const double along = from_anchor.dot(gradient) / (beyond * rho);
  gradient = (gradient - along * rho_gradient) / beyond;
}

BoundPoint Bound::at_distance(Vector change, double rho) const {
  BoundPoint point;
  point.rho = rho;
  point.change = by_predictor(change, family_->predictors());
  if (rho > radius()) {
    point.beyond = rho / radius();
    point.rho = radius();
    point.change /= point.beyond;
  }
  if (family_->only_differences()) point.change.colwise() -= Vector(point.change.col(0));
  point.from_anchor = std::move(change);
  return point;
}

BoundPoint Bound::at(const Vector& theta, bool with_gradient) const {
  if (!uses_rho()) return at_distance(theta - anchor_, 0.0);
  const Vector white = metric_->whiten(theta - anchor_);
  const double rho = white.norm();
  BoundPoint point = at_distance(theta - anchor_, rho);
  if (with_gradient && (rule_->grows() || point.outside()))
    // d ||L'change|| / d theta = L (L'change) / rho; at the anchor itself rho multiplies terms that vanish.
    point.rho_gradient = rho > 0.0 ? Vector(metric_->lower().triangularView<Eigen::Lower>() * (white / rho))
                                   : Vector::Zero(theta.size());
  return point;
}

// V + s'Delta - Delta'C Delta / 2 - rho Delta'Q Delta / 2.
double Bound::log_sum(const BoundPoint& point, Vector* gradient) const {
  const Eigen::Map<const Vector> change(point.change.data(), point.change.size());
  const Vector bend = sums_.curvature.selfadjointView<Eigen::Lower>() * change;
  double sum = sums_.value + sums_.slope.dot(change) - 0.5 * change.dot(bend);
  if (gradient) *gradient += sums_.slope - bend;
  if (rule_->grows()) {
    const Vector grown = sums_.growth.selfadjointView<Eigen::Lower>() * change;
    const double form = change.dot(grown);
    sum -= 0.5 * point.rho * form;
    if (gradient) *gradient -= point.rho * grown + 0.5 * form * point.rho_gradient;
  }
  return sum;
}

double Bound::gap_growth(const BoundPoint& point) const {
  const double times = point.rho / std::sqrt(static_cast<double>(anchor_.size()));
  return std::max(1.0, rule_->grows() ? times * times * times : times * times);
}

void Bound::prepare(const Store& store, std::span<const RowId> rows, BoundRows& out) const {
  out.fetch(store, rows);
  complete(out);
}

void Bound::complete(BoundRows& rows) const { complete(rule_->uses_spread(), rows); }

void Bound::complete(bool with_spread, BoundRows& out) const {
  const auto k = static_cast<std::size_t>(family_->predictors());
  out.eta_anchor.resize(out.size() * k);
  out.predict(by_predictor(anchor_, family_->predictors()), out.eta_anchor);
  out.spread.resize(with_spread ? out.size() * k * k : 0);
  if (with_spread) spread_->of(out.x, out.spread);
  rule_->coefficients(*family_, out.facts.spans(), out.eta_anchor,
                      rule_->uses_spread() ? out.spread : std::span<const double>{}, out.coefficients);
  if (std::isfinite(rule_->radius()) && !(out.coefficients.value_drop.empty() && out.coefficients.slope_drop.empty()))
    throw InputError(fmt::format("the {} bound has a radius, so it must touch at the anchor: no drops", rule_->name()));
}

void Bound::complete_as_lit(double share, BoundRows& out) const {
  const auto k = static_cast<std::size_t>(family_->predictors());
  out.eta_anchor.resize(out.size() * k);
  out.predict(by_predictor(anchor_, family_->predictors()), out.eta_anchor);
  out.coefficients = {};
  out.coefficients.curvature.resize(out.size() * k * k);
  if (out.size() > 0) family_->likelihood(out.facts.spans(), out.eta_anchor, {}, {}, out.coefficients.curvature);
  for (double& w : out.coefficients.curvature) w *= share;
}

// Where the bound touches the likelihood the terms cancel, and what is left may be rounding of either sign: that is a
// gap of zero. Anything more is a bound that is none. The remainder is good to some ulps of the global curvature's
// form, of which a sharp one may be a small part.
void Bound::check_rounding(const BoundRows& rows, std::size_t i, const double* delta, double gap, double size) const {
  const auto k = static_cast<std::size_t>(family_->predictors());
  std::vector<double> global(k * k);
  const std::span<const double> eta = std::span<const double>(rows.eta_anchor).subspan(i * k, k);
  family_->scale_curvature(rows.facts.spans().row(i), eta, global);
  size += 0.5 * quadratic(global.data(), delta, k).size;
  const double rounding = 64.0 * static_cast<double>(k) * std::numeric_limits<double>::epsilon() * size;
  if (gap < -rounding)
    throw BoundViolation(
        rows.row[i],
        fmt::format("the {} bound lies above the {} likelihood by {:.3g} (target {}, eta {}, changed by {}); "
                    "draws would not "
                    "be exact",
                    rule_->name(), family_->name(), -gap, rows.facts.target[i], eta[0], delta[0]));
}

// gap = remainder + value_drop + slope_drop'delta + delta'(c + k rho) delta / 2.
void Bound::gaps(const BoundRows& rows, const BoundPoint& point, bool with_slopes, Gaps& out) const {
  const auto k = static_cast<std::size_t>(family_->predictors());
  const std::size_t n = rows.size();
  out.gap.resize(n);
  out.slope.resize(with_slopes ? n * k : 0);
  const bool grows = rule_->grows();
  out.rho_slope.assign(with_slopes && grows ? n : 0, 0.0);
  std::vector<double>& delta = out.delta;
  delta.resize(n * k);
  rows.x.project(point.change, delta);
  family_->remainder(rows.facts.spans(), rows.eta_anchor, delta, out.gap, out.slope);

  const Coefficients& c = rows.coefficients;
  for (std::size_t i = 0; i < n; ++i) {
    const double* d = delta.data() + i * k;
    const double remainder = out.gap[i];
    double gap = remainder;
    double size = std::abs(remainder);  // of the terms, for what rounding can do
    const auto add = [&](double term, double magnitude) {
      gap += term;
      size += magnitude;
    };
    const Quadratic bend = quadratic(c.curvature.data() + i * k * k, d, k);
    add(0.5 * bend.value, 0.5 * bend.size);
    if (grows) {
      const Quadratic growth = quadratic(c.growth.data() + i * k * k, d, k);
      add(0.5 * point.rho * growth.value, 0.5 * point.rho * growth.size);
      if (with_slopes) out.rho_slope[i] = 0.5 * growth.value;
    }
    if (!c.value_drop.empty()) add(c.value_drop[i], std::abs(c.value_drop[i]));
    if (!c.slope_drop.empty())
      for (std::size_t j = 0; j < k; ++j) add(c.slope_drop[i * k + j] * d[j], std::abs(c.slope_drop[i * k + j] * d[j]));

    if (gap < 0.0) {
      check_rounding(rows, i, d, gap, size);
      gap = 0.0;
    }
    out.gap[i] = gap;

    for (std::size_t j = 0; with_slopes && j < k; ++j) {
      double slope = c.slope_drop.empty() ? 0.0 : c.slope_drop[i * k + j];
      for (std::size_t m = 0; m < k; ++m) {
        const std::size_t at = i * k * k + j * k + m;
        slope += (c.curvature[at] + (grows ? point.rho * c.growth[at] : 0.0)) * d[m];
      }
      out.slope[i * k + j] += slope;
    }
  }
}

}  // namespace flymc
