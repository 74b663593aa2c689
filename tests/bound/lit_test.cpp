// Which rows are lit; the collapsed sum with lit rows equals the sum over rows.
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <thread>

#include "flymc/anchor/anchor.hpp"
#include "flymc/bound/bound.hpp"
#include "flymc/bound/lit_rows.hpp"
#include "problems/problems.hpp"
#include "problems/thread_ranks.hpp"

namespace flymc {
namespace {

using problems::ThreadRanks;

std::vector<double> random_spreads(std::size_t count, std::uint64_t seed) {
  const PhiloxRandom random(seed, 0, 0);
  std::vector<double> out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = std::pow(10.0, 3.0 * random.uniform(Purpose::pick, i) - 2.0);
  return out;
}

void expect_same(const std::vector<LooseRows::Row>& a, const std::vector<LooseRows::Row>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_EQ(a[i].row, b[i].row);
    ASSERT_EQ(a[i].spread, b[i].spread);
  }
}

// Rows are ordered by decreasing spread, equal ones by row; for any order of adding, on any number of threads and
// ranks. If there are more than may be kept, the limit is the smallest of its doublings that leaves few enough.
TEST(LooseRows, AreTheSameInAnyOrderAndOnAnyThreadsAndRanks) {
  for (const std::size_t count : {300u, 70000u}) {
    SCOPED_TRACE(count);
    std::vector<double> spread = random_spreads(count, 31);
    for (std::size_t i = 0; i < count; i += 10) spread[i] = 0.75;  // equal for many rows
    const auto add = [&](LooseRows& loose, std::size_t first, std::size_t last, std::size_t stride) {
      for (std::size_t i = first; i < last; ++i) {
        const std::size_t row = i * stride % count;
        loose.add(static_cast<RowId>(row), spread[row]);
      }
    };
    const Lighting automatic{.automatic = true};
    LooseRows in_order(automatic, 1);
    add(in_order, 0, count, 1);
    const auto expected = in_order.gather(Communicator::alone());

    // The expected result, from the definition.
    double limit = 0.01;
    const auto above = [&] { return std::count_if(spread.begin(), spread.end(), [&](double s) { return s > limit; }); };
    while (above() > 20000) limit *= 2.0;
    EXPECT_EQ(limit > 0.01, count > 20000);
    ASSERT_EQ(expected.size(), static_cast<std::size_t>(above()));
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ(expected[i].spread, spread[static_cast<std::size_t>(expected[i].row)]);
      ASSERT_GT(expected[i].spread, limit);
      if (i == 0) continue;
      const LooseRows::Row &before = expected[i - 1], &here = expected[i];
      ASSERT_TRUE(before.spread > here.spread || (before.spread == here.spread && before.row < here.row));
    }

    for (const std::size_t stride : {count - 1, std::size_t{9901}}) {  // backwards, and scattered
      LooseRows mixed(automatic, 1);
      add(mixed, 0, count, stride);
      expect_same(mixed.gather(Communicator::alone()), expected);
    }
    LooseRows together(automatic, 1);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < 4; ++t)
      threads.emplace_back([&, t] { add(together, t * count / 4, (t + 1) * count / 4, 9901); });
    for (std::thread& thread : threads) thread.join();
    expect_same(together.gather(Communicator::alone()), expected);

    for (const int ranks : {2, 3})
      ThreadRanks::run(ranks, [&](const Communicator& communicator) {
        const auto r = static_cast<std::size_t>(communicator.rank()), all = static_cast<std::size_t>(ranks);
        LooseRows own(automatic, 1);
        add(own, r * count / all, (r + 1) * count / all, 1);
        expect_same(own.gather(communicator), expected);
      });
  }
}

