// Gaps of single rows, log L - log B.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "flymc/bound/bound.hpp"
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

void Bound::prepare(const Store& store, std::span<const RowId> rows, BoundRows& out) const {
  out.fetch(store, rows);
  complete(out);
}

void Bound::complete(BoundRows& rows) const { complete(rule_->uses_spread(), rows); }

void Bound::complete(bool with_spread, BoundRows& out) const {
  const auto k = static_cast<std::size_t>(family_->predictors());
  out.eta_anchor.resize(out.size() * k);
  out.predict(family_->arrangement().columns(anchor_), out.eta_anchor);
  out.spread.resize(with_spread ? out.size() * k * k : 0);
  if (with_spread) spread_->of(out.x, out.spread);
  rule_->coefficients(*family_, out.facts.spans(), out.eta_anchor,
                      rule_->uses_spread() ? out.spread : std::span<const double>{}, out.coefficients);
  find_rows_without_bound(out);
  if (std::isfinite(rule_->radius()) && !(out.coefficients.value_drop.empty() && out.coefficients.slope_drop.empty()))
    throw InputError(fmt::format("the {} bound has a radius, so it must touch at the anchor: no drops", rule_->name()));
}

void Bound::find_rows_without_bound(BoundRows& rows) const {
  const auto k = static_cast<std::size_t>(family_->predictors());
  Coefficients& c = rows.coefficients;
  c.without.clear();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto own = std::span(c.curvature).subspan(i * k * k, k * k);
    if (std::ranges::all_of(own, [](double number) { return std::isfinite(number); })) continue;
    c.without.push_back(i);
    family_->likelihood(rows.facts.spans().row(i), std::span(rows.eta_anchor).subspan(i * k, k), {}, {}, own);
    if (!c.growth.empty()) std::fill_n(c.growth.begin() + static_cast<std::ptrdiff_t>(i * k * k), k * k, 0.0);
  }
}

void Bound::complete_as_lit(double share, BoundRows& out) const {
  const auto k = static_cast<std::size_t>(family_->predictors());
  out.eta_anchor.resize(out.size() * k);
  out.predict(family_->arrangement().columns(anchor_), out.eta_anchor);
  out.coefficients = {};
  out.coefficients.curvature.resize(out.size() * k * k);
  if (out.size() > 0) family_->likelihood(out.facts.spans(), out.eta_anchor, {}, {}, out.coefficients.curvature);
  for (double& w : out.coefficients.curvature) w *= share;
}

// Where the bound touches the likelihood the terms cancel, and the difference may be rounding of either sign: the gap
// is then zero. A larger negative gap means that the bound is invalid. The remainder is accurate to some ulps of the
// quadratic form of the global curvature, which may be much larger than the sharp bound's.
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

void Bound::gaps(const BoundRows& rows, const BoundPoint& point, bool with_slopes, Gaps& out) const {
  out.delta.resize(rows.size() * static_cast<std::size_t>(family_->predictors()));
  rows.x.project(point.change, out.delta);
  gaps_of_changes(rows, point.rho, Distance::exact, with_slopes, out);
}

// gap = remainder + value_drop + slope_drop'delta + delta'(c + k rho) delta / 2.
void Bound::gaps_of_changes(const BoundRows& rows, double rho, Distance distance, bool with_slopes, Gaps& out) const {
  constexpr double next_to_nothing = 1e-12;
  const auto k = static_cast<std::size_t>(family_->predictors());
  const std::size_t n = rows.size();
  out.gap.resize(n);
  out.slope.resize(with_slopes ? n * k : 0);
  const bool grows = rule_->grows();
  out.rho_slope.assign(with_slopes && grows ? n : 0, 0.0);
  const std::vector<double>& delta = out.delta;
  family_->remainder(rows.facts.spans(), rows.eta_anchor, delta, out.gap, out.slope);

  const Coefficients& c = rows.coefficients;
  for (std::size_t i = 0; i < n; ++i) {
    const double* d = delta.data() + i * k;
    const double remainder = out.gap[i];
    double gap = remainder;
    double size = std::abs(remainder);  // magnitude of the terms, for their rounding error
    const auto add = [&](double term, double magnitude) {
      gap += term;
      size += magnitude;
    };
    const Quadratic bend = quadratic(c.curvature.data() + i * k * k, d, k);
    add(0.5 * bend.value, 0.5 * bend.size);
    if (grows) {
      const Quadratic growth = quadratic(c.growth.data() + i * k * k, d, k);
      add(0.5 * rho * growth.value, 0.5 * rho * growth.size);
      if (with_slopes) out.rho_slope[i] = 0.5 * growth.value;
    }
    if (!c.value_drop.empty()) add(c.value_drop[i], std::abs(c.value_drop[i]));
    if (!c.slope_drop.empty())
      for (std::size_t j = 0; j < k; ++j) add(c.slope_drop[i * k + j] * d[j], std::abs(c.slope_drop[i * k + j] * d[j]));

    if (distance == Distance::about) {
      gap = std::max(gap, next_to_nothing);
    } else if (gap < 0.0) {
      check_rounding(rows, i, d, gap, size);
      gap = 0.0;
    }
    out.gap[i] = gap;

    for (std::size_t j = 0; with_slopes && j < k; ++j) {
      double slope = c.slope_drop.empty() ? 0.0 : c.slope_drop[i * k + j];
      for (std::size_t m = 0; m < k; ++m) {
        const std::size_t at = i * k * k + j * k + m;
        slope += (c.curvature[at] + (grows ? rho * c.growth[at] : 0.0)) * d[m];
      }
      out.slope[i * k + j] += slope;
    }
  }
}

}  // namespace flymc
