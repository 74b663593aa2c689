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

// Calls f(entries per row, array of each of `rows` ...) for every kind of per-row array.
template <class F, class... Rows>
void each_array(std::size_t k, F&& f, Rows&... rows) {
  f(1, rows.row...);
  f(1, rows.y...);
  f(k, rows.eta_anchor...);
  f(1, rows.coefficients.value_drop...);
  f(k, rows.coefficients.slope_drop...);
  f(k * k, rows.coefficients.curvature...);
  f(k * k, rows.coefficients.growth...);
  f(k * k, rows.outer_curvature...);
}

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

void BoundRows::fetch(const Store& store, std::span<const RowId> rows) {
  row.assign(rows.begin(), rows.end());
  y.resize(rows.size());
  x.copy(store, rows, y);
}

void BoundRows::clear() {
  each_array(
      1, [](std::size_t, auto& values) { values.clear(); }, *this);
  x.clear();
}

void BoundRows::append(const BoundRows& other, std::size_t i) {
  const auto copy = [i](std::size_t width, auto& to, const auto& from) {
    if (from.empty()) return;
    const auto first = from.begin() + static_cast<std::ptrdiff_t>(i * width);
    to.insert(to.end(), first, first + static_cast<std::ptrdiff_t>(width));
  };
  each_array(other.eta_anchor.size() / other.size(), copy, *this, other);
  x.append(other.x, i);
}

void BoundRows::remove(std::size_t i) {
  const auto replace = [i](std::size_t width, auto& values) {
    if (values.empty()) return;
    std::copy(values.end() - static_cast<std::ptrdiff_t>(width), values.end(),
              values.begin() + static_cast<std::ptrdiff_t>(i * width));
    values.resize(values.size() - width);
  };
  each_array(eta_anchor.size() / size(), replace, *this);
  x.remove(i);
}

void Gaps::append(const Gaps& other, std::size_t i) {
  gap.push_back(other.gap[i]);
  if (!other.slope.empty()) {
    const auto k = static_cast<std::ptrdiff_t>(other.slope.size() / other.gap.size());
    const auto first = other.slope.begin() + static_cast<std::ptrdiff_t>(i) * k;
    slope.insert(slope.end(), first, first + k);
  }
  if (!other.rho_slope.empty()) rho_slope.push_back(other.rho_slope[i]);
}

Bound::Bound(const Store& store, const Model& model, std::shared_ptr<const BoundRule> rule, Vector anchor,
             const Execution& execution, std::optional<Metric> metric)
    : model_(model), rule_(std::move(rule)), anchor_(std::move(anchor)), metric_(std::move(metric)) {
  const Index k = model_.predictors();
  model_.check(store, execution);
  check_parts(model_.coefficients(store));

  // Curvatures: c, k, c outside the radius, and the likelihood's own w, of which c then has only what is more: nothing
  // for most rows. Those that the rule lacks are not summed.
  const bool zoned = std::isfinite(rule_->radius());
  const bool grows = rule_->grows();
  const std::size_t curvatures = grows ? 4 : (zoned ? 3 : 1);
  const auto entries = static_cast<std::size_t>(k * k);
  const double typical = std::sqrt(static_cast<double>(anchor_.size()));
  const bool expects = metric_ && rule_->touches();
  if (expects) {
    const RowRange own = own_rows(store, execution.communicator);
    expected_gaps_ = ExpectedGaps(own.last - own.first, own.first);
  }
  Collapsed sum = collapse(store, k, curvatures, execution, [&](const Block& block, BlockTerms& terms) {
    const auto n = static_cast<std::size_t>(block.rows());
    std::vector<RowId> rows(n);
    std::iota(rows.begin(), rows.end(), block.first_row());
    BoundRows fixed;
    fixed.fetch(store, rows);
    complete(expects || rule_->uses_spread(), fixed);
    std::vector<double> value(n), own(expects || grows ? n * entries : 0);
    model_.family().likelihood(fixed.y, fixed.eta_anchor, value,
                               {terms.slope.data(), static_cast<std::size_t>(terms.slope.size())}, own);
    Coefficients& c = fixed.coefficients;
    for (std::size_t i = 0; i < n; ++i) terms.value += value[i] - (c.value_drop.empty() ? 0.0 : c.value_drop[i]);
    if (!c.slope_drop.empty()) terms.slope -= Eigen::Map<const RowMatrix>(c.slope_drop.data(), block.rows(), k);
    if (expects)
      for (std::size_t i = 0; i < n; ++i) {
        // tr((c + k rho - w) spread) / 2 at the typical rho, to second order in the offset. That is nothing where the
        // bound has the likelihood's own curvature (eta = 0 of the logistic, a residual of 0), though the gap is not:
        // its fourth order is at most about tr(c spread)^2 / 2, and without it such a row would never be proposed.
        double twice = 0.0, bend = 0.0;
        for (std::size_t e = i * entries; e < (i + 1) * entries; ++e) {
          twice += (c.curvature[e] - own[e] + (grows ? typical * c.growth[e] : 0.0)) * fixed.spread[e];
          bend += c.curvature[e] * fixed.spread[e];
        }
        expected_gaps_.set(rows[i], 0.5 * (std::max(0.0, twice) + bend * bend));
      }
    terms.curvature[0] = std::move(c.curvature);
    if (zoned) terms.curvature[2] = std::move(fixed.outer_curvature);
    if (!grows) return;
    for (std::size_t e = 0; e < own.size(); ++e) terms.curvature[0][e] -= own[e];
    terms.curvature[1] = std::move(c.growth);
    terms.curvature[3] = std::move(own);
  });
  queries_ = store.rows();
  sums_.value = sum.value;
  sums_.slope = std::move(sum.slope);
  sums_.curvature = std::move(sum.curvature[0]);
  if (zoned) sums_.outer_curvature = std::move(sum.curvature[2]);
  if (grows) {
    sums_.growth = std::move(sum.curvature[1]);
    sums_.hessian = std::move(sum.curvature[3]);
    sums_.curvature += sums_.hessian;
  }
  if (!std::isfinite(sums_.value) || !sums_.slope.allFinite() || !sums_.curvature.allFinite() ||
      !sums_.growth.allFinite() || !sums_.outer_curvature.allFinite())
    throw InputError("the likelihood at the anchor is not finite; rescale the columns");
}

