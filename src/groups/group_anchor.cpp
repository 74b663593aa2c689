// The search for the anchor.
#include "flymc/groups/group_anchor.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "carried_effects.hpp"
#include "flymc/core/bordered_matrix.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/precision.hpp"
#include "flymc/groups/group_sums.hpp"
#include "small_matrices.hpp"

namespace flymc {
namespace {

// The largest change of a covariance, in units of its standard deviations.
double change_of(const Matrix& before, const Matrix& now) {
  const Vector sd = now.diagonal().cwiseSqrt();
  return (sd.cwiseInverse().asDiagonal() * (now - before) * sd.cwiseInverse().asDiagonal())
      .eval()
      .cwiseAbs()
      .maxCoeff();
}

// The amounts of a factor's exchanges that its effects suggest: their regression on the shares, with these weights of each
// effect in every group.
RowMatrix fitted_exchanges(const Exchanges& exchanges, const RowMatrix& weights) {
  const Index m = exchanges.size(), groups = weights.cols();
  RowMatrix out = RowMatrix::Zero(m, groups);
  for (Index j = 0; j < weights.rows(); ++j) {
    std::vector<Index> own;
    for (Index e = 0; e < m; ++e)
      if (exchanges.effect(e) == j) own.push_back(e);
    if (own.empty()) continue;
    RowMatrix weighted(static_cast<Index>(own.size()), groups), shares = weighted;
    for (std::size_t e = 0; e < own.size(); ++e)
      for (Index g = 0; g < groups; ++g) {
        shares(static_cast<Index>(e), g) = exchanges.share(own[e], g);
        weighted(static_cast<Index>(e), g) = weights(j, g) * exchanges.share(own[e], g);
      }
    const Matrix fitted = Matrix(weighted * shares.transpose()).ldlt().solve(Matrix(weighted));
    out(own, Eigen::all) = fitted;
  }
  return out;
}

class Search {
 public:
  Search(const GroupedRows& rows, const Execution& execution);
  GroupAnchor run();

 private:
  // Slopes and curvatures of the likelihood at `at`, for these factors.
  GroupSums pass(std::vector<bool> factors, const Effects& at);
  // The log posterior without constants, given the log likelihood.
  double value(double log_likelihood, const Effects& at) const;
  // The precision of the coefficients' prior, and the slope of its log density.
  Matrix border_precision(const Vector& border) const;
  Vector border_slope(const Vector& border) const;
  BorderedMatrix precision_of(const GroupSums& sums, const Vector& border) const;
  // Each takes a Newton step and returns its length per entry, in posterior standard deviations.
  double step_together(GroupSums& sums);
  double step_alone(std::size_t f, const GroupSums& sums);
  // Takes a share of a step that does not lower the log posterior. Returns the sums at the end.
  GroupSums climb(const Effects& step, const std::vector<bool>& factors, double from);
  void exchange(std::size_t f);
  void shift_outer(const Nesting& nesting);
  void update_covariances(std::size_t f, const EffectSums& sums);
  // The metric of the whole posterior, or of coefficients and effects given the effects that others carry.
  enum class Carried { free, fixed };
  GroupMetric metric(const GroupSums& sums, Carried carried = Carried::free) const;
  std::vector<bool> only(std::size_t f) const;

