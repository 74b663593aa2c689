// Posterior moments by FlyMC against the same move with all rows, and these against importance sampling.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "exactness/statistics.hpp"
#include "flymc/anchor/anchor.hpp"
#include "flymc/diagnose/convergence.hpp"
#include "flymc/model/truncated_poisson.hpp"
#include "flymc/run/fit.hpp"
#include "problems/ordered.hpp"
#include "problems/problems.hpp"
#include "problems/shaped.hpp"

namespace flymc::exactness {
namespace {

// A chain's means are one replicate: chains are independent, and their spread gives the standard error.
constexpr int chains = 64;
// With fewer effective draws in total, or with chains that disagree, chain means may be neither normal nor independent
// of the chains' starts. Such chains would also pass every comparison, because their spread is its scale.
constexpr double least_effective_size = 2000.0;
constexpr double most_r_hat = 1.05;
constexpr int importance_draws = 3000;  // per replicate

enum class FamilyKind {
  logistic,
  softmax,
  student_t,
  poisson,
  probit,
  cloglog,
  student_t_scale,
  ordinal,
  truncated,
  negative_binomial,
  gamma
};

// Coefficients so large that bounds are loose at the posterior, and so few rows that it is not normal.
problems::Problem make_problem(FamilyKind family, NumberType precision = NumberType::float64) {
  const auto make = [precision](const Model& model, Index rows, const Vector& theta, std::uint64_t seed) {
    const RowMatrix x = problems::features(rows, theta.size() / model.predictors(), seed);
    return problems::Problem{model, Store::from_matrix(x, problems::targets(model, x, theta, seed), {}, precision),
                             theta};
  };
  switch (family) {
    case FamilyKind::logistic:
      return make(Model(Logistic{}, Prior::normal(0.0, 1.5)), 80, Vector{{-0.8, 2.0, -1.5}}, 11);
    case FamilyKind::softmax:
      return make(Model(Softmax{3}, Prior::normal(0.0, 1.0)), 60, Vector{{0.5, -0.8, 0.0, 1.0, -0.5, 0.3}}, 12);
    case FamilyKind::poisson:
      return make(Model(Poisson{}, Prior::normal(0.0, 1.0)), 50, Vector{{0.2, 0.7, -0.5}}, 14);
    case FamilyKind::probit:
      return make(Model(Probit{}, Prior::normal(0.0, 1.0)), 80, Vector{{-0.5, 1.2, -0.9}}, 15);
    case FamilyKind::cloglog:
      return make(Model(Cloglog{}, Prior::normal(0.0, 1.0)), 80, Vector{{-0.7, 0.9, -0.6}}, 16);
    case FamilyKind::student_t_scale: {
      const Model model(Residual(StudentT{4.0, 1.0}), Prior::laplace(0.0, 1.0), {.total_weight = 25.0});
      const Vector parameters{{0.8, -1.2, 0.8}};
      return {model, problems::rows_with_targets(model, problems::features(25, 2, 17), parameters, 17), parameters};
    }
    case FamilyKind::truncated:
      return make(Model(TruncatedPoisson{}, Prior::normal(0.0, 1.0)), 60, Vector{{0.1, 0.7, -0.5}}, 19);
    // With little prior information about the shape, all rows would be bright together far out, and chains would wait
    // for z.
    case FamilyKind::negative_binomial: {
      const Prior prior =
          Prior::each({Prior::normal(0.0, 2.0), Prior::laplace(0.0, 1.0), Prior::student_t(4.0, 1.5, 0.2)});
      return problems::shaped_problem(Model(NegativeBinomial{}, prior, ShapedTarget{}), problems::features(120, 2, 20),
                                      Vector{{0.8, 0.6, 1.5}}, 20);
    }
    case FamilyKind::gamma:
      return problems::shaped_problem(Model(Gamma{}, Prior::student_t(4.0, 0.0, 2.0), ShapedTarget{}),
                                      problems::features(60, 2, 21), Vector{{1.0, -0.5, 2.0}}, 21);
    case FamilyKind::ordinal:
      return *problems::ordered_problem(Prior::normal(0.0, 1.5), problems::features(40, 3, 18).rightCols(2), 3,
                                        Vector{{-0.9, 0.2, 1.1, 1.0, -0.7}}, 18);
    case FamilyKind::student_t:
      break;
  }
  return make(Model(StudentT{4.0, 0.8}, Prior::laplace(0.0, 1.0)), 60, Vector{{0.8, -1.2, 0.5}}, 13);
}

// E[theta_j - c_j] and E[(theta_j - c_j)(theta_k - c_k)] about the mode c, which all samplers share: they are
// equivalent to E[theta_j] and E[theta_j theta_k], with a smaller error.
std::vector<std::string> moment_names(Index dimension) {
  std::vector<std::string> out;
  for (Index j = 0; j < dimension; ++j) {
    out.push_back(numbered("theta", j));
    for (Index k = 0; k <= j; ++k) out.push_back(numbered(numbered("theta", j) + " theta", k));
  }
  return out;
}

// The weighted sums of one replicate's draws, in the order of moment_names.
class MomentSums {
 public:
  explicit MomentSums(Index dimension) : sum_(moment_names(dimension).size()) {}
  void add(const Vector& offset, double weight) {
    std::size_t m = 0;
    for (Index j = 0; j < offset.size(); ++j) {
      sum_[m++] += weight * offset[j];
      for (Index k = 0; k <= j; ++k) sum_[m++] += weight * offset[j] * offset[k];
    }
    weight_ += weight;
  }
  double mean(std::size_t m) const { return sum_[m] / weight_; }