Bound::Bound(const Model& model, std::shared_ptr<const BoundRule> rule, Vector anchor, BoundSums sums, RowId queries,
             std::optional<Metric> metric, ExpectedGaps expected_gaps)
    : model_(model),
      rule_(std::move(rule)),
      anchor_(std::move(anchor)),
      metric_(std::move(metric)),
      queries_(queries),
      sums_(std::move(sums)),
      expected_gaps_(std::move(expected_gaps)) {
  const Index dimension = anchor_.size();
  check_parts(dimension);
  const auto fits = [&](const Matrix& m, bool needed) {
    const Index size = needed ? dimension : 0;
    return m.rows() == size && m.cols() == size;
  };
  if (sums_.slope.size() != dimension || !fits(sums_.curvature, true) || !fits(sums_.growth, rule_->grows()) ||
      !fits(sums_.hessian, rule_->grows()) || !fits(sums_.outer_curvature, std::isfinite(rule_->radius())))
    throw InputError(fmt::format("these are not the sums of the {} bound in {} dimensions", rule_->name(), dimension));
}

void Bound::check_parts(Index dimension) {
  if (const std::string problem = rule_->family_problem(model_.family()); !problem.empty()) throw InputError(problem);
  if (anchor_.size() != dimension || !anchor_.allFinite())
    throw InputError(fmt::format("the anchor must be {} finite numbers", dimension));
  if ((uses_rho() || rule_->uses_spread()) && (!metric_ || metric_->dimension() != dimension))
    throw InputError(fmt::format("the {} bound needs a metric of dimension {}", rule_->name(), dimension));
  if (metric_ && metric_->dimension() != dimension)
    throw InputError(fmt::format("a metric of dimension {} for {} coefficients", metric_->dimension(), dimension));
  if (metric_) spread_.emplace(*metric_, model_.predictors());
}

BoundPoint Bound::at_offset(Vector offset) const {
  BoundPoint point;
  point.offset = by_predictor(offset, model_.predictors());
  if (model_.family().only_differences()) point.offset.colwise() -= Vector(point.offset.col(0));
  point.from_anchor = std::move(offset);
  return point;
}

BoundPoint Bound::at(const Vector& theta, bool with_gradient) const {
  BoundPoint point = at_offset(theta - anchor_);
  if (!uses_rho()) return point;
  const Vector white = metric_->whiten(point.from_anchor);
  point.rho = white.norm();
  point.outside = point.rho > rule_->radius();
  if (with_gradient && rule_->grows() && !point.outside)
    // d ||L'offset|| / d theta = L (L'offset) / rho; at the anchor itself rho multiplies terms that vanish.
    point.rho_gradient = point.rho > 0.0 ? Vector(metric_->lower().triangularView<Eigen::Lower>() * (white / point.rho))
                                         : Vector::Zero(theta.size());
  return point;
}

BoundPoint Bound::at_distance(const Vector& offset, double rho) const {
  BoundPoint point = at_offset(offset);
  if (!uses_rho()) return point;
  point.rho = rho;
  point.outside = rho > rule_->radius();
  return point;
}

// V + s'Delta - Delta'C Delta / 2 - rho Delta'Q Delta / 2, with C_out and no growth outside the radius.
double Bound::log_sum(const BoundPoint& point, Vector* gradient) const {
  const Eigen::Map<const Vector> offset(point.offset.data(), point.offset.size());
  const Matrix& c = point.outside ? sums_.outer_curvature : sums_.curvature;
  const Vector bend = c.selfadjointView<Eigen::Lower>() * offset;
  double sum = sums_.value + sums_.slope.dot(offset) - 0.5 * offset.dot(bend);
  if (gradient) *gradient += sums_.slope - bend;
  if (rule_->grows() && !point.outside) {
    const Vector grown = sums_.growth.selfadjointView<Eigen::Lower>() * offset;
    const double form = offset.dot(grown);
    sum -= 0.5 * point.rho * form;
    if (gradient) *gradient -= point.rho * grown + 0.5 * form * point.rho_gradient;
  }
  return sum;
}

