// Checks the laws of families and bounds on random tables, anchors and thetas.
//
// This file is longer than others, because all laws are checked on one random table and share its state.
#include "flymc/bound/laws.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "flymc/bound/bound.hpp"
#include "flymc/core/error.hpp"

namespace flymc {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr double smallest = std::numeric_limits<double>::min();  // smaller numbers lose digits
constexpr Index rows_per_table = 64;
constexpr int thetas_per_table = 25;

// A stream of numbers for the checker's own choices.
class Dice {
 public:
  Dice(std::uint64_t seed, std::uint64_t table) : random_(seed, table, 0) {}
  double uniform(double low, double high) { return low + (high - low) * random_.uniform(Purpose::simulate, next_++); }
  double power_of_ten(double low, double high) { return std::pow(10.0, uniform(low, high)); }
  double normal() {
    double z = 0.0;
    random_.normals(Purpose::simulate, next_++, {&z, 1});
    return z;
  }
  Vector normals(Index size) {
    Vector z(size);
    for (double& x : z) x = normal();
    return z;
  }

 private:
  PhiloxRandom random_;
  std::uint64_t next_ = 0;
};

// The same rows, with the `count` features from `first` on as one code.
Store with_code(const Store& plain, Index first, Index count) {
  std::vector<Index> levels(static_cast<std::size_t>(first), 0);
  levels.push_back(count);
  levels.resize(static_cast<std::size_t>(plain.features() - count + 1), 0);
  StoreBuilder builder(Layout(plain.columns(), plain.number_type(), levels), plain.fact_kinds());
  for (RowId i = 0; i < plain.rows(); ++i) {
    std::vector<double> cells;
    for (Index j = 0; j < first; ++j) cells.push_back(plain.value(i, j));
    cells.push_back(0.0);
    for (Index j = first; j < first + count; ++j)
      if (plain.value(i, j) == 1.0) cells.back() = static_cast<double>(j - first + 1);
    for (Index j = first + count; j < plain.features(); ++j) cells.push_back(plain.value(i, j));
    builder.append(cells, plain.facts(i));
  }
  return builder.finish();
}

// One random table with its anchor and its bound, on which the laws are checked.
class Table {
 public:
  Table(const Model& model, std::shared_ptr<const BoundRule> rule, std::uint64_t seed, std::uint64_t number,
        LawReport& report)
      : model_(model), rule_(std::move(rule)), dice_(seed, number), report_(report) {
    const Index k = model_.predictors();
    // Every fourth table has a code after its numbers.
    const bool coded = number % 4 == 3;
    const Arrangement arrangement = model_.arrangement();
    const Index numbers = 1 + static_cast<Index>(dice_.uniform(0.0, 5.0)), levels = coded ? 3 : 0,
                ones = arrangement.last_is_shared() ? 1 : 0, d = numbers + levels + ones,
                entries = arrangement.entries(d);
    anchor_ = dice_.power_of_ten(-2.0, 1.0) * dice_.normals(entries);
    if (ones > 0) anchor_[entries - 1] = 2.0 * dice_.normal();  // a shape's logarithm
    RowMatrix x(rows_per_table, d);
    Vector y(rows_per_table);
    const PhiloxRandom targets(seed, number, 1);
    for (Index i = 0; i < rows_per_table; ++i) {
      x.row(i) = (i % 4 == 0 ? dice_.power_of_ten(-3.0, 3.0) : 1.0) * dice_.normals(d).transpose();
      if (coded) x.row(i).segment(numbers, levels).setZero();
      if (ones > 0) x(i, d - 1) = 1.0;
      if (const Index code = i % (levels + 1); code > 0) x(i, numbers + code - 1) = 1.0;
      // Some likelihoods overflow at predictors that are unremarkable for others.
      const auto predictors = [&] { return Vector((x.row(i) * arrangement.columns(anchor_)).transpose()); };
      for (int times = 0; times < 20 && !in_range(predictors()); ++times) x.row(i).head(numbers) *= 0.1;
      // Targets are simulated at the row's own predictors, or far from them, which makes them very unlikely.
      Vector eta = predictors();
      if (i % 2 == 0) eta += dice_.power_of_ten(-1.0, 4.0) * dice_.normals(k);
      y[i] =
          model_.family().simulate({eta.data(), static_cast<std::size_t>(k)}, targets, static_cast<std::uint64_t>(i));
    }
    // Every third table has weights, and every third has offsets if the family takes them.
    Vector weights, offsets;
    if (number % 3 == 1) weights = Vector::NullaryExpr(rows_per_table, [&] { return dice_.power_of_ten(-3.0, 3.0); });
    if (number % 3 == 1) weights[3] = 0.0;
    if (number % 3 == 2 && !model_.family().only_differences())
      offsets = dice_.power_of_ten(-1.0, 1.0) * dice_.normals(rows_per_table);
    store_ = std::make_unique<Store>(Store::from_matrix(x, y, {}, NumberType::float64, weights, offsets));
    if (coded) store_ = std::make_unique<Store>(with_code(*store_, numbers, levels));
    const Matrix half = Matrix::NullaryExpr(entries, entries, [&] { return dice_.normal(); });
    metric_ = Precision::of(dice_.power_of_ten(-2.0, 6.0) *
                            (half * half.transpose() + 0.1 * Matrix::Identity(entries, entries)));
    bound_ = std::make_unique<Bound>(*store_, model_.shared_family(), rule_, anchor_, Execution{threads_}, metric_);
    for (RowId row = 0; row < rows_per_table; ++row)
      if (!bound_->lit().contains(row)) ids_.push_back(row);
    bound_->prepare(*store_, ids_, fixed_);
  }