// A limit that was requested: all rows above it, and no more than a million.
TEST(LooseRows, AboveALimitThatWasAskedFor) {
  LooseRows none(Lighting{}, 1);
  none.add(1, 1e300);
  EXPECT_TRUE(none.gather(Communicator::alone()).empty());
  LooseRows some(Lighting{.above = 0.5}, 1);
  for (RowId row = 0; row < 10; ++row) some.add(row, 0.1 * static_cast<double>(row));
  EXPECT_EQ(some.gather(Communicator::alone()).size(), 4u);
  for (const double above : {0.0, 0.3}) {
    LooseRows many(Lighting{.above = above}, 1);
    for (RowId row = 0; row < 1000001; ++row) many.add(row, row % 2 == 0 ? 0.4 : 40.0);
    EXPECT_EQ(many.gather(Communicator::alone()).size(), 500000u) << above;
  }
}

// A table with a rare level: its rows are loose. Anchor and metric are the posterior's.
struct Levels {
  Levels(Model of, RowId rows, RowId in_level, std::uint64_t seed, double of_level) : model(std::move(of)) {
    RowMatrix x = problems::features(rows, 3, seed);
    for (RowId i = 0; i < rows; ++i) x(i, 2) = i * in_level / rows != (i + 1) * in_level / rows ? 1.0 : 0.0;
    Vector theta = Vector::LinSpaced(3 * model.predictors(), -0.6, 0.8) * model.family().unit();
    Vector y = problems::targets(model, x, theta, seed);
    for (RowId i = 0; i < rows; ++i)
      if (x(i, 2) == 1.0 && of_level >= 0.0) y[i] = of_level;
    store = std::make_unique<Store>(Store::from_matrix(x, y));
    anchor = std::make_unique<Anchor>(find_anchor(*store, model, machine.execution()));
  }
  Bound bound(const Lighting& lighting, const Execution& execution, std::shared_ptr<const BoundRule> rule) const {
    return Bound(*store, model.shared_family(), std::move(rule), anchor->theta, execution, anchor->metric, lighting,
                 model.prior_precision(anchor->theta));
  }
  Bound bound(const Lighting& lighting) const { return bound(lighting, machine.execution(), sharp()); }
  std::shared_ptr<const BoundRule> sharp() const {
    return std::make_shared<SharpRule>(SharpRule::usual_zone(anchor->theta.size()));
  }

  Model model;
  problems::Machine machine;
  std::unique_ptr<Store> store;
  std::unique_ptr<Anchor> anchor;
};

std::vector<Model> models() {
  return {Model(Logistic{}, Prior::normal(0.0, 2.0)), Model(Softmax{3}, Prior::normal(0.0, 1.5)),
          Model(StudentT{4.0, 0.8}, Prior::laplace(0.0, 1.0))};
}