 private:
  std::vector<double> sum_;
  double weight_ = 0.0;
};

std::vector<Estimate> across(const std::vector<MomentSums>& replicates, std::size_t moments) {
  std::vector<Estimate> out;
  for (std::size_t m = 0; m < moments; ++m) {
    std::vector<double> means;
    for (const MomentSums& replicate : replicates) means.push_back(replicate.mean(m));
    out.push_back(from_replicates(means));
  }
  return out;
}

// At least `least_bright` rows must be bright on average; otherwise the comparison hardly tests z.
std::vector<Estimate> by_chains(const problems::Problem& problem, const FitOptions& options, const Vector& centre,
                                double least_bright) {
  const Fit fitted = fit(problem.store, problem.model, options);
  double bright = 0.0;
  for (const ChainReport& chain : fitted.chains) bright += chain.bright_mean / chains;
  EXPECT_GE(bright, least_bright);
  for (Index j = 0; j < centre.size(); ++j) {
    const auto draws = fitted.draws.coefficient(j);
    EXPECT_GT(ess_bulk(draws), least_effective_size);
    EXPECT_LT(r_hat(draws), most_r_hat);
  }
  std::vector<MomentSums> replicates(chains, MomentSums(centre.size()));
  Vector offset(centre.size());
  for (std::size_t c = 0; c < chains; ++c)
    for (std::size_t i = 0; i < fitted.draws.draws(c); ++i) {
      for (Index j = 0; j < centre.size(); ++j) offset[j] = fitted.draws.value(c, i, j) - centre[j];
      replicates[c].add(offset, 1.0);
    }
  return across(replicates, moment_names(centre.size()).size());
}

// Uses no kernel: independent draws around the mode from a t with 8 degrees of freedom, wider than the posterior and
// with heavier tails; each is weighted by posterior over proposal. The bias of the weighted mean, about a draw's
// variance over the number of draws, is a twentieth of the standard error.
std::vector<Estimate> by_importance(const problems::Problem& problem, const Anchor& anchor, std::uint64_t seed) {
  constexpr double nu = 8.0, widening = 1.2;
  const Index d = anchor.theta.size();
  const FullDensity density(problem.store, problem.model);
  std::vector<MomentSums> replicates(chains, MomentSums(d));
  Vector normals(d + static_cast<Index>(nu));
  Evaluation at;
  density.evaluate(anchor.theta, BrightRows(0), false, at);
  const double highest = at.log_density;
  for (std::uint64_t c = 0; c < chains; ++c)
    for (std::uint64_t i = 0; i < importance_draws; ++i) {
      PhiloxRandom(seed, c, i)
          .normals(Purpose::simulate, 0, {normals.data(), static_cast<std::size_t>(normals.size())});
      const Vector t = normals.head(d) / std::sqrt(normals.tail(static_cast<Index>(nu)).squaredNorm() / nu);
      const Vector offset = widening * anchor.metric.unwhiten(t);
      const Vector theta = anchor.theta + offset;
      density.evaluate(theta, BrightRows(0), false, at);
      const double log_proposal = -0.5 * (nu + static_cast<double>(d)) * std::log1p(t.squaredNorm() / nu);
      if (at.log_density > -HUGE_VAL)
        replicates[c].add(problem.model.parameters(theta) - problem.model.parameters(anchor.theta),
                          std::exp(at.log_density - highest - log_proposal));
    }
  return across(replicates, moment_names(d).size());
}

// One FlyMC run, with a name for reports.
struct Setting {
  std::string name;
  BoundKind bound;
  SweepKind sweep;
  double least_bright;
  Lighting lit = {};
};

// Compares FlyMC's moments in each setting with regular MCMC's by the same move, and regular MCMC's with importance
// sampling, in case both share a fault of the move.
void expect_same_moments(const problems::Problem& problem, MoveKind move, const std::vector<Setting>& settings,
                         std::uint64_t seed, int draws) {
  const problems::Machine machine(1);
  const Anchor anchor = find_anchor(problem.store, problem.model, machine.execution());
  const std::vector<std::string> names = moment_names(anchor.theta.size());
  Scores scores;
  const auto compare = [&](const std::string& sampler, const std::vector<Estimate>& one,
                           const std::vector<Estimate>& other) {
    for (std::size_t m = 0; m < names.size(); ++m) scores.compare(sampler + ", " + names[m], one[m], other[m]);
  };
  FitOptions options;
  options.chains = chains;
  options.warmup = draws / 2;
  options.draws = draws;
  options.threads = 1;
  options.move = move;
  options.resample_fraction = 0.3;
  options.seed = 100 * seed;
  options.regular = true;
  const Vector centre = problem.model.parameters(anchor.theta);
  const std::vector<Estimate> regular = by_chains(problem, options, centre, 0.0);
  compare("regular", regular, by_importance(problem, anchor, 100 * seed + 99));
  options.regular = false;
  for (const Setting& setting : settings) {
    ++options.seed;
    options.bound = setting.bound;
    options.sweep = setting.sweep;
    options.lit = setting.lit;
    compare(setting.name, by_chains(problem, options, centre, setting.least_bright), regular);
  }
  scores.expect_all_within_limits();
}

struct Case {
  FamilyKind family;
  MoveKind move;
};

// A step of the slice along coordinates has D updates, a random walk's a single density: the numbers of draws
// compensate for the cost.
int draws_of(MoveKind move) {
  switch (move) {
    case MoveKind::random_walk:
      return 4000;
    case MoveKind::mala:
      return 2500;
    case MoveKind::slice_direction:
      return 2200;
    case MoveKind::split_hmc:
      return 1200;
    case MoveKind::slice_coordinates:
      break;
  }
  return 1000;
}

std::string name_of(const Case& c) {
  const char* families[] = {"Logistic",      "Softmax", "StudentT",         "Poisson",          "Probit", "Cloglog",
                            "StudentTScale", "Ordinal", "TruncatedPoisson", "NegativeBinomial", "Gamma"};
  const char* moves[] = {"SplitHmc", "RandomWalk", "Mala", "SliceCoordinates", "SliceDirection"};
  return std::string(families[static_cast<std::size_t>(c.family)]) + "_" + moves[static_cast<std::size_t>(c.move)];
}

void PrintTo(const Case& c, std::ostream* out) { *out << name_of(c); }

// A spread that about a third of the rows exceed.
double loose_of(FamilyKind family) {
  switch (family) {
    case FamilyKind::student_t:
      return 0.07;
    case FamilyKind::poisson:
      return 0.04;
    case FamilyKind::truncated:
      return 0.06;
    case FamilyKind::probit:
      return 0.2;
    case FamilyKind::cloglog:
      return 0.15;
    case FamilyKind::student_t_scale:
      return 0.15;
    default:
      return 0.5;
  }
}

class Moment : public ::testing::TestWithParam<Case> {};

// False alarms: false_alarm_per_case (1e-4), shared by the 3 x 9 or, for softmax, 3 x 27 comparisons (5 x for split
// HMC).
TEST_P(Moment, AgreesWithRegularMcmc) {
  const Case& c = GetParam();
  // The anchored bound leaves few rows bright, the sharp bound even fewer. The untuned bound leaves many, so z matters
  // most.
  std::vector<Setting> settings = {{"anchored", BoundKind::anchored, SweepKind::implicit, 0.4},
                                   {"untuned", BoundKind::untuned, SweepKind::implicit, 5.0}};
  if (c.move == MoveKind::split_hmc)
    settings = {{"sharp", BoundKind::sharp, SweepKind::rows, 0.2},
                {"some rows lit", BoundKind::sharp, SweepKind::rows, 0.05, {.above = loose_of(c.family)}},
                {"anchored by rows", BoundKind::anchored, SweepKind::rows, 0.4},
                {"untuned", BoundKind::untuned, SweepKind::implicit, 5.0}};
  if (c.family >= FamilyKind::poisson) {  // for some families the sharp bound is the only one
    settings = {{"by rows", BoundKind::sharp, SweepKind::rows, 0.2},
                {"implicit", BoundKind::sharp, SweepKind::implicit, 0.2},
                {"explicit", BoundKind::sharp, SweepKind::without_replacement, 0.2},
                {"some rows lit", BoundKind::sharp, SweepKind::rows, 0.02, {.above = loose_of(c.family)}}};
  }
  expect_same_moments(make_problem(c.family), c.move, settings,
                      10 * static_cast<std::uint64_t>(c.family) + static_cast<std::uint64_t>(c.move), draws_of(c.move));
}

constexpr FamilyKind first_families[] = {FamilyKind::logistic, FamilyKind::softmax, FamilyKind::student_t,
                                         FamilyKind::poisson};
constexpr FamilyKind later_families[] = {FamilyKind::probit,  FamilyKind::cloglog,   FamilyKind::student_t_scale,
                                         FamilyKind::ordinal, FamilyKind::truncated, FamilyKind::negative_binomial,
                                         FamilyKind::gamma};
constexpr MoveKind other_moves[] = {MoveKind::random_walk, MoveKind::mala, MoveKind::slice_coordinates,
                                    MoveKind::slice_direction};

// Split HMC, which fits use, with one family of each kind; and every move with the logistic family.
std::vector<Case> cases() {
  std::vector<Case> out;
  for (const FamilyKind family : first_families) out.push_back({family, MoveKind::split_hmc});
  for (const MoveKind move : other_moves) out.push_back({FamilyKind::logistic, move});
  return out;
}

// All other cases take ten minutes. `ctest -L truth` covers most of the later families too.
std::vector<Case> cases_by_hand() {
  std::vector<Case> out;
  for (const FamilyKind family : std::span(first_families).subspan(1))
    for (const MoveKind move : other_moves) out.push_back({family, move});
  for (const FamilyKind family : later_families)
    for (const MoveKind move : {MoveKind::split_hmc, MoveKind::random_walk, MoveKind::slice_direction})
      out.push_back({family, move});
  return out;
}

INSTANTIATE_TEST_SUITE_P(Exactness, Moment, ::testing::ValuesIn(cases()),
                         [](const auto& instance) { return name_of(instance.param); });
INSTANTIATE_TEST_SUITE_P(ByHand, Moment, ::testing::ValuesIn(cases_by_hand()),
                         [](const auto& instance) { return name_of(instance.param); });

// False alarms: 1e-4, shared by 4 x 9 comparisons.
TEST(Moments, AgreeForEveryExplicitSweep) {
  expect_same_moments(make_problem(FamilyKind::logistic), MoveKind::mala,
                      {{"with replacement", BoundKind::untuned, SweepKind::with_replacement, 5.0},
                       {"without replacement", BoundKind::untuned, SweepKind::without_replacement, 5.0},
                       {"consecutive", BoundKind::untuned, SweepKind::consecutive, 5.0}},
                      41, 2500);
}

// Features are rounded to float, and both samplers use the rounded ones. False alarms: 1e-4, shared by 2 x 9
// comparisons.
TEST(Moments, AgreeForSinglePrecisionFeatures) {
  expect_same_moments(make_problem(FamilyKind::logistic, NumberType::float32), MoveKind::mala,
                      {{"float32", BoundKind::untuned, SweepKind::implicit, 5.0}}, 42, 2500);
}

// Row i of the table, repeated as often as its weight says or once with the weight; with its offset, or with the offset
// subtracted from its target.
Store table_of(const RowMatrix& x, const Vector& y, const Vector& weights, const Vector& offsets, bool repeated) {
  if (!repeated) return Store::from_matrix(x, y, {}, NumberType::float64, weights, offsets);
  const auto rows = static_cast<Index>(std::lround(weights.sum()));
  RowMatrix all(rows, x.cols());
  Vector targets(rows), shifts(offsets.size() > 0 ? rows : 0);
  Index at = 0;
  for (Index i = 0; i < x.rows(); ++i)
    for (long copy = 0; copy < std::lround(weights[i]); ++copy, ++at) {
      all.row(at) = x.row(i);
      targets[at] = y[i];
      if (offsets.size() > 0) shifts[at] = offsets[i];
    }
  return Store::from_matrix(all, targets, {}, NumberType::float64, {}, shifts);
}

// The log posterior up to a constant, with all rows.
double log_posterior(const Store& store, const Model& model, const Vector& theta) {
  Evaluation at;
  FullDensity(store, model).evaluate(theta, BrightRows(0), false, at);
  return at.log_density;
}

// Integer weights give the posterior of a table with repeated rows, as a function and as draws. One weight is 0, and
// there are offsets if the family takes them. False alarms: 1e-4 per family, shared by 3 x 9 (3 x 27) comparisons.
TEST(Moments, OfWholeWeightsAreThoseOfRepeatedRows) {
  for (const FamilyKind family :
       {FamilyKind::logistic, FamilyKind::softmax, FamilyKind::student_t, FamilyKind::poisson}) {
    const problems::Problem once = make_problem(family);
    const Index rows = once.store.rows(), columns = once.store.features();
    RowMatrix x(rows, columns);
    Vector y(rows), weights(rows), offsets(once.model.family().only_differences() ? 0 : rows);
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < columns; ++j) x(i, j) = once.store.value(i, j);
      y[i] = once.store.target(i);
      weights[i] = static_cast<double>((7 * i) % 5);
      if (offsets.size() > 0) offsets[i] = 0.4 * std::sin(static_cast<double>(i));
    }
    const problems::Problem weighted{once.model, table_of(x, y, weights, offsets, false), once.theta};
    const problems::Problem repeated{once.model, table_of(x, y, weights, offsets, true), once.theta};
    ASSERT_EQ(repeated.store.rows(), 2 * rows);
    for (const double scale : {0.0, 1.0, -3.0}) {
      const double one = log_posterior(weighted.store, once.model, scale * once.theta),
                   other = log_posterior(repeated.store, once.model, scale * once.theta);
      EXPECT_NEAR(one, other, 1e-12 * std::abs(other));
    }
    const problems::Machine machine(1);
    const Vector centre = find_anchor(repeated.store, repeated.model, machine.execution()).theta;
    FitOptions options;
    options.chains = chains;
    options.warmup = 600;
    options.draws = 1200;
    options.threads = 1;
    options.seed = 4500;
    options.regular = true;
    const std::vector<Estimate> regular = by_chains(repeated, options, centre, 0.0);
    options.regular = false;
    options.bound = BoundKind::sharp;
    Scores scores;
    const std::vector<std::string> names = moment_names(centre.size());
    for (const Lighting& lit : {Lighting{}, Lighting{.above = 0.5 * loose_of(family)}, Lighting{.automatic = true}}) {
      ++options.seed;
      options.lit = lit;
      const std::vector<Estimate> flymc = by_chains(weighted, options, centre, 0.0);
      for (std::size_t m = 0; m < names.size(); ++m) scores.compare(names[m], flymc[m], regular[m]);
    }
    scores.expect_all_within_limits();
  }
}

