// Finds coefficients that the likelihood leaves open, in three ways.
#include "identification.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "flymc/bright/density.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/core/names.hpp"

namespace flymc {

// A positive parameter is also compared with its prior on the logarithmic scale: a shape that the rows estimate as 1000
// with an error of 4 % has a wider posterior than a prior around 0, and is nevertheless identified. If the rows only
// show that the shape kappa is large, the likelihood tends to exp(-a / kappa). With the prior's tail kappa^-(nu + 1),
// the standard deviation of log kappa is then 1 / sqrt(nu).
std::vector<std::string> unknown_parameters(const std::vector<std::string>& names, const Approximation& posterior,
                                            const Approximation& prior, std::size_t coefficients) {
  constexpr double limit = 0.9;  // the rows have added less than a quarter to the precision
  constexpr double far = 4.0;    // prior sds; a posterior as wide as the prior but this far away was moved by the rows
  constexpr double roughly = 0.4;  // relative sd; a parameter with a smaller one is identified by the rows
  std::vector<std::string> unknown, out;
  const auto is_unknown = [&](std::size_t at) {
    const auto i = static_cast<Index>(at);
    const double sd = posterior.sd[i], mean = posterior.mean[i], of_prior = prior.sd[i], centre = prior.mean[i];
    if (!(sd > limit * of_prior)) return false;
    if (at < coefficients) return std::abs(mean - centre) < far * of_prior;
    return sd > mean * (limit * of_prior < roughly * centre ? limit * of_prior / centre : roughly);
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

// If C is the curvature scaled to a diagonal of ones, pivot j of its Cholesky factor is 1 - R^2, the share of column j
// that the columns before it do not explain.
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

// Summary of one column over the rows of one class.
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
  void add(const InClass& other) {
    smallest = std::min(smallest, other.smallest);
    largest = std::max(largest, other.largest);
    has_zero = has_zero || other.has_zero;
    has_one = has_one || other.has_one;
    has_others = has_others || other.has_others;
  }
  bool has_rows() const { return smallest <= largest; }
  // False if both are one and the same number.
  bool lies_beyond(const InClass& other) const {
    return (other.largest <= smallest || largest <= other.smallest) &&
           !(smallest == other.largest && largest == other.smallest);
  }
};
using Seen = std::vector<InClass>;  // by class; for an ordered target by cut point, below and above it

// The classes that a column may separate, for each kind of family.
//
// A count or a share of trials is in class 0 if a linear predictor far above 0 would make it unlikely, and in class 1
// if one far below 0 would. So a count of 0 is in class 0 alone, a share of 1 in class 1 alone, and all others are in
// both. An observed time is in both classes, a censored one in one of them.
class Classes {
 public:
  Classes(const Model& model, const Vector& mode, const std::vector<std::string>& names)
      : family_(model.family()),
        names_(names),
        shape_(mode[mode.size() - 1]),
        scaled_(model.scales_coefficients()),
        cuts_(model.cuts()) {}

  Index cuts() const { return cuts_; }
  // The number of classes. 0 if targets of this family cannot be separated.
  std::size_t count() const {
    if (cuts_ > 0) return 2 * static_cast<std::size_t>(cuts_);
    if (by_target()) return static_cast<std::size_t>(family_.target_classes());
    const double eta = 0.0;
    const bool known =
        scaled_ || family_.arrangement().last_is_shared() || (family_.predictors() == 1 && family_.variance({&eta, 1}));
    return known ? 2 : 0;
  }
  // Calls f with the classes of a row.
  template <class F>
  void each(const RowCopies& rows, std::size_t i, const RowFacts& facts, F&& f) {
    if (cuts_ > 0 || by_target()) {
      const double classes = cuts_ > 0 ? 2.0 : static_cast<double>(family_.target_classes());
      if (!(facts.target >= 0.0 && facts.target < classes)) return;  // only in a forged file of rows
      const auto target = static_cast<std::size_t>(facts.target);
      if (cuts_ == 0) return f(target);
      Index cut = 0;
      while (cut + 1 < cuts_ && rows.value(i, cut) == 0.0) ++cut;
      return f(2 * static_cast<std::size_t>(cut) + target);
    }
    if (!(facts.target < HUGE_VAL)) return;
    smallest_ = std::min(smallest_, facts.target);
    if (costs(facts.target, far)) f(0);
    if (costs(facts.target, -far)) f(1);
  }

  // Describes how a column separates the observed classes. Empty if it does not.
  std::string separation_by(const Seen& seen, const std::string& column) const {
    if (std::ranges::any_of(seen, &InClass::has_others)) {
      const auto [k, found] = beyond_others(seen);
      return !found      ? ""
             : cuts_ > 0 ? fmt::format("the values of '{}' rise or fall with the classes, without overlap", column)
             : by_target()
                 ? fmt::format("the values of '{}' in class '{}' lie beyond all of those in {}", column, name(k),
                               seen.size() == 2 ? fmt::format("class '{}'", name(1 - k)) : "other classes")
                 : fmt::format("the values of '{}' in rows that have {} lie beyond all others", column, name(k));
    }
    const Seen sides = cuts_ > 0 ? both_sides(seen) : seen;
    for (const int side : {1, 0}) {
      const auto has = side == 1 ? &InClass::has_one : &InClass::has_zero;
      if (std::ranges::none_of(sides, has)) continue;  // an intercept is never 0
      for (std::size_t k = 0; k < sides.size(); ++k)
        if (sides[k].has_rows() && !(sides[k].*has))
          return fmt::format("no row where '{}' is {} {} {}", column, side, by_target() ? "is of class" : "has",
                             by_target() ? "'" + name(k) + "'" : name(k));
    }
    return "";
  }
  std::string absence_of(std::size_t k) const {
    return by_target() ? fmt::format("no row is of class '{}'", name(k)) : fmt::format("no row has {}", name(k));
  }
  // Whether the column certainly does not separate the classes, whatever the remaining rows are.
  bool settled(const Seen& seen) const {
    if (!std::ranges::all_of(seen, &InClass::has_rows)) return false;
    if (std::ranges::any_of(seen, &InClass::has_others)) return !beyond_others(seen).second;
    return std::ranges::all_of(seen, [](const InClass& one) { return one.has_zero && one.has_one; });
  }
  std::string what_is_separated() const { return by_target() ? "classes are separated" : "a coefficient has no end"; }

 private:
  static constexpr double far = 40.0, flat = 1e-9;
  bool by_target() const { return family_.target_classes() > 0; }
  bool costs(double target, double eta) const {
    const double at[2] = {eta, shape_};
    double value = 0.0, slope[2] = {};
    const auto k = static_cast<std::size_t>(family_.predictors());
    family_.likelihood(FactSpans(&target, 1), {at, k}, {&value, 1}, {slope, k}, {});
    return std::abs(slope[0]) > flat;
  }
  static Seen both_sides(const Seen& seen) {
    Seen out(2);
    for (std::size_t i = 0; i < seen.size(); ++i) out[i % 2].add(seen[i]);
    return out;
  }
  // The class whose values lie beyond those of all others, and whether there is one. For an ordered target the sides of
  // each cut point must be separated in the same direction.
  std::pair<std::size_t, bool> beyond_others(const Seen& seen) const {
    if (cuts_ > 0) {
      bool rises = true, falls = true;
      for (std::size_t cut = 0; cut < seen.size(); cut += 2) {
        if (!seen[cut].has_rows() || !seen[cut + 1].has_rows()) return {0, false};
        rises = rises && seen[cut].largest <= seen[cut + 1].smallest;
        falls = falls && seen[cut + 1].largest <= seen[cut].smallest;
      }
      return {0, rises || falls};
    }
    for (std::size_t k = seen.size(); k-- > 0;) {
      InClass others;
      for (std::size_t i = 0; i < seen.size(); ++i)
        if (i != k) others.add(seen[i]);
      if (seen[k].has_rows() && others.has_rows() && seen[k].lies_beyond(others)) return {k, true};
    }
    return {0, false};
  }
  std::string name(std::size_t k) const {
    if (by_target()) return names_.empty() ? fmt::format("{}", k) : names_.at(k);
    if (scaled_) return "an event that was seen";
    if (family_.weight_is_trials()) return k == 0 ? "a failure" : "a success";
    return fmt::format("a target above {}", smallest_);
  }

  const BatchedFamily& family_;
  const std::vector<std::string>& names_;
  double shape_;  // the last entry of the mode, for families with a shape
  bool scaled_;
  Index cuts_;
  double smallest_ = HUGE_VAL;
};

// Whether the rows hardly distinguish the shape from a much larger one, as for counts with Poisson variance.
bool has_no_end(const Store& store, const Model& model, const Vector& mode) {
  constexpr double much = 1e4, hardly = 10.0;  // times the shape; in nats
  const FullDensity density(store, model);
  const State none(mode, 0);
  const auto of_rows = [&](const Vector& theta) {
    Evaluation at;
    density.evaluate(theta, none.z, false, at);
    return at.log_density - model.prior().log_density(model.parameters(theta)) - theta[theta.size() - 1];
  };
  Vector parameters = model.parameters(mode);
  parameters[mode.size() - 1] *= much;
  return of_rows(mode) - of_rows(model.theta(parameters)) < hardly;
}

}  // namespace

// At the mode the slope of the likelihood is minus that of the prior. If a likelihood has no maximum, its slope is
// large relative to its curvature: for a 0/1 column with one class only, sum (1 - p) against sum p (1 - p). Columns are
// ranked by this ratio. For the first ones, rows are read until each is known not to separate the classes: a few rows,
// unless a level is rare.
std::vector<std::string> separated_classes(const Store& store, const Model& model, const Laplace& laplace,
                                           const std::vector<std::string>& names, std::vector<Index>& columns) {
  constexpr std::size_t most_columns = 50, most_shown = 5;
  constexpr RowId at_once = 1024;
  Classes classes(model, laplace.mean, names);
  if (classes.count() == 0 || laplace.rows.size() == 0) return {};
  const Index features = store.features(), last = model.before_block(features);
  Vector pull = Vector::Zero(laplace.mean.size());
  model.term().surrogate(laplace.mean, pull);
  struct Candidate {
    double softness;
    Index column;
    Seen seen;
  };
  std::vector<Candidate> candidates;
  for (Index j = classes.cuts(); j < last; ++j) {
    if (store.columns()[static_cast<std::size_t>(j)] == "intercept") continue;
    double hardest = 0.0;
    for (Index i = j; i < pull.size(); i += features)
      hardest = std::max(hardest, std::abs(pull[i]) / laplace.rows(i, i));
    candidates.push_back({-hardest, j, Seen(classes.count())});
  }
  std::ranges::sort(candidates, {}, &Candidate::softness);
  candidates.resize(std::min(candidates.size(), most_columns));
  RowCopies some;
  FactColumns facts;
  std::vector<RowId> rows;
  Seen present(classes.count());  // the classes seen so far
  const auto all_present = [&] { return std::ranges::all_of(present, &InClass::has_rows); };
  for (RowId first = 0; first < store.rows() && !(candidates.empty() && all_present()); first += at_once) {
    rows.resize(static_cast<std::size_t>(std::min(at_once, store.rows() - first)));
    std::iota(rows.begin(), rows.end(), first);
    some.copy(store, rows, facts);
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (const RowFacts here = facts.spans()[i]; here.weight > 0.0)
        classes.each(some, i, here, [&](std::size_t k) {
          present[k].add(1.0);
          for (Candidate& one : candidates) one.seen[k].add(some.value(i, one.column));
        });
    std::erase_if(candidates, [&](const Candidate& one) { return classes.settled(one.seen); });
  }
  std::vector<std::string> said;
  if (const auto absent = std::ranges::find_if_not(present, &InClass::has_rows);
      absent != present.end() && classes.cuts() == 0) {
    // Adds every coefficient, including the intercept's.
    for (Index j = 0; j < last; ++j) columns.push_back(j);
    return {fmt::format(
        "{}, so the rows do not limit the intercept on one side, and how far it goes is decided by the prior "
        "alone; choose the prior with care ({})",
        classes.absence_of(static_cast<std::size_t>(absent - present.begin())), mention("prior"))};
  }
  for (const Candidate& one : candidates)
    if (auto how = classes.separation_by(one.seen, store.columns()[static_cast<std::size_t>(one.column)]);
        !how.empty()) {
      said.push_back(std::move(how));
      columns.push_back(one.column);
    }
  if (said.empty()) return {};
  if (said.size() > most_shown) {
    const std::size_t more = said.size() - most_shown;
    said.resize(most_shown);
    said.back() += fmt::format(" (and {} more)", more);
  }
  return {fmt::format(
      "{}: {}; the likelihood grows with the coefficient without end, and how far it goes is decided by the "
      "prior alone; merge the level with another, leave the column out, or choose the prior with care ({})",
      classes.what_is_separated(), joined(said, ", "), mention("prior"))};
}

std::vector<Index> without_moments(const Store& store, const Model& model, const std::vector<Index>& separating,
                                   const Vector& mode) {
  constexpr double enough = 2.0;  // degrees of freedom; with 1 or fewer the mean does not exist either
  const auto has_long_tail = [&](Index entry) {
    const auto prior = model.prior().student_t_of(entry);
    return prior && prior->nu <= enough;
  };
  std::vector<Index> out;
  for (const Index column : separating)
    for (Index k = 0; k < model.arrangement().blocks(); ++k)
      if (const Index entry = column + k * store.features(); has_long_tail(entry)) out.push_back(entry);
  const Index last = mode.size() - 1;
  const bool shape = model.positive(last, mode.size()) && !model.scales_coefficients();
  if (shape && has_long_tail(last) && has_no_end(store, model, mode)) out.push_back(last);
  return out;
}

}  // namespace flymc