// Value and curvature row by row: for a lit row the likelihood's own, for another the rule's.
TEST(LitRows, TheCollapsedSumIsTheSumOfItsRows) {
  for (const Model& model : models())
    for (const bool anchored : {false, true}) {
      const Levels levels(model, 2000, 20, 32, -1.0);
      const std::shared_ptr<const BoundRule> rule = anchored ? std::make_shared<AnchoredRule>() : levels.sharp();
      const Bound dark = levels.bound({}, levels.machine.execution(), rule);
      for (const double above : {HUGE_VAL, 0.02, 0.0}) {
        SCOPED_TRACE(testing::Message() << model.family().name() << " " << rule->name() << " above " << above);
        const Bound bound = levels.bound({.above = above}, levels.machine.execution(), rule);
        const LitRows& lit = bound.lit();
        ASSERT_EQ(lit.size() == 0, above == HUGE_VAL);
        ASSERT_EQ(lit.size() == 2000, above == 0.0);
        if (above == 0.02) {
          ASSERT_GE(lit.size(), 20u);
        }
        EXPECT_EQ(lit.above, above);
        EXPECT_TRUE(std::is_sorted(lit.fixed.row.begin(), lit.fixed.row.end()));
        std::vector<RowId> rows(2000);
        std::iota(rows.begin(), rows.end(), 0);
        BoundRows fixed;
        dark.prepare(*levels.store, rows, fixed);
        const Index k = model.predictors();
        const auto width = static_cast<std::size_t>(k);
        for (const double spread : {0.0, 1.0, 2.5}) {
          const Vector theta =
              levels.anchor->theta + spread * levels.anchor->metric.unwhiten(Vector::Ones(levels.anchor->theta.size()));
          const BoundPoint point = bound.at(theta, true);
          long double sum = 0.0;
          for (std::size_t i = 0; i < 2000; ++i) {
            const Vector eta = Eigen::Map<const Vector>(fixed.eta_anchor.data() + i * width, k);
            Vector delta(k), slope(k);
            levels.store->project({&rows[i], 1}, point.change, {delta.data(), width});
            double value = 0.0;
            Matrix bend(k, k);
            model.family().likelihood(fixed.facts.spans().row(i), {eta.data(), width}, {&value, 1},
                                      {slope.data(), width}, {bend.data(), width * width});
            if (lit.contains(rows[i])) {
              bend *= 0.6;
            } else {
              bend = Eigen::Map<const Matrix>(fixed.coefficients.curvature.data() + i * width * width, k, k);
              if (rule->grows())
                bend +=
                    point.rho * Eigen::Map<const Matrix>(fixed.coefficients.growth.data() + i * width * width, k, k);
            }
            sum += value + slope.dot(delta) - 0.5 * delta.dot(bend * delta);
          }
          EXPECT_NEAR(bound.log_sum(point), static_cast<double>(sum), 1e-10 * std::abs(static_cast<double>(sum)));
          // Adding every gap gives the likelihood.
          Gaps gaps = problems::lit_gaps(bound, point);
          for (const double gap : gaps.gap) sum += gap;
          for (std::size_t i = 0; i < 2000; ++i)
            if (!lit.contains(rows[i])) {
              BoundRows one;
              one.append(fixed, i);
              bound.gaps(one, point, false, gaps);
              sum += gaps.gap[0];
            }
          long double likelihood = 0.0;
          for (std::size_t i = 0; i < 2000; ++i) {
            Vector delta(k);
            levels.store->project({&rows[i], 1}, point.change, {delta.data(), width});
            const Vector eta = Eigen::Map<const Vector>(fixed.eta_anchor.data() + i * width, k) + delta;
            double value = 0.0;
            model.family().likelihood(fixed.facts.spans().row(i), {eta.data(), width}, {&value, 1}, {}, {});
            likelihood += value;
          }
          EXPECT_NEAR(static_cast<double>(sum), static_cast<double>(likelihood), 1e-9);
        }
        // A row without a z has an expected gap of 0; another has the value from before.
        for (const RowId row : rows)
          EXPECT_EQ(bound.expected_gaps().level(row), lit.contains(row) ? 0 : dark.expected_gaps().level(row));
        if (rule->grows()) {
          EXPECT_EQ(bound.sums().hessian, dark.sums().hessian);
        }
      }
    }
}

// The same rows and bit-identical sums, on any number of threads and ranks.
TEST(LitRows, AreTheSameOnAnyThreadsAndRanks) {
  for (const Lighting& lighting : {Lighting{.automatic = true}, Lighting{.above = 0.01}}) {
    const Levels levels(models()[0], 40000, 100, 33, 1.0);
    ASSERT_GT(levels.store->blocks(), 2u);
    const Bound one = levels.bound(lighting, problems::Machine(1).execution(), levels.sharp());
    ASSERT_GE(one.lit().size(), 100u);
    ASSERT_LT(one.lit().size(), 40000u);
    const auto expect_same = [&](const Bound& other, bool whole) {
      EXPECT_EQ(other.lit().fixed.row, one.lit().fixed.row);
      EXPECT_EQ(other.lit().fixed.facts, one.lit().fixed.facts);
      EXPECT_EQ(other.lit().fixed.eta_anchor, one.lit().fixed.eta_anchor);
      EXPECT_EQ(other.lit().fixed.coefficients.curvature, one.lit().fixed.coefficients.curvature);
      EXPECT_EQ(other.lit().above, one.lit().above);
      EXPECT_EQ(other.lit().set, one.lit().set);
      EXPECT_EQ(other.sums().value, one.sums().value);
      EXPECT_EQ(other.sums().slope, one.sums().slope);
      EXPECT_EQ(other.sums().curvature, one.sums().curvature);
      EXPECT_EQ(other.sums().growth, one.sums().growth);
      EXPECT_EQ(other.sums().hessian, one.sums().hessian);
      for (RowId i = 0; i < other.expected_gaps().rows(); ++i) {
        const RowId row = other.expected_gaps().first() + i;
        ASSERT_EQ(other.expected_gaps().level(row), one.expected_gaps().level(row));
      }
      if (whole) {
        EXPECT_EQ(other.expected_gaps().rows(), 40000);
      }
    };
    for (const int threads : {2, 4}) {
      const problems::Machine machine(threads);
      expect_same(levels.bound(lighting, machine.execution(), levels.sharp()), true);
    }
    for (const int ranks : {2, 3, 4})
      ThreadRanks::run(ranks, [&](const Communicator& communicator) {
        const Threads threads(1);
        expect_same(levels.bound(lighting, {threads, communicator}, levels.sharp()), false);
      });
    // Recreated from the sums, the levels and the rows as they were kept.
    BoundRows kept;
    kept.fetch(*levels.store, one.lit().fixed.row);
    expect_same(Bound(levels.model.shared_family(), levels.sharp(), levels.anchor->theta, one.sums(), one.queries(),
                      levels.anchor->metric, one.expected_gaps(), LitRows(kept, one.lit().above, levels.store->rows()),
                      levels.model.prior_precision(levels.anchor->theta)),
                true);
  }
}