// Fractional weights from 0.02 to 5, against regular MCMC, which is compared with importance sampling. False alarms:
// 1e-4 per family, shared by 4 x 9 comparisons.
TEST(Moments, AgreeForFractionalWeights) {
  for (const FamilyKind family : {FamilyKind::logistic, FamilyKind::student_t}) {
    problems::Problem problem = make_problem(family);
    StoreBuilder builder(problem.store.columns(), NumberType::float64, {.weight = true, .offset = true});
    for (RowId i = 0; i < problem.store.rows(); ++i) {
      std::vector<double> x;
      for (Index j = 0; j < problem.store.features(); ++j) x.push_back(problem.store.value(i, j));
      const double t = static_cast<double>(i);
      builder.append(x, {problem.store.target(i), std::exp(-1.15 + 2.75 * std::sin(t)), std::cos(t)});
    }
    problem.store = builder.finish();
    expect_same_moments(problem, MoveKind::split_hmc,
                        {{"sharp", BoundKind::sharp, SweepKind::rows, 0.1},
                         {"some rows lit", BoundKind::sharp, SweepKind::rows, 0.01, {.above = loose_of(family)}},
                         {"untuned", BoundKind::untuned, SweepKind::implicit, 3.0}},
                        46 + static_cast<std::uint64_t>(family), 1200);
  }
}

