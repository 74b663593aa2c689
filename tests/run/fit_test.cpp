// From store and model to draws: every combination of options runs, repeats bit for bit, and counts its queries.
#include "flymc/run/fit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <sstream>

#include "flymc/core/error.hpp"
#include "flymc/model/negative_binomial.hpp"
#include "flymc/model/poisson.hpp"
#include "model/support.hpp"
#include "problems/problems.hpp"
#include "run/level_table.hpp"

namespace flymc {
namespace {

using problems::Counted;
using problems::message_of;
using problems::Sech;

const std::vector<SweepKind> every_sweep = {SweepKind::rows, SweepKind::implicit, SweepKind::with_replacement,
                                            SweepKind::without_replacement, SweepKind::consecutive};
const std::vector<MoveKind> every_move = {MoveKind::split_hmc, MoveKind::random_walk, MoveKind::mala,
                                          MoveKind::slice_coordinates, MoveKind::slice_direction};

// Uses a bound, because the program would choose regular MCMC for so small a table.
FitOptions few() {
  return {.chains = 2, .warmup = 20, .draws = 15, .seed = 3, .threads = 2, .bound = BoundKind::sharp};
}

void expect_same_draws(const Fit& a, const Fit& b) {
  ASSERT_EQ(a.draws.chains(), b.draws.chains());
  for (std::size_t c = 0; c < a.draws.chains(); ++c) {
    ASSERT_EQ(a.draws.draws(c), b.draws.draws(c));
    for (std::size_t i = 0; i < a.draws.draws(c); ++i)
      for (Index j = 0; j < a.draws.coefficients(); ++j) ASSERT_EQ(a.draws.value(c, i, j), b.draws.value(c, i, j));
  }
  EXPECT_EQ(a.queries(), b.queries());
}

bool all_finite(const Fit& fit) {
  for (std::size_t c = 0; c < fit.draws.chains(); ++c)
    for (std::size_t i = 0; i < fit.draws.draws(c); ++i)
      for (Index j = 0; j < fit.draws.coefficients(); ++j)
        if (!std::isfinite(fit.draws.value(c, i, j))) return false;
  return true;
}

// Fits once and checks the number of queries; returns the fit.
template <class F>
Fit counted_fit(const Counted<F>& family, const Store& store, const Prior& prior, const FitOptions& options) {
  *family.queries = 0;
  Fit out = fit(store, Model(family, prior), options);
  EXPECT_EQ(out.queries(), *family.queries);
  EXPECT_EQ(out.draws.chains(), static_cast<std::size_t>(options.chains));
  for (std::size_t c = 0; c < out.draws.chains(); ++c)
    EXPECT_EQ(out.draws.draws(c), static_cast<std::size_t>(options.draws));
  EXPECT_TRUE(all_finite(out));
  return out;
}

// Every bound with every sweep and every move, and regular MCMC with every move: queries are counted correctly, and
// another number of threads gives the same draws.
template <class F>
void expect_every_option_works(const F& family, const Prior& prior, Index columns) {
  const Counted<F> counted{family};
  const Store store = problems::make(Model(family, prior), 150, columns, 111).store;
  for (const MoveKind move : every_move) {
    for (const BoundKind bound : {BoundKind::sharp, BoundKind::anchored, BoundKind::untuned})
      for (const SweepKind sweep : every_sweep) {
        if (sweep == SweepKind::rows && bound == BoundKind::untuned) continue;
        SCOPED_TRACE(testing::Message() << family.name() << ": bound " << static_cast<int>(bound) << ", sweep "
                                        << static_cast<int>(sweep) << ", move " << static_cast<int>(move));
        FitOptions options = few();
        options.bound = bound;
        options.sweep = sweep;
        options.move = move;
        const Fit two = counted_fit(counted, store, prior, options);
        // A lit row is evaluated once more during preparation, and in every density.
        const RowId lit = two.bound_queries - 150;
        EXPECT_LT(lit, bound == BoundKind::sharp ? 10 : 1);
        EXPECT_EQ(two.anchor_queries % 150, 0);
        EXPECT_GT(two.anchor_queries, 0);
        EXPECT_EQ(two.chains[1].start_queries, sweep == SweepKind::rows ? lit : 150);
        options.threads = 1;
        expect_same_draws(counted_fit(counted, store, prior, options), two);
      }
    FitOptions options = few();
    options.move = move;
    options.regular = true;
    const Fit regular = counted_fit(counted, store, prior, options);
    EXPECT_EQ(regular.bound_queries, 0);
    EXPECT_EQ(regular.chains[0].bright_mean, 0.0);
    EXPECT_EQ(regular.chains[0].sampling_queries % 150, 0);
  }
}

TEST(Fit, LogisticWithEveryOption) { expect_every_option_works(Logistic{}, Prior::normal(0.0, 2.0), 3); }
TEST(Fit, SoftmaxWithEveryOption) { expect_every_option_works(Softmax{3}, Prior::laplace(0.0, 1.0), 2); }
TEST(Fit, StudentTWithEveryOption) {
  expect_every_option_works(StudentT(4.0, 0.8), Prior::student_t(3.0, 0.0, 2.0), 3);
}
TEST(Fit, AUsersFamilyWithEveryOption) { expect_every_option_works(Sech{}, Prior::normal(0.0, 2.0), 2); }

TEST(Fit, OtherStartsMetricsAndSizes) {
  const Counted<Logistic> family{Logistic{}};
  const Prior prior = Prior::normal(0.0, 1.0);
  const Store store = problems::make(Model(Logistic{}, prior), 150, 3, 112).store;
  for (const bool whiten : {true, false})
    for (const bool start_from_prior : {true, false})
      for (const bool regular : {true, false})
        for (const std::optional<BoundKind> bound :
             {std::optional<BoundKind>(), {BoundKind::sharp}, {BoundKind::anchored}, {BoundKind::untuned}}) {
          FitOptions options = few();
          options.whiten = whiten;
          options.start_from_prior = start_from_prior;
          options.regular = regular;
          options.bound = bound;
          const Fit out = counted_fit(family, store, prior, options);
          // Only an untuned run that starts from the prior and does not whiten needs no anchor; a regular one needs it
          // for split HMC.
          const bool needs_anchor = whiten || !start_from_prior || regular || bound != BoundKind::untuned;
          EXPECT_EQ(out.anchor_queries > 0, needs_anchor);
        }
  FitOptions fixed = few();
  fixed.q = 0.25;
  fixed.thin = 2;
  const Fit out = counted_fit(family, store, prior, fixed);
  EXPECT_EQ(out.chains[0].iterations, 30);
}

TEST(Fit, SeedsRepeatAndDiffer) {
  const problems::Problem problem = problems::make(Model(Logistic{}, Prior::normal(0.0, 2.0)), 200, 3, 113);
  const FitOptions options = few();
  const Fit one = fit(problem.store, problem.model, options), again = fit(problem.store, problem.model, options);
  expect_same_draws(one, again);
  FitOptions other = options;
  other.seed = 4;
  EXPECT_NE(fit(problem.store, problem.model, other).draws.value(0, 14, 0), one.draws.value(0, 14, 0));
  // More chains do not change the first ones.
  FitOptions more = options;
  more.chains = 3;
  const Fit three = fit(problem.store, problem.model, more);
  for (std::size_t c = 0; c < 2; ++c)
    for (std::size_t i = 0; i < 15; ++i) ASSERT_EQ(three.draws.value(c, i, 1), one.draws.value(c, i, 1));
  // A prior with the same numbers for each coefficient is the same prior.
  const Model each(Logistic{}, Prior::normal({0.0, 0.0, 0.0}, {2.0, 2.0, 2.0}));
  expect_same_draws(fit(problem.store, each, options), one);
}

// A large table in many blocks, and in single precision.
TEST(Fit, BlocksAndThreadsDoNotChangeADraw) {
  const Model model(Logistic{}, Prior::normal(0.0, 2.0));
  const RowMatrix x = problems::features(40000, 3, 114);
  const Vector y = problems::targets(model, x, Vector::Constant(3, 0.5), 114);
  for (const NumberType precision : {NumberType::float64, NumberType::float32}) {
    const Store store = Store::from_matrix(x, y, {}, precision);
    ASSERT_GT(store.blocks(), 2u);
    FitOptions options = few();
    const Fit two = fit(store, model, options);
    options.threads = 1;
    expect_same_draws(fit(store, model, options), two);
  }
}

TEST(Fit, SummarySaysNamesAndCost) {
  const Model model(Softmax{2}, Prior::normal(0.0, 2.0));
  const RowMatrix x = problems::features(300, 2, 115);
  Vector theta(4);
  theta << 0.2, -0.5, 0.0, 0.5;
  const Store store = Store::from_matrix(x, problems::targets(model, x, theta, 115), {"intercept", "age"});
  const Fit out = fit(store, model, few());
  EXPECT_EQ(out.coefficients, (std::vector<std::string>{"intercept[0]", "age[0]", "intercept[1]", "age[1]"}));
  EXPECT_EQ(out.rows, 300);
  const FitSummary summary = out.summary();
  ASSERT_EQ(summary.parameters.size(), 2u);
  const std::string text = summary.text();
  for (const std::string name : {"intercept[1 - 0]", "age[1 - 0]", "differences from those of class '0'"})
    EXPECT_NE(text.find(name), std::string::npos) << text;
  for (const std::string part :
       {"2 chains of 15 draws from 300 rows", "passes over the data", "anchor", "bound 1.0", "starts 0.0",
        "against the Laplace approximation", "sharp bound", "split HMC", "queries per iteration", "bright rows"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  EXPECT_EQ(text.find("could not be computed"), std::string::npos);
  FitOptions regular = few();
  regular.regular = true;
  EXPECT_EQ(fit(store, model, regular).summary().text().find("bright"), std::string::npos);
  std::ostringstream printed;
  printed << summary;
  EXPECT_EQ(printed.str(), text);
  // The means equal those of the draws.
  double sum = 0.0;
  for (std::size_t c = 0; c < 2; ++c)
    for (std::size_t i = 0; i < 15; ++i) sum += out.draws.value(c, i, 3) - out.draws.value(c, i, 1);
  EXPECT_NEAR(summary.parameters[1].mean, sum / 30.0, 1e-12);
}

// Rows about 0 and rows about 40 under one intercept: whichever mode the chains are at, the summary mentions the other.
// With one row more of twenty at 0, the second mode is 100 nats lower and is not mentioned.
TEST(Fit, SummarySaysThatThereIsASecondMode) {
  const Model model(StudentT(4.0, 1.0), Prior::normal(0.0, 100.0));
  const auto warned = [&](int each, int at_forty) {
    Vector y = problems::targets(model, RowMatrix::Ones(200, 1), Vector::Zero(1), 118);
    for (Index i = 0; i < y.size(); ++i)
      if (i % each < at_forty) y[i] = 40.0 + y[i % 2 == 0 ? i + 1 : i - 1];
    const Store store = Store::from_matrix(RowMatrix::Ones(200, 1), y, {"level"});
    const std::string text = fit(store, model, few()).summary().text();
    const bool says = text.find("warning: the posterior has a second mode, ") != std::string::npos;
    EXPECT_EQ(says, text.find("nats lower, where 'level' is ") != std::string::npos) << text;
    return says;
  };
  EXPECT_TRUE(warned(2, 1));
  EXPECT_FALSE(warned(20, 9));
  EXPECT_FALSE(warned(20, 0));
}

TEST(Fit, BadOptionsAreRefused) {
  const problems::Problem problem = problems::make(Model(Logistic{}, Prior::normal(0.0, 2.0)), 50, 2, 116);
  const auto refused = [&](const std::function<void(FitOptions&)>& change) {
    FitOptions options = few();
    change(options);
    EXPECT_THROW(fit(problem.store, problem.model, options), InputError);
  };
  refused([](FitOptions& o) { o.chains = 0; });
  refused([](FitOptions& o) { o.warmup = -1; });
  refused([](FitOptions& o) { o.draws = 0; });
  refused([](FitOptions& o) { o.thin = 0; });
  refused([](FitOptions& o) { o.threads = -1; });
  for (const double q : {0.0, -1.0, 1.5, std::nan("")}) refused([q](FitOptions& o) { o.q = q; });
  for (const double s : {0.0, -1.0, HUGE_VAL, std::nan("")}) refused([s](FitOptions& o) { o.s = s; });
  for (const double fraction : {0.0, -0.5, 1.5})
    refused([fraction](FitOptions& o) {
      o.sweep = SweepKind::without_replacement;
      o.resample_fraction = fraction;
    });
  FitOptions all = few();
  all.sweep = SweepKind::consecutive;
  all.resample_fraction = 1.0;
  EXPECT_NO_THROW(fit(problem.store, problem.model, all));
}

TEST(Fit, BadRowsAndPriorsAreRefused) {
  const Store store = Store::from_matrix(problems::features(50, 2, 117), Vector::Constant(50, 0.5));
  EXPECT_EQ(message_of<InputError>([&] { fit(store, Model(Logistic{}, Prior::normal(0.0, 1.0)), few()); }),
            "row 0: the target 0.5 does not fit the logistic family, which needs 0 or 1");
  EXPECT_EQ(message_of<InputError>([&] {
              fit(store, Model(StudentT(4.0, 1.0), Prior::normal({0.0, 0.0, 0.0}, {1.0})), few());
            }),
            "‹prior›: 3 locations or scales for 2 coefficients; give one, or one for each");
  FitOptions from_prior = few();
  from_prior.start_from_prior = true;
  EXPECT_EQ(message_of<InputError>([&] { fit(store, Model(StudentT(4.0, 1.0), Prior::flat()), from_prior); }),
            "a flat prior has no draws; start from the anchor, or choose a proper prior");
}

// The chains are long enough that every move and both bounds roughly find the posterior mean of regular MCMC. This
// detects a wrong sign or a missing term; tests/exactness tests exactness. The tolerance is half a posterior standard
// deviation, and the Monte Carlo error of 4 x 500 draws is about 0.05 of one.
TEST(Fit, FindsThePosteriorRoughly) {
  const problems::Problem problem = problems::make(Model(Logistic{}, Prior::normal(0.0, 2.0)), 200, 2, 118);
  FitOptions options{.warmup = 300, .draws = 500, .regular = true};
  const FitSummary regular = fit(problem.store, problem.model, options).summary();
  options.regular = false;
  for (const BoundKind bound : {BoundKind::sharp, BoundKind::anchored, BoundKind::untuned}) {
    options.bound = bound;
    const FitSummary summary = fit(problem.store, problem.model, options).summary();
    for (std::size_t j = 0; j < 2; ++j) {
      EXPECT_NEAR(summary.parameters[j].mean, regular.parameters[j].mean, 0.5 * regular.parameters[j].sd);
      EXPECT_NEAR(summary.parameters[j].sd / regular.parameters[j].sd, 1.0, 0.4);
    }
  }
}

// A level of 20 rows of one class has the tail of its prior: about 0.35 % lie beyond 21 (docs/exactness.md), 140 of the
// draws. Split HMC alone reaches none of them (src/run/sampler.cpp).
TEST(Fit, GetsToTheTailOfALongTailedPrior) {
  const Store store = level_of_ones(1000, [](RowId i) { return i < 20; });
  const Model model(Logistic{}, Prior::student_t(4.0, 0.0, 2.5));
  const Fit found = fit(store, model, {.warmup = 500, .draws = 10000, .seed = 1, .threads = 2});
  int beyond = 0;
  for (std::size_t c = 0; c < found.draws.chains(); ++c)
    for (std::size_t i = 0; i < found.draws.draws(c); ++i) beyond += found.draws.value(c, i, 1) > 21.0;
  EXPECT_GT(beyond, 30);
  EXPECT_LT(beyond, 400);
}

// A prior is much narrower than the likelihood. By a grid, 98 % of the posterior lies near 75, but a search that begins
// at the prior's centre ends in its spike at 0.
TEST(Fit, LeavesTheSpikeOfANarrowPrior) {
  StoreBuilder builder({"intercept", "x"});
  const int rows[] = {130, 480, 780, 480, 130}, ones[] = {46, 206, 390, 274, 84};
  for (int i = 0; i < 5; ++i)
    for (int k = 0; k < rows[i]; ++k)
      builder.append(std::vector<double>{1.0, 0.003 * (i - 2)}, k < ones[i] ? 1.0 : 0.0);
  const Store store = builder.finish();
  const Model model(Logistic{}, Prior::each({Prior::normal(0.0, 2.5), Prior::student_t(3.0, 0.0, 0.5)}));
  for (const bool regular : {false, true}) {
    const Fit found = fit(store, model, {.draws = 500, .seed = 2, .threads = 2, .regular = regular});
    int at_prior = 0, draws = 0;
    for (std::size_t c = 0; c < found.draws.chains(); ++c)
      for (std::size_t i = 0; i < found.draws.draws(c); ++i, ++draws) at_prior += found.draws.value(c, i, 1) < 20.0;
    EXPECT_LT(at_prior, draws / 5);
    EXPECT_GT(at_prior, 0);
    const FitSummary summary = found.summary();
    EXPECT_TRUE(std::ranges::any_of(summary.warnings, [](const std::string& warning) {
      return warning.starts_with("the posterior of 'x' has two modes");
    })) << summary;
  }
}

// With 20 rows of one class the posterior has the prior's tail on one side; with a Cauchy prior it has no mean. The
// expected quantiles are computed by quadrature.
TEST(Fit, ShowsQuantilesAloneOfAPosteriorWithoutMean) {
  const Store store = level_of_ones(1000, [](RowId i) { return i < 20; });
  const Model model(Logistic{}, Prior::each({Prior::normal(0.0, 2.5), Prior::student_t(1.0, 0.0, 2.5)}));
  const Fit found = fit(store, model, {.warmup = 500, .draws = 5000, .seed = 1, .threads = 2});
  const FitSummary summary = found.summary();
  EXPECT_TRUE(std::isfinite(summary.parameters[0].mean));
  EXPECT_TRUE(std::isnan(summary.parameters[1].mean) && std::isnan(summary.parameters[1].sd));
  EXPECT_TRUE(std::ranges::any_of(summary.warnings, [](const std::string& warning) {
    return warning.find("has no standard deviation") != std::string::npos;
  })) << summary;
  std::size_t beyond = 0, draws = 0;
  for (std::size_t c = 0; c < found.draws.chains(); ++c)
    for (std::size_t i = 0; i < found.draws.draws(c); ++i, ++draws) beyond += found.draws.value(c, i, 1) > 46.0;
  EXPECT_NEAR(static_cast<double>(beyond) / static_cast<double>(draws), 0.1, 0.04);
}

// A mean and a standard deviation are shown if the rows limit a parameter from both sides, or its prior does.
TEST(Fit, ShowsMomentsWhereTheyExist) {
  const auto fitted = [](const Model& model, const Store& store) {
    return fit(store, model, {.chains = 2, .warmup = 100, .draws = 100, .seed = 1, .threads = 2}).summary();
  };
  const auto counts = [](std::initializer_list<double> row, std::initializer_list<int> times) {
    std::vector<std::string> names = {*row.begin() == 1.0 ? "intercept" : "twice", "shape"};
    names.resize(row.size());
    StoreBuilder builder(names);
    double y = 0.0;
    for (const int n : times) {
      for (int i = 0; i < n; ++i) builder.append(row, y);
      ++y;
    }
    return builder.finish();
  };
  const auto has_moments = [](const FitSummary& summary, std::size_t j) {
    return std::isfinite(summary.parameters[j].mean) && std::isfinite(summary.parameters[j].sd);
  };
  const Prior long_tail = Prior::student_t(1.0, 0.0, 2.0);
  EXPECT_FALSE(has_moments(fitted(Model(Poisson{}, long_tail), counts({1.0}, {200})), 0));
  EXPECT_TRUE(has_moments(fitted(Model(Poisson{}, Prior::normal(0.0, 2.0)), counts({1.0}, {200})), 0));
  EXPECT_TRUE(has_moments(fitted(Model(Poisson{}, long_tail), counts({2.0}, {100, 60, 40})), 0));

  // Counts with Poisson variance, and counts that vary more.
  const auto shaped = [&](std::initializer_list<int> times) {
    ShapedTarget target;
    for (const int n : times) target.targets.push_back({double(target.targets.size()), double(n)});
    const Prior prior = Prior::each({Prior::normal(0.0, 2.5), Prior::student_t(1.0, 0.0, 10.0)});
    return fitted(Model(NegativeBinomial{}, prior, target), counts({1.0, 1.0}, times));
  };
  EXPECT_FALSE(has_moments(shaped({370, 370, 180, 60, 20}), 1));
  EXPECT_TRUE(has_moments(shaped({500, 250, 125, 65, 30, 30}), 1));
}

}  // namespace
}  // namespace flymc