// Among 20,000 rows, exactly the fifty rows of a level with one class are lit.
TEST(LitRows, AutomaticallyThoseOfALevelWithOneClass) {
  const Levels levels(models()[0], 20000, 50, 34, 1.0);
  const Bound bound = levels.bound({.automatic = true});
  ASSERT_EQ(bound.lit().size(), 50u);
  for (const RowId row : bound.lit().fixed.row) EXPECT_EQ(levels.store->value(row, 2), 1.0);
}

// The cost of a draw with all rows above a limit lit, from the bound that has them lit (docs/benchmarks.md, "Lit
// rows").
double cost_of(const Bound& bound, const Store& store, const Prior& own_prior) {
  const auto d = static_cast<double>(bound.anchor().size());
  const auto whole = [](const Matrix& lower) { return Matrix(lower.selfadjointView<Eigen::Lower>()); };
  Matrix posterior = whole(bound.sums().hessian);
  own_prior.curvature(Term::Of::surrogate, bound.anchor()).add_to(posterior);
  Matrix more = whole(bound.sums().curvature - bound.sums().hessian + std::sqrt(d) * bound.sums().growth);
  if (bound.lit().size() > 0) more += (1.0 / 0.6 - 1.0) * whole(bound.lit().curvature);  // 0.6 of it is in the sums
  const Eigen::GeneralizedSelfAdjointEigenSolver<Matrix> solver(more, posterior);
  const double excess = solver.eigenvalues().cwiseAbs().maxCoeff();
  double bright = 0.0;
  double squares = 0.0;  // squared spread, weighted by the expected gaps
  for (RowId row = 0; row < store.rows(); ++row) {
    const double gap = std::min(1.0, ExpectedGaps::value(bound.expected_gaps().level(row)));
    Vector x(store.features());
    for (Index j = 0; j < x.size(); ++j) x[j] = store.value(row, j);
    const double spread = bound.metric()->whiten_gradient(x).squaredNorm();
    bright += gap;
    squares += gap * spread * spread;
  }
  const double lit = static_cast<double>(bound.lit().size()), product = 0.06 * d * d;
  const double iteration =
      2000.0 + 40.0 * d + 5.0 * product + 3.0 * bright * (250.0 + product) + 4.0 * (lit + bright) * (60.0 + 1.5 * d);
  const double skew = bright > 0.0 ? squares / bright : 0.0;
  const double slower = 1.0 + excess * (2.0 + 30.0 * skew);
  return iteration * std::pow(slower * std::max(1.0, slower / 10.0), 2);
}