  void check() {
    check_family();
    for (int t = 0; t < thetas_per_table; ++t) {
      const Vector theta = anchor_ + change(t);
      report_.pairs += std::max<std::size_t>(1, fixed_.size());
      guard([&] { check_theta(theta); });
    }
    guard([&] { check_gradients(anchor_ + std::min(1.0, 0.5 * rule_->radius()) * direction()); });
    if (std::isfinite(rule_->radius())) guard([&] { check_gradients(anchor_ + 2.0 * rule_->radius() * direction()); });
  }

 private:
  // The library throws if a bound lies above its likelihood; this counts it as one more failure.
  template <class Check>
  void guard(const Check& check) {
    try {
      check();
    } catch (const BoundViolation& violation) {
      fail("below", violation.what());
    }
  }

  // Whether a row with these predictors, and with predictors a few times as large, has a finite likelihood in double
  // precision, with a curvature small enough for finite differences.
  bool in_range(const Vector& eta) const {
    constexpr double most = 1e8;
    const auto k = static_cast<std::size_t>(model_.predictors());
    double l = 0.0;
    std::vector<double> slopes(k), bends(k * k);
    const Vector far = 4.0 * eta, elsewhere = -eta;
    for (const Vector& from : {eta, elsewhere}) {  // targets that fit, and targets that do not
      const double y = model_.family().simulate(as_span(from), PhiloxRandom(1, 0, 0), 0);
      model_.family().likelihood({{&y, 1}}, as_span(far), {&l, 1}, slopes, bends);
      if (!std::isfinite(l) || !std::isfinite(slopes[0]) || !std::isfinite(bends[0])) return false;
      model_.family().likelihood({{&y, 1}}, as_span(eta), {}, {}, bends);
      if (!(std::abs(bends[0]) < most)) return false;
    }
    return true;
  }

  // A random direction of length 1 in the metric.
  Vector direction() {
    const Vector u = metric_->unwhiten(dice_.normals(anchor_.size()));
    return u / metric_->length(u);
  }

  // The direction of length 1 in which a row's change is as large as its reach allows, P^-1 x (for several predictors,
  // for the difference of the first two). A bound that uses the reach is tightest only there.
  Vector towards(RowId row) {
    const Index d = store_->features();
    const double one = 1.0;
    Matrix x = Matrix::Zero(d, 1);
    store_->add_weighted_rows({&row, 1}, {&one, 1}, x);
    Matrix columns = Matrix::Zero(d, model_.predictors());
    columns.col(0) = x;
    if (model_.predictors() > 1) columns.col(1) = -x;
    const Vector form = model_.arrangement().entries_of(columns);
    const Vector u = metric_->solve(form);
    return u / metric_->length(u);
  }