  const GroupedRows& rows_;
  const GroupModel& model_;
  const Execution& execution_;
  Effects at_;
  std::vector<Matrix> covariances_;
  RowId queries_ = 0;
  int passes_ = 0;
};

Search::Search(const GroupedRows& rows, const Execution& execution)
    : rows_(rows), model_(rows.model()), execution_(execution) {
  const GroupLayout& layout = rows.layout();
  at_.border = model_.model.term().centre(layout.border());
  for (std::size_t f = 0; f < layout.factors(); ++f) {
    at_.groups.push_back(RowMatrix::Zero(layout.groups(f), layout.width(f)));
    // A standard deviation of a half, in units of the family and of the numbers that the effects multiply.
    const Index k = layout.width(f);
    covariances_.push_back(Matrix::Zero(k, k));
    for (Index j = 0; j < k; ++j) {
      const double sd = 0.5 * model_.model.family().unit() /
                        std::abs(model_.effects[f].multiplies[static_cast<std::size_t>(j)].scale);
      covariances_.back()(j, j) = sd * sd;
    }
  }
}

std::vector<bool> Search::only(std::size_t f) const {
  std::vector<bool> out(rows_.factors(), false);
  if (f < out.size()) out[f] = true;
  return out;
}

GroupSums Search::pass(std::vector<bool> factors, const Effects& at) {
  ++passes_;
  queries_ += rows_.store().rows();
  const BatchedFamily& family = model_.model.family();
  return sum_by_groups(rows_, at, {std::move(factors), false, nullptr}, execution_,
                       [&](const Block& part, const Vector& eta, RowTerms& out) {
                         std::vector<double> values(static_cast<std::size_t>(part.rows()));
                         const auto span = [](auto& v) {
                           return std::span(v.data(), static_cast<std::size_t>(v.size()));
                         };
                         family.likelihood(part.facts(), span(eta), values, span(out.slope), span(out.curvature));
                         for (const double l : values) out.value += l;
                         if (out.curvature.minCoeff() >= 0.0) return;
                         // A row far out in long tails bends the other way; any positive curvature gives a step up.
                         Vector positive(out.curvature.size());
                         family.scale_curvature(part.facts(), span(eta), span(positive));
                         out.curvature = (out.curvature.array() < 0.0).select(positive, out.curvature);
                       });
}

double Search::value(double log_likelihood, const Effects& at) const {
  Vector ignored = Vector::Zero(at.border.size());
  double sum = log_likelihood + model_.model.term().surrogate(at.border, ignored);
  for (std::size_t f = 0; f < at.groups.size(); ++f)
    sum -= 0.5 * (at.groups[f].transpose() * at.groups[f]).cwiseProduct(inverse_of(covariances_[f])).sum();
  return sum;
}

Matrix Search::border_precision(const Vector& border) const {
  Matrix out = Matrix::Zero(border.size(), border.size());
  model_.model.prior_precision(border).add_to(out, 1.0);
  out.triangularView<Eigen::StrictlyUpper>() = out.transpose();
  return out;
}

Vector Search::border_slope(const Vector& border) const {
  Vector out = Vector::Zero(border.size());
  model_.model.term().surrogate(border, out);
  return out;
}

BorderedMatrix Search::precision_of(const GroupSums& sums, const Vector& border) const {
  const std::size_t f = rows_.leading();
  if (rows_.factors() == 0) {
    BorderedMatrix out{Matrix(sums.curvature + border_precision(border))};
    return out;
  }
  const Index k = rows_.layout().width(f), groups = rows_.layout().groups(f);
  BorderedMatrix out(border.size(), groups, k);
  out.border = sums.curvature;
  out.border += border_precision(border).triangularView<Eigen::Lower>().toDenseMatrix();
  out.blocks = sums.effects[f].blocks;
  out.couplings = sums.effects[f].couplings;
  const Matrix inverse = inverse_of(covariances_[f]);
  for (Index g = 0; g < groups; ++g)
    for (Index i = 0; i < k; ++i)
      for (Index j = 0; j <= i; ++j) out.blocks(g * k + i, j) += inverse(i, j);
  return out;
}

GroupSums Search::climb(const Effects& step, const std::vector<bool>& factors, double from) {
  const Effects start = at_;
  for (double share = 1.0;; share /= 2.0) {
    at_.border = start.border + share * step.border;
    for (std::size_t f = 0; f < step.groups.size(); ++f)
      if (step.groups[f].size() > 0) at_.groups[f] = start.groups[f] + share * step.groups[f];
    GroupSums sums = pass(factors, at_);
    const double there = value(sums.value, at_);
    if (std::isfinite(there) && there >= from - 1e-9 * std::abs(from)) return sums;
    if (share < 1e-9) throw InputError("no step improves the log posterior; rescale the columns");
  }
}

double Search::step_together(GroupSums& sums) {
  const Index d = at_.border.size();
  const auto precision = Precision::of(precision_of(sums, at_.border));
  if (!precision)
    throw InputError(
        "the coefficients are not determined by the rows and their priors: leave out a column that is a combination of "
        "others, or use a proper prior, such as normal(0, 2.5)");
  Vector slope = Vector::Zero(precision->dimension());
  slope.head(d) = sums.slope + border_slope(at_.border);
  Effects step{Vector::Zero(d), std::vector<RowMatrix>(rows_.factors())};
  if (rows_.factors() > 0) {
    const std::size_t f = rows_.leading();
    const RowMatrix own = sums.effects[f].slope - at_.groups[f] * inverse_of(covariances_[f]);
    slope.tail(own.size()) = Eigen::Map<const Vector>(own.data(), own.size());
  }
  const Vector white = precision->whiten_gradient(slope), whole = precision->unwhiten(white);
  step.border = whole.head(d);
  if (rows_.factors() > 0) {
    const RowMatrix& own = at_.groups[rows_.leading()];
    step.groups[rows_.leading()] = Eigen::Map<const RowMatrix>(whole.data() + d, own.rows(), own.cols());
  }
  const double before = value(sums.value, at_);
  sums = climb(step, only(rows_.leading()), before);
  return white.norm() / std::sqrt(static_cast<double>(white.size()));
}

double Search::step_alone(std::size_t f, const GroupSums& sums) {
  const Index k = rows_.layout().width(f);
  const Matrix inverse = inverse_of(covariances_[f]);
  Effects step{Vector::Zero(at_.border.size()), std::vector<RowMatrix>(rows_.factors())};
  RowMatrix& by = step.groups[f];
  by.resize(at_.groups[f].rows(), k);
  double length = 0.0;
  for (Index g = 0; g < by.rows(); ++g) {
    Matrix block = sums.effects[f].blocks.middleRows(g * k, k);
    block.triangularView<Eigen::StrictlyUpper>() = block.transpose();
    block += inverse;
    const Vector slope = sums.effects[f].slope.row(g).transpose() - inverse * at_.groups[f].row(g).transpose();
    const Vector own = block.llt().solve(slope);
    by.row(g) = own.transpose();
    length += own.dot(slope);
  }
  climb(step, std::vector<bool>(rows_.factors(), false), value(sums.value, at_));
  return std::sqrt(length / static_cast<double>(by.size()));
}

// To the mode along the directions that no row can tell apart: by the priors alone.
void Search::exchange(std::size_t f) {
  const Exchanges& exchanges = rows_.exchanges(f);
  if (exchanges.size() == 0) return;
  const Matrix inverse = inverse_of(covariances_[f]);
  const Matrix border = border_precision(at_.border);
  Matrix precision = exchanges.coefficients().transpose() * border * exchanges.coefficients();
  for (Index a = 0; a < exchanges.size(); ++a)
    for (Index b = 0; b < exchanges.size(); ++b)
      precision(a, b) += exchanges.products()(a, b) * inverse(exchanges.effect(a), exchanges.effect(b));
  const Vector slope =
      exchanges.sums(at_.groups[f] * inverse) + exchanges.coefficients().transpose() * border_slope(at_.border);
  const Vector amounts = precision.ldlt().solve(slope);
  exchanges.give(amounts, at_.groups[f]);
  at_.border += exchanges.coefficients() * amounts;
}

void Search::shift_outer(const Nesting& nesting) {
  RowMatrix& outer = at_.groups[nesting.outer];
  RowMatrix& inner = at_.groups[nesting.inner];
  const OuterShift shift(nesting, covariances_[nesting.outer], covariances_[nesting.inner]);
  RowMatrix by(outer.rows(), outer.cols());
  for (Index g = 0; g < by.rows(); ++g) by.row(g) = shift.mean(g, outer, inner).transpose();
  nesting.shift(by, outer, inner);
}

// Those of a factor and of the factors that it carries.
void Search::update_covariances(std::size_t f, const EffectSums& sums) {
  const CarriedEffects certain(rows_, f, sums, covariances_);
  std::vector<Matrix> now = covariances_;
  const auto update = [&](std::size_t of, auto&& variance) {
    const Index groups = rows_.layout().groups(of);
    Matrix sum = at_.groups[of].transpose() * at_.groups[of];
    for (Index g = 0; g < groups; ++g) sum += variance(g);
    now[of] = sum / static_cast<double>(groups);
    if (!model_.effects[of].prior.correlated) now[of] = Matrix(now[of].diagonal().asDiagonal());
  };
  update(f, [&](Index g) { return certain.own(g); });
  for (const std::size_t outer : rows_.carried_by(f)) {
    const Index k = rows_.layout().width(outer);
    update(outer, [&](Index g) { return inverse_of(certain.precisions(outer).middleRows(g * k, k)); });
  }
  covariances_ = std::move(now);
}

GroupAnchor Search::run() {
  constexpr int most_rounds = 25;
  GroupSums sums = pass(only(rows_.leading()), at_);
  for (int round = 0; round < most_rounds; ++round) {
    const std::vector<Matrix> before = covariances_;
    double longest = step_together(sums);
    for (std::size_t f = 0; f < rows_.factors(); ++f) {
      if (f == rows_.leading()) continue;
      const GroupSums own = pass(only(f), at_);
      longest = std::max(longest, step_alone(f, own));
      if (!rows_.is_carried(f)) update_covariances(f, own.effects[f]);
    }
    if (rows_.factors() > 1) sums = pass(only(rows_.leading()), at_);
    if (rows_.factors() > 0) update_covariances(rows_.leading(), sums.effects[rows_.leading()]);
    for (const Nesting& nesting : rows_.nestings()) shift_outer(nesting);
    for (std::size_t f = 0; f < rows_.factors(); ++f) exchange(f);
    double change = 0.0;
    for (std::size_t f = 0; f < before.size(); ++f) change = std::max(change, change_of(before[f], covariances_[f]));
    if (round > 2 && longest < 0.1 && change < 0.05) break;
  }

  // The scales of few groups are uncertain, and a group's radius should suit larger scales too.
  for (std::size_t f = 0; f < rows_.factors(); ++f)
    covariances_[f] *= 1.0 + 2.0 / std::sqrt(static_cast<double>(rows_.layout().groups(f)));
  const std::vector<bool> all(rows_.factors(), true);
  GroupSums sums_there = pass(all, at_);
  GroupMetric there = metric(sums_there);
  if (rows_.factors() > 0) {
    move_to_mean(rows_, there, metric(sums_there, Carried::fixed), execution_, at_);
    for (const Nesting& nesting : rows_.nestings()) shift_outer(nesting);
    ++passes_;
    queries_ += 2 * rows_.store().rows();
    there = metric(pass(all, at_));
  }
  return {at_, covariances_, std::move(there), queries_, passes_};
}

GroupMetric Search::metric(const GroupSums& sums, Carried carried) const {
  const bool free = carried == Carried::free;
  const std::size_t factors = rows_.factors(), lead = rows_.leading();
  std::size_t seen = 0;
  for (std::size_t f = 0; f < factors; ++f) seen += rows_.is_carried(f) ? 0 : 1;
  GroupMetric out;
  out.wider = seen > 1 ? 1.3 : 1.0;
  out.groups.resize(factors);
  out.exchanged.resize(factors);
  const auto precision = Precision::of(precision_of(sums, at_.border));
  if (!precision) throw InputError("the coefficients are not determined by the rows and their priors");
  out.border = precision->lower();
  for (std::size_t f = 0; f < factors; ++f) {
    if (rows_.is_carried(f)) continue;
    const Index k = rows_.layout().width(f), groups = rows_.layout().groups(f);
    const CarriedEffects certain(rows_, f, sums.effects[f], covariances_);
    out.groups[f].resize(groups * k, k);
    RowMatrix weights(k, groups);  // for the exchanges
    for (Index g = 0; g < groups; ++g) {
      const Matrix lower = inverse_of(free ? certain.seen(g) : certain.given_outer(g)).llt().matrixL();
      out.groups[f].middleRows(g * k, k) = lower / out.wider;
      weights.col(g) = (lower * lower.transpose()).diagonal();
    }
    for (const std::size_t outer : rows_.carried_by(f)) {
      const Index width = rows_.layout().width(outer);
      const RowMatrix& precisions = certain.precisions(outer);
      out.groups[outer].resizeLike(precisions);
      for (Index at = 0; at < precisions.rows(); at += width)
        out.groups[outer].middleRows(at, width) = Matrix(precisions.middleRows(at, width)).llt().matrixL();
    }
    if (f != lead) {
      out.exchanged[f] = fitted_exchanges(rows_.exchanges(f), weights);
      continue;
    }
    if (free)
      out.border = certain.border(out.border.triangularView<Eigen::Lower>() * out.border.transpose()).llt().matrixL();
    out.couplings = sums.effects[f].couplings;
    for (Index g = 0; g < groups; ++g) {
      auto own = out.couplings.middleRows(g * k, k);
      Matrix solved = own;
      Matrix(out.groups[f].middleRows(g * k, k)).triangularView<Eigen::Lower>().solveInPlace(solved);
      own = solved / (out.wider * out.wider);
    }
  }
  return out;
}

}  // namespace

GroupAnchor find_group_anchor(const GroupedRows& rows, const Execution& execution) {
  return Search(rows, execution).run();
}

}  // namespace flymc