// The defaults for large tables: for small ones the program would choose regular MCMC.
FitOptions defaults(int draws, std::uint64_t seed) {
  FitOptions options;
  options.bound = BoundKind::sharp;
  options.chains = chains;
  options.warmup = draws / 2;
  options.draws = draws;
  options.threads = 1;
  options.seed = seed;
  options.lit = {};
  return options;
}

// The Student-t family depends only on y - offset - x'theta. With numbers whose sums are exact, the same rows with the
// offset subtracted from the target have the same posterior, and from the same seed the same draws, up to rounding of
// x'theta + offset.
TEST(Moments, OffsetsOfTheStudentTShiftItsTarget) {
  const problems::Problem plain = make_problem(FamilyKind::student_t);
  StoreBuilder offset(plain.store.columns(), NumberType::float64, {.weight = false, .offset = true});
  StoreBuilder shifted(plain.store.columns());
  for (RowId i = 0; i < plain.store.rows(); ++i) {
    std::vector<double> x;
    for (Index j = 0; j < plain.store.features(); ++j) x.push_back(plain.store.value(i, j));
    const double y = std::ldexp(std::round(std::ldexp(plain.store.target(i), 20)), -20);
    const double o = 0.25 * static_cast<double>(i % 9) - 1.0;
    offset.append(x, {y, 1.0, o});
    shifted.append(x, y - o);
  }
  const Store one = offset.finish(), other = shifted.finish();
  for (const double scale : {0.0, 1.0, -3.0})
    EXPECT_NEAR(log_posterior(one, plain.model, scale * plain.theta),
                log_posterior(other, plain.model, scale * plain.theta), 1e-11);
  for (const Lighting& lit : {Lighting{}, Lighting{.above = 0.07}}) {
    FitOptions options = defaults(200, 4800);
    options.chains = 2;
    options.lit = lit;
    const Fit a = fit(one, plain.model, options), b = fit(other, plain.model, options);
    EXPECT_EQ(a.queries(), b.queries());
    for (std::size_t c = 0; c < 2; ++c)
      for (std::size_t i = 0; i < a.draws.draws(c); ++i)
        for (Index j = 0; j < plain.theta.size(); ++j)
          ASSERT_NEAR(a.draws.value(c, i, j), b.draws.value(c, i, j), 1e-8) << "draw " << i << " of chain " << c;
  }
}