  Vector change(int t) {
    const double radius = rule_->radius();
    if (t == 0) return Vector::Zero(anchor_.size());
    if (std::isfinite(radius) && t < 5) return (1.0 + (t % 2 ? 1e-9 : -1e-9)) * radius * direction();
    if (std::isfinite(radius) && t < 10) return dice_.uniform(0.0, 1.0) * radius * direction();
    if (rule_->uses_spread() && t < 15 && !ids_.empty())
      return std::min(radius, 10.0) * dice_.uniform(0.0, 1.0) *
             towards(ids_[static_cast<std::size_t>(t) % ids_.size()]);
    const Vector u = dice_.normals(anchor_.size());
    return dice_.power_of_ten(-9.0, t % 5 == 0 ? 7.0 : 1.0) * u;
  }

  void fail(const char* law, const std::string& what) {
    ++report_.failures;
    if (report_.examples.size() < 10) report_.examples.push_back(fmt::format("{}: {}", law, what));
  }

  void fail(const char* law, std::size_t row, const std::string& what) {
    fail(law, fmt::format("{} (family {}, bound {}, target {}, eta at the anchor {:.6g})", what, model_.family().name(),
                          rule_->name(), fixed_.facts.target[row], fmt::join(etas(row), ", ")));
  }

  std::span<const double> etas(std::size_t row) const {
    const auto k = static_cast<std::size_t>(model_.predictors());
    return std::span<const double>(fixed_.eta_anchor).subspan(row * k, k);
  }

  double value(const FactSpans& row, const Vector& eta) const {
    double out = 0.0;
    model_.family().likelihood(row, as_span(eta), {&out, 1}, {}, {});
    return out;
  }
  Vector slope(const FactSpans& row, const Vector& eta) const {
    Vector out(eta.size());
    model_.family().likelihood(row, as_span(eta), {}, {out.data(), as_span(eta).size()}, {});
    return out;
  }
  double remainder(const FactSpans& row, const Vector& eta, const Vector& delta) const {
    double out = 0.0;
    model_.family().remainder(row, as_span(eta), as_span(delta), {&out, 1}, {});
    return out;
  }
  static std::span<const double> as_span(const Vector& v) { return {v.data(), static_cast<std::size_t>(v.size())}; }