// The cheapest limit, which may light none, some or all rows. A single 1 among 2,000 rows makes all of them loose.
TEST(LitRows, AutomaticallyWhatCostsLeast) {
  const auto expect_cheapest = [](const Levels& levels) {
    const Bound chosen = levels.bound({.automatic = true});
    double least = HUGE_VAL;
    for (const double above : {HUGE_VAL, 10.0, 3.0, 1.0, 0.3, 0.1, 0.05, 0.02, 0.01})
      least = std::min(least, cost_of(levels.bound({.above = above}), *levels.store, levels.model.prior()));
    EXPECT_LT(cost_of(chosen, *levels.store, levels.model.prior()), (1.0 + 1e-6) * least);
    EXPECT_NEAR(chosen.costs().with_bound, least, 1e-3 * least);
    const auto n = static_cast<double>(levels.store->rows()), d = static_cast<double>(levels.store->features());
    EXPECT_DOUBLE_EQ(chosen.costs().regular, 4.0 * (2000.0 + 40.0 * d + n * (50.0 + 0.9 * d)));
    return chosen.lit().size();
  };
  std::vector<std::size_t> sizes;
  for (const RowId rows : {300, 2000, 20000})
    for (const RowId in_level : {1, 7, 40})
      for (const double target : {1.0, 0.0, -1.0})
        sizes.push_back(expect_cheapest(Levels(models()[0], rows, in_level, 36, target)));
  for (const RowId rows : {2000, 8000}) {
    // One column with a single 1.
    Levels single(models()[0], rows, 1, 37, 0.0);
    Vector y = Vector::Zero(rows);
    y[rows / 2] = 1.0;
    single.store = std::make_unique<Store>(Store::from_matrix(RowMatrix::Ones(rows, 1), y));
    single.anchor = std::make_unique<Anchor>(find_anchor(*single.store, single.model, single.machine.execution()));
    sizes.push_back(expect_cheapest(single));
    EXPECT_TRUE(sizes.back() == 0 || sizes.back() == static_cast<std::size_t>(rows));
  }
  std::string text;
  for (const std::size_t size : sizes) text += std::to_string(size) + " ";
  std::sort(sizes.begin(), sizes.end());
  EXPECT_EQ(sizes.front(), 0u) << text;
  EXPECT_GT(std::unique(sizes.begin(), sizes.end()) - sizes.begin(), 3) << text;
  RecordProperty("sizes", text);
}

// A target in dollars or in cents gives the same lit rows and stand-ins.
TEST(LitRows, AreTheSameInAnyUnitOfTheTarget) {
  for (const RowId in_level : {RowId{0}, RowId{40}}) {
    std::vector<RowId> lit, chosen;
    std::size_t stand_ins = 0;
    for (const double unit : {1.0, 1e-4, 1e4}) {
      const Levels levels(Model(StudentT{4.0, unit}, Prior::normal(0.0, 2.0 * unit)), 20000, in_level, 38, -1.0);
      const Bound by_cost = levels.bound({.automatic = true}), above = levels.bound({.above = 0.01});
      if (unit == 1.0) {
        chosen = by_cost.lit().fixed.row;
        lit = above.lit().fixed.row;
        stand_ins = above.stand_ins().size();
      }
      EXPECT_EQ(by_cost.lit().fixed.row, chosen) << unit;
      EXPECT_EQ(above.lit().fixed.row, lit) << unit;
      EXPECT_EQ(above.stand_ins().size(), stand_ins) << unit;
    }
    EXPECT_EQ(lit.empty(), in_level == 0);
    EXPECT_LT(chosen.size(), 100u);
  }
}

TEST(LitRows, AutomaticallyNoneOfARegularTable) {
  const problems::Machine machine;
  for (const Model& model : models()) {
    const auto problem = problems::make(model, 20000, 5, 35);
    const Anchor anchor = find_anchor(problem.store, model, machine.execution());
    const Bound bound(problem.store, model.shared_family(),
                      std::make_shared<SharpRule>(SharpRule::usual_zone(anchor.theta.size())), anchor.theta,
                      machine.execution(), anchor.metric, {.automatic = true}, model.prior_precision(anchor.theta));
    EXPECT_EQ(bound.lit().size(), 0u) << model.family().name();
  }
}

}  // namespace
}  // namespace flymc
