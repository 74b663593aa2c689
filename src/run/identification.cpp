// Three ways in which a likelihood can leave a coefficient open.
#include "identification.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "flymc/core/mention.hpp"
#include "flymc/core/names.hpp"

namespace flymc {

std::vector<std::string> unknown_parameters(const std::vector<std::string>& names, const Vector& laplace_sd,
                                            const Vector& prior_sd, std::size_t coefficients) {
  constexpr double limit = 0.9;  // the rows have added less than a quarter to the precision
  std::vector<std::string> unknown, out;
  const auto is_unknown = [&](std::size_t i) {
    return laplace_sd[static_cast<Index>(i)] > limit * prior_sd[static_cast<Index>(i)];
  };
  for (std::size_t i = 0; i < coefficients; ++i)
    if (is_unknown(i)) unknown.push_back(names[i]);
  if (!unknown.empty())
    out.push_back(fmt::format(
        "the posterior of {} is nearly the prior ({} of {} coefficients): the rows say little about {}; "
        "widen the prior if it is narrower than what you know ({}), or leave out columns that hardly vary",
        quoted_list(unknown, 5), unknown.size(), coefficients, unknown.size() == 1 ? "it" : "them", mention("prior")));
  for (std::size_t i = coefficients; i < names.size(); ++i)
    if (is_unknown(i))
      out.push_back(fmt::format(
          "the posterior of '{}' is nearly the prior: the rows say little about it; widen the prior if it is narrower "
          "than what you know ({}), or choose a family that has no '{}'",
          names[i], mention("prior"), names[i]));
  return out;
}

// With C the curvature scaled to a diagonal of ones, pivot j of its Cholesky factor is the share of column j that those
// before it do not explain, 1 - R^2.
std::vector<std::string> dependent_columns(const std::vector<std::string>& columns, const Matrix& curvature) {
  constexpr double unexplained = 1e-9, ridge = 1e-12, least_part = 1e-3;
  constexpr std::size_t most_shown = 5;
  const Vector size = curvature.diagonal().cwiseMax(0.0).cwiseSqrt();
  if (!curvature.allFinite() || !(size.array() > 0.0).all()) return {};
  Matrix scaled = size.cwiseInverse().asDiagonal() * curvature * size.cwiseInverse().asDiagonal();
  scaled.diagonal().array() += ridge;
  const Eigen::LLT<Matrix> llt(scaled);
  if (llt.info() != Eigen::Success) return {};
  const Vector pivots = Matrix(llt.matrixL()).diagonal().cwiseAbs2();
  std::vector<Index> free, bound;
  for (Index j = 0; j < pivots.size(); ++j) (pivots[j] < unexplained ? bound : free).push_back(j);
  if (bound.empty()) return {};
  const Eigen::LLT<Matrix> of_free(Matrix(scaled(free, free)));
  std::vector<std::string> said, later;
  for (const Index j : bound) {
    later.push_back(columns[static_cast<std::size_t>(j)]);
    if (said.size() == most_shown) continue;
    const Vector part = of_free.solve(Matrix(scaled(free, std::vector<Index>{j})).col(0));
    std::vector<std::string> of;
    for (std::size_t i = 0; i < free.size(); ++i)
      if (std::abs(part[static_cast<Index>(i)]) > least_part) of.push_back(columns[static_cast<std::size_t>(free[i])]);
    said.push_back(fmt::format("'{}' is a combination of {}", later.back(), quoted_list(of, 6)));
  }
  return {fmt::format(
      "columns depend on each other: {}{}; the rows know only sums of their coefficients, and the prior "
      "decides how these are shared out; leave {} out ({})",
      joined(said, ", "), bound.size() > most_shown ? fmt::format(" and {} more", bound.size() - most_shown) : "",
      bound.size() == 1 ? "it" : "them", mention("exclude"))};
}

namespace {

// What the rows of one class show of one column.
struct InClass {
  double smallest = HUGE_VAL, largest = -HUGE_VAL;
  bool has_zero = false, has_one = false, has_others = false;