  // The laws differences, remainder, slope and curvature, which concern the family alone, at each row's predictors and
  // with weight 1. Lengths are measured in 1 / sqrt(C), C the largest global curvature, so that results do not depend
  // on units.
  void check_family() {
    const Index k = model_.predictors();
    for (std::size_t i = 0; i < fixed_.size(); ++i) {
      const FactSpans y(&fixed_.facts.target[i], 1);
      const Vector eta = Eigen::Map<const Vector>(etas(i).data(), k);
      Matrix curvature(k, k), global(k, k);
      model_.family().likelihood(y, as_span(eta), {}, {}, {curvature.data(), static_cast<std::size_t>(k * k)});
      model_.family().scale_curvature(y, as_span(eta), {global.data(), static_cast<std::size_t>(k * k)});
      const double c = global.diagonal().maxCoeff();
      if (model_.family().has_global_curvature() && (!(c > 0.0) || !global.isApprox(global.transpose())))
        fail("curvature", i, "the global curvature is not a symmetric positive matrix");
      double unit = c > 0.0 ? 1.0 / std::sqrt(c) : 1.0;
      if (!model_.family().has_global_curvature()) unit = std::min(unit, model_.family().unit());
      const Vector u = dice_.normals(k).normalized();

      if (model_.family().only_differences()) {
        const double here = value(y, eta), moved = value(y, eta.array() + unit);
        const double size = std::abs(here) + slope(y, eta).cwiseAbs().sum() * (eta.norm() + unit);
        if (!(std::abs(moved - here) <= 1e3 * epsilon * size))
          fail("differences", i, fmt::format("{:.9g} after {:.9g} when all predictors move", moved, here));
      }

      for (const double length : {1e-7, 1e-3, 1.0, 50.0}) {
        const Vector delta = length * unit * u;
        const double before = value(y, eta), after = value(y, eta + delta), line = slope(y, eta).dot(delta);
        const double direct = after - before - line;
        const double own = remainder(y, eta, delta);
        const double size = std::abs(after) + std::abs(before) + std::abs(line) +
                            (slope(y, eta + delta).cwiseAbs().sum()) * (eta.norm() + delta.norm());
        const double bend = 0.5 * c * delta.squaredNorm();
        if (!(std::abs(own - direct) <= 1e3 * epsilon * size + 1e-9 * bend + smallest))
          fail("remainder", i,
               fmt::format("{:.17g} instead of {:.17g} where eta changes by {:.3g}", own, direct, delta.norm()));
        // As delta vanishes, only the second-order term remains.
        const double second = -0.5 * delta.dot(curvature * delta);
        if (length == 1e-7 && !(std::abs(own - second) <= 1e-4 * bend + smallest))
          fail("remainder", i,
               fmt::format("{:.17g} instead of {:.17g} where eta changes by {:.3g}", own, second, delta.norm()));
      }

      // |l'''| <= T: between two points the curvature changes by at most T times their distance, in either direction.
      if (const auto third = model_.family().largest_third_derivative())
        for (const double length : {-10.0, -1.0, -0.1, 0.1, 1.0, 10.0}) {
          const double moved_eta = eta[0] + length * unit;
          double there = 0.0;
          model_.family().likelihood(y, {&moved_eta, 1}, {}, {}, {&there, 1});
          const double change = std::abs(there - curvature(0, 0)), most = *third * std::abs(length * unit);
          if (!(change <= most + 1e-9 * c + 1e2 * epsilon * *third * std::abs(eta[0])))
            fail("third derivative", i,
                 fmt::format("the curvature changes by {:.6g} over {:.3g}, and at most {:.6g} is said to be possible",
                             change, std::abs(length * unit), most));
        }

      const double h = 1e-5 * unit;
      const double noise = epsilon / h * (1.0 + eta.norm() / unit);
      const double up = value(y, eta + h * u), down = value(y, eta - h * u);
      if (!(std::abs((up - down) / (2.0 * h) - slope(y, eta).dot(u)) <=
            1e-7 / unit + 10.0 * noise * (std::abs(up) + std::abs(down)) + 10.0 * noise * slope(y, eta).norm() * unit))
        fail("slope", i, fmt::format("{:.9g} instead of {:.9g}", slope(y, eta).dot(u), (up - down) / (2.0 * h)));
      const Vector bend = (slope(y, eta - h * u) - slope(y, eta + h * u)) / (2.0 * h);
      if (!((bend - curvature * u).norm() <= 1e-4 * c + 100.0 * noise * slope(y, eta).norm()))
        fail("curvature", i, fmt::format("{:.9g} instead of {:.9g}", (curvature * u).norm(), bend.norm()));
    }
  }