// A few positives among 400 rows: the posterior is skewed, and the error of the Laplace approximation is large enough
// for this test to detect. False alarms: 1e-4, shared by 2 x 9 comparisons; the Student-t prior is not normal either.
TEST(Moments, AgreeForRareEvents) {
  const Model model(Logistic{}, Prior::student_t(5.0, 0.0, 2.0));
  const RowMatrix x = problems::features(400, 3, 14);
  const Vector theta{{-5.2, 1.2, -0.8}};
  const Vector y = problems::targets(model, x, theta, 14);
  EXPECT_GE(y.sum(), 3.0);
  EXPECT_LE(y.sum(), 12.0);
  const problems::Problem problem{model, Store::from_matrix(x, y), theta};
  const Anchor anchor = find_anchor(problem.store, model, problems::Machine(1).execution());
  // z holds much information about such a posterior, and FlyMC needs many times the draws of regular MCMC.
  const std::vector<Estimate> flymc = by_chains(problem, defaults(1800, 4300), anchor.theta, 0.2);
  FitOptions options = defaults(500, 4301);
  options.regular = true;
  const std::vector<Estimate> regular = by_chains(problem, options, anchor.theta, 0.0);
  const std::vector<std::string> names = moment_names(3);
  Scores scores;
  for (std::size_t m = 0; m < names.size(); ++m) scores.compare(names[m], flymc[m], regular[m]);
  // With automatically lit rows it needs far fewer draws.
  FitOptions lit = defaults(500, 4302);
  lit.lit = {.automatic = true};
  EXPECT_GT(prepare(problem.store, model, lit, problems::Machine(1).execution()).bound->lit().size(), 20u);
  const std::vector<Estimate> with_lit = by_chains(problem, lit, anchor.theta, 0.0);
  for (std::size_t m = 0; m < names.size(); ++m) scores.compare("lit, " + names[m], with_lit[m], regular[m]);
  scores.expect_all_within_limits();
  // The first moment is E[theta0 - mode], which is 0 under the Laplace approximation; the second is its square.
  EXPECT_GT(std::abs(regular[0].mean), 0.3 * std::sqrt(regular[1].mean));
  EXPECT_GT(std::abs(regular[0].mean), 20.0 * regular[0].standard_error);
}

