// The constants of rows, and the statistics pass.
#include "flymc/groups/group_bound.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>

#include "flymc/bound/spread.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/numerics.hpp"

namespace flymc {
namespace {

double dot_of_row(const RowCopies& x, std::size_t i, const double* v) {
  if (x.coded()) return dot(x.entries(i), v);
  double sum = 0.0;
  for (Index j = 0; j < x.features(); ++j) sum += x.value(i, j) * v[j];
  return sum;
}

}  // namespace

GroupBound::~GroupBound() = default;

GroupBound::GroupBound(const GroupedRows& rows, GroupAnchor anchor, const Execution& execution, RowId few)
    : rows_(&rows),
      anchor_(std::move(anchor)),
      family_(rows.model().model.shared_family()),
      spread_(std::make_unique<Spread>(Precision::from_lower(anchor_.metric.border), Arrangement(1))) {
  // Four standard deviations beyond the usual distance: a few of a million normal effects are further out.
  border_radius_ = std::sqrt(static_cast<double>(rows.layout().border())) + 4.0;
  for (std::size_t f = 0; f < rows.factors(); ++f)
    radii_.push_back(std::sqrt(static_cast<double>(rows.layout().width(f))) + 3.7);
  statistics(execution, few);
}

// delta = (x - W_g'a)'b + a'(whitened group) + ..., with a = L_g^-1 w and b the border with means. Each product is at
// most the product of the lengths in the metric.
void GroupBound::complete(BoundRows& rows) const {
  const std::size_t n = rows.size(), factors = rows_->factors();
  const GroupMetric& metric = anchor_.metric;
  rows.eta_anchor.resize(n);
  rows_->project(rows, anchor_.at, rows.eta_anchor);
  if (!rows.facts.offset.empty())
    for (std::size_t i = 0; i < n; ++i) rows.eta_anchor[i] += rows.facts.offset[i];
  rows.spread.resize(n);
  spread_->of(rows.x, rows.spread);
  rows.reach.resize(n);
  const auto border = metric.border.triangularView<Eigen::Lower>();
  Index cached = -1;
  Matrix solved, form;  // S^-1 W_g', and W_g S^-1 W_g', of the group `cached`
  const double wider = metric.wider * metric.wider;
  Vector a;
  for (std::size_t i = 0; i < n; ++i) {
    const double* const slopes = rows.slopes.data() + i * rows_->slopes().size();
    double reach = 0.0, variance = rows.spread[i], of_groups = 0.0;
    for (std::size_t f = 0; f < factors; ++f) {
      if (rows_->is_carried(f)) continue;
      const Index k = rows_->layout().width(f), g = static_cast<Index>(rows.group[i * factors + f]);
      a.resize(k);
      for (Index j = 0; j < k; ++j) a[j] = rows_->multiplied(f, j, slopes);
      metric.groups[f].middleRows(g * k, k).triangularView<Eigen::Lower>().solveInPlace(a);
      reach += radii_[f] * a.norm();
      of_groups += a.squaredNorm() / wider;
      if (f == rows_->leading()) {
        if (g != cached) {
          const auto couplings = metric.couplings.middleRows(g * k, k);
          const Matrix white = border.solve(Matrix(couplings.transpose()));
          solved = border.transpose().solve(white);
          form = white.transpose() * white;
          cached = g;
        }
        const Vector towards = solved * a;
        const double away = -2.0 * dot_of_row(rows.x, i, towards.data()) + a.dot(form * a);
        // The allowance is for rounding, where the group takes up nearly all of the row.
        variance = std::max(0.0, variance + away) + 1e-13 * (variance + a.dot(form * a));
      }
    }
    reach += border_radius_ * std::sqrt(variance);
    rows.reach[i] = (1.0 + 1e-6) * reach;
    rows.spread[i] = variance + of_groups;
  }
  // The curvature that is needed for all changes up to the reach: a zone of radius 1 in which the reach is one unit.
  std::vector<double> squares(n), growth(n);
  for (std::size_t i = 0; i < n; ++i) squares[i] = rows.reach[i] * rows.reach[i];
  std::vector<double>& c = rows.coefficients.curvature;
  c.resize(n);
  family_->sharp(rows.facts.spans(), rows.eta_anchor, squares, {1.0, 1.0}, c, growth);
  for (std::size_t i = 0; i < n; ++i) {
    c[i] += growth[i];
    if (!limited_) rows.reach[i] = HUGE_VAL;
    if (std::isfinite(c[i]) && !is_lit(rows.row[i])) continue;
    rows.reach[i] = 0.0;
    family_->likelihood(rows.facts.spans().row(i), std::span(rows.eta_anchor).subspan(i, 1), {}, {},
                        std::span(c).subspan(i, 1));
    c[i] = std::max(0.0, c[i]);
  }
}

Effects GroupBound::change_of(const Vector& theta) const {
  Effects out = effects_of(rows_->layout(), theta);
  out.border -= anchor_.at.border;
  for (std::size_t f = 0; f < out.groups.size(); ++f) out.groups[f] -= anchor_.at.groups[f];
  return out;
}

void GroupBound::fetch(std::span<const RowId> rows, BoundRows& out) const {
  rows_->fetch(rows, out);
  complete(out);
}

bool GroupBound::is_lit(RowId row) const { return std::ranges::binary_search(lit_rows_, row); }

void GroupBound::statistics(const Execution& execution, RowId few) {
  const Store& store = rows_->store();
  const std::size_t factors = rows_->factors();
  std::vector<double> curvature;
  gaps_ = ExpectedGaps(store.rows());
  std::atomic<bool> limited = false;
  const auto pass = [&] {
    queries_ += 3 * store.rows();
    const GroupPass all{std::vector<bool>(factors, true), true, factors > 1 ? &curvature : nullptr};
    sums_ = sum_by_groups(*rows_, anchor_.at, all, execution, [&](const Block& part, const Vector&, RowTerms& out) {
      std::vector<RowId> ids(static_cast<std::size_t>(part.rows()));
      std::iota(ids.begin(), ids.end(), part.first_row());
      BoundRows rows;
      fetch(ids, rows);
      std::vector<double> values(ids.size());
      const std::span<double> slope(out.slope.data(), ids.size());
      std::vector<double> own(ids.size()), everywhere(ids.size(), HUGE_VAL);
      family_->likelihood(rows.facts.spans(), rows.eta_anchor, values, slope, own);
      if (family_->has_global_curvature()) family_->global_curvature(rows.facts.spans(), rows.eta_anchor, everywhere);
      for (std::size_t i = 0; i < ids.size(); ++i) {
        const double c = rows.coefficients.curvature[i];
        out.value += values[i];
        out.curvature[static_cast<Index>(i)] = c;
        if (rows.reach[i] == 0.0) {
          gaps_.forget(ids[i]);
          continue;
        }
        if (own[i] != everywhere[i]) limited = true;
        // The mean over a normal change, by its values at three points. The curvatures alone are not enough: at the
        // logistic's middle they are equal, and the gap is of the fourth order.
        const double far = std::min(rows.reach[i], std::sqrt(3.0 * rows.spread[i]));
        const double gap = (gap_within(rows, i, far) + gap_within(rows, i, -far)) / 6.0;
        out.further += gap;
        gaps_.set(ids[i], gap);
      }
    });
    expected_bright_ = sums_.further;
  };
  pass();
  light(limited ? few : 0);  // rows whose bound is their likelihood are never bright
  if (!lit_rows_.empty()) pass();
  limited_ = limited;
  pairs_.resize(factors * factors);
  for (std::size_t f = 0; f < factors; ++f)
    for (std::size_t h = f + 1; h < factors; ++h) {
      pairs_[f * factors + h] = std::make_shared<const PairSums>(*rows_, f, h, curvature, execution);
      pairs_[h * factors + f] = std::make_shared<const PairSums>(pairs_[f * factors + h]->transposed());
    }
}

// A group whose bound is this many times as curved as its posterior moves in steps that are too short.
void GroupBound::light(RowId few) {
  constexpr double most = 8.0;
  for (std::size_t f = 0; f < rows_->factors(); ++f) {
    if (rows_->is_carried(f)) continue;
    const Index k = rows_->layout().width(f);
    const double wider = anchor_.metric.wider * anchor_.metric.wider;
    for (Index g = 0; g < rows_->layout().groups(f); ++g) {
      const Matrix lower = anchor_.metric.groups[f].middleRows(g * k, k);
      const Vector own = wider * (lower * lower.transpose()).diagonal();
      const Vector bound = sums_.effects[f].blocks.middleRows(g * k, k).diagonal();
      if ((bound.array() <= most * own.array()).all()) continue;
      const GroupRows members = rows_->rows_of(f, g);
      for (std::size_t i = 0; i < members.size(); ++i) lit_rows_.push_back(members[i]);
    }
  }
  const RowId count = rows_->store().rows();
  const bool loose = expected_bright_ > 0.005 * static_cast<double>(count);
  const bool all = count <= few || (loose && count <= 10 * few);
  for (RowId row = 0; row < count; ++row)
    if (all || gaps_.level(row) == 0) lit_rows_.push_back(row);
  std::ranges::sort(lit_rows_);
  lit_rows_.erase(std::unique(lit_rows_.begin(), lit_rows_.end()), lit_rows_.end());
  fetch(lit_rows_, lit_);
}

GroupBound::Border GroupBound::border_of(const Effects& change) const {
  std::vector<Vector> amounts(rows_->factors());
  for (std::size_t f = 0; f < rows_->factors(); ++f) {
    const RowMatrix& exchanged = anchor_.metric.exchanged[f];
    if (exchanged.size() == 0) continue;
    amounts[f] = Vector::Zero(exchanged.rows());
    Vector seen(rows_->layout().width(f));
    for (Index g = 0; g < exchanged.cols(); ++g) {
      rows_->seen(change, f, g, seen.data());
      for (Index e = 0; e < exchanged.rows(); ++e)
        amounts[f][e] += exchanged(e, g) * seen[rows_->exchanges(f).effect(e)];
    }
  }
  return border_with(change.border, std::move(amounts));
}

GroupBound::Border GroupBound::border_with(const Vector& change, std::vector<Vector> amounts) const {
  Border out{change, std::move(amounts)};
  for (std::size_t f = 0; f < rows_->factors(); ++f)
    if (out.amounts[f].size() > 0) out.change.noalias() += rows_->exchanges(f).coefficients() * out.amounts[f];
  return out;
}

double GroupBound::border_length(const Border& border) const {
  return (anchor_.metric.border.triangularView<Eigen::Lower>().transpose() * border.change).squaredNorm();
}

double GroupBound::group_length(std::size_t f, Index group, const double* seen, const Border& border) const {
  const Index k = rows_->layout().width(f), d = border.change.size();
  const bool leads = f == rows_->leading();
  const Exchanges& exchanges = rows_->exchanges(f);
  const Vector& amounts = border.amounts[f];
  double sum = 0.0;
  for (Index i = 0; i < k; ++i) {
    double own = 0.0;
    for (Index j = i; j < k; ++j) own += anchor_.metric.groups[f](group * k + j, i) * seen[j];
    for (Index e = 0; e < amounts.size(); ++e)
      if (exchanges.effect(e) >= i)
        own -= anchor_.metric.groups[f](group * k + exchanges.effect(e), i) * amounts[e] * exchanges.share(e, group);
    if (leads) own += dot(anchor_.metric.couplings.data() + (group * k + i) * d, border.change.data(), d);
    sum += own * own;
  }
  return sum;
}

GroupBound::Gap GroupBound::gap(const BoundRows& rows, std::size_t i, double delta) const {
  double value = 0.0, slope = 0.0;
  family_->remainder(rows.facts.spans().row(i), std::span(rows.eta_anchor).subspan(i, 1), {&delta, 1}, {&value, 1},
                     {&slope, 1});
  const double c = rows.coefficients.curvature[i];
  return {value + 0.5 * c * delta * delta, slope + c * delta};
}

// Near the anchor a gap is a difference of numbers that nearly cancel, and may be rounding of either sign: it is 0 then.
double GroupBound::checked(const BoundRows& rows, std::size_t i, double delta, double gap) const {
  if (gap >= 0.0) return gap;
  double scale = 0.0;
  family_->scale_curvature(rows.facts.spans().row(i), std::span(rows.eta_anchor).subspan(i, 1), {&scale, 1});
  const double size = (0.5 * std::abs(scale) + rows.coefficients.curvature[i]) * delta * delta;
  if (gap < -64.0 * std::numeric_limits<double>::epsilon() * size)
    throw BoundViolation(rows.row[i],
                         fmt::format("the bound lies above the {} likelihood by {:.3g}; draws would not be "
                                     "exact",
                                     family_->name(), -gap));
  return 0.0;
}

double GroupBound::gap_within(const BoundRows& rows, std::size_t i, double delta) const {
  const double within = std::clamp(delta, -rows.reach[i], rows.reach[i]);
  return checked(rows, i, within, gap(rows, i, within).value);
}

GroupBound::Gap GroupBound::dark(const BoundRows& rows, std::size_t i, double delta) const {
  if (std::abs(delta) <= rows.reach[i]) return {0.0, 0.0};
  Gap out = gap(rows, i, delta);
  if (rows.reach[i] > 0.0) out.value -= gap_within(rows, i, delta);
  return out;
}

GroupBound::Gap GroupBound::bright(const BoundRows& rows, std::size_t i, double delta) const {
  const Gap whole = gap(rows, i, delta);
  if (std::abs(delta) <= rows.reach[i]) {
    const double g = checked(rows, i, delta, whole.value);
    return {log_expm1(g), whole.slope * log_expm1_slope(std::max(g, 1e-300))};
  }
  const double g = gap_within(rows, i, delta);
  return {whole.value - g + log_expm1(g), whole.slope};
}

}  // namespace flymc