  // The laws below, tight and collapse at one theta, for all rows of the table.
  void check_theta(const Vector& theta) {
    const Index k = model_.predictors();
    const BoundPoint point = bound_->at(theta, false);
    const auto n = fixed_.size();
    Gaps gaps;
    bound_->gaps(fixed_, point, false, gaps);
    const bool touches = fixed_.coefficients.value_drop.empty();
    double sum = 0.0, size_of_sum = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
      const Vector eta = Eigen::Map<const Vector>(etas(i).data(), k);
      Vector delta(k);
      store_->project({&ids_[i], 1}, point.change, {delta.data(), static_cast<std::size_t>(k)});
      const Quadratic bound = log_bound(i, eta, delta, point);
      sum += bound.value;
      size_of_sum += bound.size;
      const double likelihood = value(fixed_.facts.spans().row(i), eta + delta);
      // Rounding of eta + delta changes the likelihood by its slope. Numbers below `denormal` have few digits.
      constexpr double denormal = 1e-300;
      // The remainder is accurate to some ulps of the global curvature's quadratic form.
      const double form = 0.5 * delta.cwiseAbs().dot(global(i).cwiseAbs() * delta.cwiseAbs());
      const double rounding =
          64.0 * epsilon *
              (bound.size + form + std::abs(likelihood) +
               slope(fixed_.facts.spans().row(i), eta + delta).cwiseAbs().sum() * (eta.norm() + delta.norm())) +
          denormal;
      if (!(bound.value <= likelihood + rounding))
        fail("below", i,
             fmt::format("log B = {:.17g} above log L = {:.17g} where eta changes by {:.6g}", bound.value, likelihood,
                         fmt::join(as_span(delta), ", ")));
      if (!(std::abs(gaps.gap[i] - (likelihood - bound.value)) <= 2.0 * rounding))
        fail("below", i,
             fmt::format("gap {:.17g}, but log L - log B = {:.17g}", gaps.gap[i], likelihood - bound.value));
      if (touches && theta == anchor_ && gaps.gap[i] != 0.0)
        fail("tight", i, fmt::format("the gap at the anchor is {:.3g}", gaps.gap[i]));
    }
    // Lit rows contribute their own quadratics to the collapsed sum.
    const BoundRows& lit = bound_->lit().fixed;
    for (std::size_t i = 0; i < lit.size(); ++i) {
      const Vector eta = Eigen::Map<const Vector>(lit.eta_anchor.data() + i * static_cast<std::size_t>(k), k);
      Vector delta(k);
      store_->project({&lit.row[i], 1}, point.change, {delta.data(), static_cast<std::size_t>(k)});
      const FactSpans row = lit.facts.spans().row(i);
      const Eigen::Map<const Matrix> c(lit.coefficients.curvature.data() + i * static_cast<std::size_t>(k * k), k, k);
      const double line = slope(row, eta).dot(delta), form = 0.5 * delta.dot(c * delta);
      sum += value(row, eta) + line - form;
      size_of_sum += std::abs(value(row, eta)) + std::abs(line) + std::abs(form);
    }
    if (!(std::abs(bound_->log_sum(point) - sum) <= 1e-10 * size_of_sum))
      fail("collapse", fmt::format("{:.17g} instead of {:.17g} (family {}, bound {})", bound_->log_sum(point), sum,
                                   model_.family().name(), rule_->name()));
  }

  Matrix global(std::size_t i) const {
    const Index k = model_.predictors();
    Matrix out(k, k);
    model_.family().scale_curvature(fixed_.facts.spans().row(i), etas(i),
                                    {out.data(), static_cast<std::size_t>(k * k)});
    return out;
  }

  // v + s'delta - delta'(c + k rho) delta / 2 from its coefficients, and the magnitude of its terms.
  struct Quadratic {
    double value, size;
  };
  Quadratic log_bound(std::size_t i, const Vector& eta, const Vector& delta, const BoundPoint& point) const {
    const Index k = model_.predictors();
    const auto at = [k, i](const std::vector<double>& values) {
      return Eigen::Map<const Matrix>(values.data() + i * static_cast<std::size_t>(k * k), k, k);
    };
    const Coefficients& c = fixed_.coefficients;
    double v = value(fixed_.facts.spans().row(i), eta);
    Vector s = slope(fixed_.facts.spans().row(i), eta);
    Matrix bend = at(c.curvature);
    if (rule_->grows()) bend += point.rho * at(c.growth);
    if (!c.value_drop.empty()) v -= c.value_drop[i];
    if (!c.slope_drop.empty()) s -= Eigen::Map<const Vector>(c.slope_drop.data() + i * static_cast<std::size_t>(k), k);
    const double form = 0.5 * delta.dot(bend * delta);
    const double form_size = 0.5 * delta.cwiseAbs().dot(bend.cwiseAbs() * delta.cwiseAbs());
    return {v + s.dot(delta) - form, std::abs(v) + s.cwiseAbs().dot(delta.cwiseAbs()) + form_size};
  }