// As many successes as failures and only an intercept: at the mode every predictor is 0, where the bound has the
// likelihood's own curvature and its gap is of fourth order. Rows must become bright all the same. The one-dimensional
// posterior is integrated by sums, with an error far below the standard error. False alarms: 1e-4, shared by 2 x 2
// comparisons (E theta^2 and, as the square of an indicator, P(|theta| > 1.5)).
TEST(Moments, AgreeWhereTheBoundHasTheLikelihoodsOwnCurvature) {
  const Model model(Logistic{}, Prior::normal(0.0, 3.0));
  constexpr Index rows = 6;
  Vector y(rows);
  for (Index i = 0; i < rows; ++i) y[i] = static_cast<double>(i % 2);
  const Store store = Store::from_matrix(RowMatrix::Ones(rows, 1), y);
  double mass = 0.0, square = 0.0, tail = 0.0;
  const double width = 1e-3;
  for (double t = -30.0 + 0.5 * width; t < 30.0; t += width) {
    // Three rows of each class: 3 (log sigmoid(t) + log sigmoid(-t)).
    const double density = std::exp(-t * t / 18.0 - 3.0 * (std::log1p(std::exp(-t)) + std::log1p(std::exp(t))));
    mass += density;
    square += t * t * density;
    tail += std::abs(t) > 1.5 ? density : 0.0;
  }
  Scores scores;
  for (const BoundKind bound : {BoundKind::sharp, BoundKind::anchored}) {
    FitOptions options = defaults(6000, 4400 + static_cast<std::uint64_t>(bound));
    options.bound = bound;
    const Fit fitted = fit(store, model, options);
    std::vector<double> squares, tails;
    for (std::size_t c = 0; c < chains; ++c) {
      squares.push_back(0.0);
      tails.push_back(0.0);
      for (std::size_t i = 0; i < fitted.draws.draws(c); ++i) {
        const double t = fitted.draws.value(c, i, 0);
        squares.back() += t * t / static_cast<double>(fitted.draws.draws(c));
        tails.back() += (std::abs(t) > 1.5 ? 1.0 : 0.0) / static_cast<double>(fitted.draws.draws(c));
      }
    }
    EXPECT_GT(fitted.chains[0].bright_mean, 0.0);
    scores.compare("E theta^2", from_replicates(squares), known(square / mass));
    scores.compare("P(|theta| > 1.5)", from_replicates(tails), known(tail / mass));
  }
  scores.expect_all_within_limits();
}

}  // namespace
}  // namespace flymc::exactness
