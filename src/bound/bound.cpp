// The statistics pass: the constants of a bound and its collapsed sums.
#include "flymc/bound/bound.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "flymc/bound/collapse.hpp"
#include "flymc/core/error.hpp"

namespace flymc {

namespace {

// The variance of a row's linear predictor: for several predictors the largest of their variances, or the largest
// variance of a difference of two if the likelihood depends on differences alone.
double largest_variance(const double* spread, const Arrangement& arrangement, bool only_differences) {
  if (arrangement.last_is_shared()) return spread[0];  // the shared predictor is the same for all rows
  const auto k = static_cast<std::size_t>(arrangement.predictors());
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
             Vector anchor, const Execution& execution, std::optional<Precision> metric, const Lighting& lighting,
             SparseSymmetric further_precision)
    : family_(std::move(family)),
      rule_(std::move(rule)),
      anchor_(std::move(anchor)),
      metric_(std::move(metric)),
      further_precision_(std::move(further_precision)) {
  const Index k = family_->predictors();
  family_->check(store, execution);
  check_parts(family_->arrangement().entries(store.features()));

  // Curvatures: c - w (zero for most rows), k and w, for the likelihood's own curvature w, which is added again below.
  // A rule without growth sums c alone.
  const bool grows = rule_->grows();
  const auto width = static_cast<std::size_t>(k), entries = width * width;
  const double typical = std::sqrt(static_cast<double>(anchor_.size()));
  const bool expects = metric_ && rule_->touches();
  const bool differences = family_->only_differences();
  const Arrangement arrangement = family_->arrangement();
  const double unit_squared = family_->unit() * family_->unit();
  if (expects) {
    const RowRange own = own_rows(store, execution.communicator);
    expected_gaps_ = ExpectedGaps(own.last - own.first, own.first);
  }
  LooseRows loose(lighting, store.features());
  Collapsed sum = collapse(store, arrangement, grows ? 3 : 1, execution, [&](const Block& block, BlockTerms& terms) {
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
    for (const std::size_t i : c.without) loose.add_without_bound(rows[i]);
    if (expects)
      for (std::size_t i = 0; i < n; ++i) {
        // tr((c + k rho - w) spread) / 2 at the typical rho, to second order in the change. This is 0 if the bound has
        // the likelihood's own curvature (the logistic at eta = 0, a residual of 0), but the gap is not: its fourth
        // order is at most about tr(c spread)^2 / 2 for a row of weight 1. Without this term such a row would never be
        // proposed.
        const double weight = fixed.facts.spans()[i].weight;
        double twice = 0.0, bend = 0.0;
        for (std::size_t e = i * entries; e < (i + 1) * entries; ++e) {
          twice += (c.curvature[e] - own[e] + (grows ? typical * c.growth[e] : 0.0)) * fixed.spread[e];
          bend += c.curvature[e] * fixed.spread[e];
        }
        const double gap = 0.5 * (std::max(0.0, twice) + (weight > 0.0 ? bend * bend / weight : 0.0));
        const double variance =
            largest_variance(fixed.spread.data() + i * entries, arrangement, differences) / unit_squared;
        expected_gaps_.set(rows[i], gap);
        if (!std::ranges::binary_search(c.without, i)) loose.add(rows[i], variance);
        terms.further += std::min(lighting.stands_for, ExpectedGaps::value(expected_gaps_.level(rows[i]))) * variance *
                         variance;  // the gap as stored
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
  if (expects)
    light(store, loose, sum.further, lighting, execution.communicator);
  else if (!loose.gather_without_bound(execution.communicator).empty())
    throw NoBound(
        fmt::format("the {} bound has none for some rows, and without a metric they cannot be lit", rule_->name()));
}

Bound::Bound(std::shared_ptr<const BatchedFamily> family, std::shared_ptr<const BoundRule> rule, Vector anchor,
             BoundSums sums, RowId queries, std::optional<Precision> metric, ExpectedGaps expected_gaps, LitRows lit,
             SparseSymmetric further_precision)
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
  if (const Index size = further_precision_.diagonal.size(); size != 0 && size != dimension)
    throw InputError(fmt::format("a precision of {} numbers for {} coefficients", size, dimension));
  if (metric_) spread_.emplace(*metric_, family_->arrangement());
}

}  // namespace flymc