  // Gradients of the collapsed sum and slopes of the gaps by central differences.
  void check_gradients(const Vector& theta) {
    const Vector u = direction();
    const double h = 1e-5;
    const auto sum_at = [&](double t) { return bound_->log_sum(bound_->at(theta + t * u, false)); };
    const BoundPoint point = bound_->at(theta, true);
    Vector gradient = Vector::Zero(theta.size());
    bound_->log_sum(point, &gradient);
    point.pull_to_theta(gradient);
    const double along = gradient.dot(u);
    const double difference = (sum_at(h) - sum_at(-h)) / (2.0 * h);
    const double size = std::abs(sum_at(0.0)) + gradient.cwiseAbs().dot(u.cwiseAbs()) + 1.0;
    if (!(std::abs(difference - along) <= 1e-6 * size))
      fail("collapse", fmt::format("gradient {:.9g} instead of {:.9g} (family {}, bound {})", along, difference,
                                   model_.family().name(), rule_->name()));

    // Slopes row by row, with a step that moves the row's predictors by a small part of its own unit of length.
    const auto k = static_cast<std::size_t>(model_.predictors());
    // The move of the zone's point: beyond the radius it stays on the border and is slower than theta.
    Vector point_move = u;
    if (point.outside())
      point_move = (u - point.from_anchor * (point.rho_gradient.dot(u) / (point.beyond * point.rho))) / point.beyond;
    for (std::size_t i = 0; i < fixed_.size(); ++i) {
      BoundRows row;
      row.append(fixed_, i);
      std::vector<double> move(k), delta(k);
      store_->project(row.row, model_.arrangement().columns(point_move), move);
      store_->project(row.row, point.change, delta);
      const auto gaps_at = [&](double t, bool slopes) {
        Gaps gaps;
        bound_->gaps(row, bound_->at(theta + t * u, slopes), slopes, gaps);
        return gaps;
      };
      const Gaps here = gaps_at(0.0, true);
      // The likelihood may have more curvature here than at the anchor; the step must be small for both.
      std::vector<double> eta(k), bend(k * k);
      for (std::size_t j = 0; j < k; ++j) eta[j] = row.eta_anchor[j] + delta[j];
      model_.family().scale_curvature(row.facts.spans(), eta, bend);
      bend.insert(bend.end(), row.coefficients.curvature.begin(), row.coefficients.curvature.end());
      const Matrix at_anchor = global(i);  // the remainder is accurate to some ulps of its form
      bend.insert(bend.end(), at_anchor.data(), at_anchor.data() + at_anchor.size());
      const double c = *std::max_element(bend.begin(), bend.end());
      double grown = 0.0;
      for (const double growth : row.coefficients.growth) grown = std::max(grown, point.rho * std::abs(growth));
      double slope = here.rho_slope.empty() ? 0.0 : here.rho_slope[0] * point.rho_gradient.dot(point_move);
      double length = 0.0, terms = here.gap[0];
      for (std::size_t j = 0; j < k; ++j) {
        slope += here.slope[j] * move[j];
        length += std::abs(move[j]) * std::sqrt(c);
        terms += 0.5 * (c + grown) * delta[j] * delta[j];
      }
      const double step = 1e-5 / (1.0 + length);
      const double numeric = (gaps_at(step, false).gap[0] - gaps_at(-step, false).gap[0]) / (2.0 * step);
      const double scale = (1.0 + length) * (1.0 + std::sqrt(terms)) + std::abs(slope);  // scale of a slope in t
      if (!(std::abs(numeric - slope) <=
            1e-6 * scale + 1e3 * epsilon * terms / step + 10.0 * epsilon * theta.norm() / step * scale))
        fail("gap slope", i, fmt::format("{:.9g} instead of {:.9g}", slope, numeric));
    }
  }

  const Model& model_;
  std::shared_ptr<const BoundRule> rule_;
  Dice dice_;
  LawReport& report_;
  Threads threads_{1};
  Vector anchor_;
  std::unique_ptr<Store> store_;
  std::optional<Precision> metric_;
  std::unique_ptr<Bound> bound_;
  std::vector<RowId> ids_;
  BoundRows fixed_;
};

}  // namespace

std::string LawReport::text() const {
  std::string out = fmt::format("{} pairs of row and theta, {} failures\n", pairs, failures);
  for (const std::string& example : examples) out += "  " + example + "\n";
  return out;
}

LawReport check_laws(const Model& model, const std::shared_ptr<const BoundRule>& rule, const LawOptions& options) {
  LawReport report;
  for (std::uint64_t table = 0; report.pairs < options.pairs && report.failures < 1000; ++table) {
    try {
      Table(model, rule, options.seed, table, report).check();
    } catch (const InputError& error) {
      // The checker made the table itself, so a refusal is the fault of the family or the rule.
      report.pairs += rows_per_table;
      ++report.failures;
      if (report.examples.size() < 10) report.examples.push_back(fmt::format("refused: {}", error.what()));
    }
  }
  return report;
}

}  // namespace flymc