void Bound::prepare(const Store& store, std::span<const RowId> rows, BoundRows& out) const {
  out.fetch(store, rows);
  complete(out);
}

void Bound::complete(BoundRows& rows) const { complete(rule_->uses_spread(), rows); }

void Bound::complete(bool with_spread, BoundRows& out) const {
  const auto k = static_cast<std::size_t>(model_.predictors());
  out.eta_anchor.resize(out.size() * k);
  out.x.predict(by_predictor(anchor_, model_.predictors()), out.eta_anchor);
  out.spread.resize(with_spread ? out.size() * k * k : 0);
  if (with_spread) spread_->of(out.x, out.spread);
  rule_->coefficients(model_.family(), out.y, out.eta_anchor,
                      rule_->uses_spread() ? out.spread : std::span<const double>{}, out.coefficients);
  out.outer_curvature.clear();
  if (std::isfinite(rule_->radius())) {
    if (!out.coefficients.value_drop.empty() || !out.coefficients.slope_drop.empty())
      throw InputError(
          fmt::format("the {} bound has a radius, so it must touch at the anchor: no drops", rule_->name()));
    out.outer_curvature.resize(out.size() * k * k);
    model_.family().global_curvature(out.y, out.eta_anchor, out.outer_curvature);
  }
}

// gap = remainder + value_drop + slope_drop'delta + delta'(c + k rho) delta / 2.
void Bound::gaps(const BoundRows& rows, const BoundPoint& point, bool with_slopes, Gaps& out) const {
  const auto k = static_cast<std::size_t>(model_.predictors());
  const std::size_t n = rows.size();
  out.gap.resize(n);
  out.slope.resize(with_slopes ? n * k : 0);
  const bool grows = rule_->grows() && !point.outside;
  out.rho_slope.assign(with_slopes && grows ? n : 0, 0.0);
  std::vector<double>& delta = out.delta;
  delta.resize(n * k);
  rows.x.predict(point.offset, delta);
  model_.family().remainder(rows.y, rows.eta_anchor, delta, out.gap, out.slope);

  const Coefficients& c = rows.coefficients;
  const std::vector<double>& curvature = point.outside ? rows.outer_curvature : c.curvature;
  for (std::size_t i = 0; i < n; ++i) {
    const double* d = delta.data() + i * k;
    const double remainder = out.gap[i];
    double gap = remainder;
    double size = std::abs(remainder);  // of the terms, for what rounding can do
    const auto add = [&](double term, double magnitude) {
      gap += term;
      size += magnitude;
    };
    const Quadratic bend = quadratic(curvature.data() + i * k * k, d, k);
    add(0.5 * bend.value, 0.5 * bend.size);
    // The remainder is good to some ulps of the global curvature's form, of which a sharp one may be a small part.
    if (!rows.outer_curvature.empty() && !point.outside)
      size += 0.5 * quadratic(rows.outer_curvature.data() + i * k * k, d, k).size;
    if (grows) {
      const Quadratic growth = quadratic(c.growth.data() + i * k * k, d, k);
      add(0.5 * point.rho * growth.value, 0.5 * point.rho * growth.size);
      if (with_slopes) out.rho_slope[i] = 0.5 * growth.value;
    }
    if (!c.value_drop.empty()) add(c.value_drop[i], std::abs(c.value_drop[i]));
    if (!c.slope_drop.empty())
      for (std::size_t j = 0; j < k; ++j) add(c.slope_drop[i * k + j] * d[j], std::abs(c.slope_drop[i * k + j] * d[j]));

    // Where the bound touches the likelihood the terms cancel, and what is left may be rounding of either sign: that is
    // a gap of zero. Anything more is a bound that is none.
    const double rounding = 64.0 * static_cast<double>(k) * std::numeric_limits<double>::epsilon() * size;
    if (gap < -rounding)
      throw BoundViolation(fmt::format(
          "row {}: the {} bound lies above the {} likelihood by {:.3g} (target {}, eta {}, offset {}); draws would not "
          "be "
          "exact",
          rows.row[i], rule_->name(), model_.family().name(), -gap, rows.y[i], rows.eta_anchor[i * k], d[0]));
    out.gap[i] = gap < 0.0 ? 0.0 : gap;

    for (std::size_t j = 0; with_slopes && j < k; ++j) {
      double slope = c.slope_drop.empty() ? 0.0 : c.slope_drop[i * k + j];
      for (std::size_t m = 0; m < k; ++m) {
        const std::size_t at = i * k * k + j * k + m;
        slope += (curvature[at] + (grows ? point.rho * c.growth[at] : 0.0)) * d[m];
      }
      out.slope[i * k + j] += slope;
    }
  }
}

}  // namespace flymc