  void add(double x) {
    smallest = std::min(smallest, x);
    largest = std::max(largest, x);
    has_zero = has_zero || x == 0.0;
    has_one = has_one || x == 1.0;
    has_others = has_others || (x != 0.0 && x != 1.0);
  }
  bool has_rows() const { return smallest <= largest; }
};
using Seen = std::vector<InClass>;  // by class

std::string separation_by(const Seen& seen, const std::string& column, const std::vector<std::string>& classes) {
  const auto name = [&](std::size_t k) { return classes.empty() ? fmt::format("{}", k) : classes.at(k); };
  if (std::ranges::any_of(seen, &InClass::has_others)) {
    const bool both = seen.size() == 2 && seen[0].has_rows() && seen[1].has_rows();
    if (both && (seen[0].largest <= seen[1].smallest || seen[1].largest <= seen[0].smallest))
      return fmt::format("the values of '{}' in class '{}' lie beyond all of those in class '{}'", column, name(1),
                         name(0));
    return "";
  }
  for (const int side : {1, 0}) {
    const auto has = side == 1 ? &InClass::has_one : &InClass::has_zero;
    if (std::ranges::none_of(seen, has)) continue;  // the intercept is never 0
    for (std::size_t k = 0; k < seen.size(); ++k)
      if (seen[k].has_rows() && !(seen[k].*has))
        return fmt::format("no row where '{}' is {} is of class '{}'", column, side, name(k));
  }
  return "";
}

}  // namespace

// At the mode the slope of the likelihood is minus that of the prior. Where a likelihood has no maximum, it is not small
// beside its curvature: of a column of 0 and 1 with one class only, sum (1 - p) against sum p (1 - p).
std::vector<std::string> separated_classes(const Store& store, const Model& model, const Laplace& laplace,
                                           const std::vector<std::string>& classes) {
  constexpr double hard = 0.3;
  constexpr std::size_t most_columns = 10;
  if (model.family().target_classes() == 0 || laplace.rows.size() == 0) return {};
  const Index features = store.features();
  Vector pull = Vector::Zero(laplace.mean.size());
  model.prior().surrogate(model.parameters(laplace.mean), pull);
  std::vector<std::pair<double, Index>> candidates;  // how hard, and the column
  for (Index j = 0; j < features; ++j) {
    double hardest = 0.0;
    for (Index i = j; i < pull.size(); i += features)
      hardest = std::max(hardest, std::abs(pull[i]) / laplace.rows(i, i));
    if (hardest > hard) candidates.emplace_back(-hardest, j);
  }
  if (candidates.empty()) return {};
  std::ranges::sort(candidates);
  candidates.resize(std::min(candidates.size(), most_columns));
  std::vector<Seen> seen(candidates.size(), Seen(static_cast<std::size_t>(model.family().target_classes())));
  for (RowId row = 0; row < store.rows(); ++row) {
    const RowFacts facts = store.facts(row);
    if (!(facts.weight > 0.0)) continue;
    for (std::size_t c = 0; c < candidates.size(); ++c)
      seen[c][static_cast<std::size_t>(facts.target)].add(store.value(row, candidates[c].second));
  }
  std::vector<std::string> said;
  for (std::size_t c = 0; c < candidates.size(); ++c)
    if (auto how = separation_by(seen[c], store.columns()[static_cast<std::size_t>(candidates[c].second)], classes);
        !how.empty())
      said.push_back(std::move(how));
  if (said.empty()) return {};
  return {
      fmt::format("classes are separated: {}; the likelihood grows with the coefficient without end, and how far it "
                  "goes is decided by the prior alone; merge the level with another, leave the column out, or choose "
                  "the prior with care ({})",
                  joined(said, ", "), mention("prior"))};
}

}  // namespace flymc
