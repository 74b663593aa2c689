// Posterior moments by FlyMC against the same move on the full-data posterior, for every family and move.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <string>
#include <vector>

#include "exactness/statistics.hpp"
#include "flymc/anchor/anchor.hpp"
#include "flymc/diagnose/convergence.hpp"
#include "flymc/run/fit.hpp"
#include "problems/problems.hpp"

namespace flymc::exactness {
namespace {

// A chain's means are one replicate: chains are independent, and their spread gives the standard error.
constexpr int chains = 64;
// Below this many effective draws in all, chain means need not be normal nor free of where the chain began.
constexpr double least_effective_size = 2000.0;

enum class FamilyKind { logistic, softmax, student_t };

// Coefficients so large that bounds are loose where the posterior is, and so few rows that it is not normal.
problems::Problem make_problem(FamilyKind family, Precision precision = Precision::float64) {
  const auto make = [precision](const Model& model, Index rows, const Vector& theta, std::uint64_t seed) {
    const RowMatrix x = problems::features(rows, theta.size() / model.predictors(), seed);
    return problems::Problem{model, Store::from_matrix(x, problems::targets(model, x, theta, seed), {}, precision),
                             theta};
  };
  switch (family) {
    case FamilyKind::logistic:
      return make(Model(Logistic{}, Prior::normal(0.0, 2.0)), 80, Vector{{-1.0, 2.5, -2.0}}, 11);
    case FamilyKind::softmax:
      return make(Model(Softmax{3}, Prior::normal(0.0, 1.0)), 60, Vector{{0.5, -0.8, 0.0, 1.0, -0.5, 0.3}}, 12);
    case FamilyKind::student_t:
      break;
  }
  return make(Model(StudentT{4.0, 0.8}, Prior::laplace(0.0, 1.0)), 60, Vector{{0.8, -1.2, 0.5}}, 13);
}

// E[theta_j - c_j] and E[(theta_j - c_j)(theta_k - c_k)] about the mode c, which both samplers share: the same
// information as E[theta_j] and E[theta_j theta_k], with a smaller error.
struct Moments {
  std::vector<std::string> names;
  std::vector<Estimate> estimates;
};

Moments moments(const MemorySink& draws, const Vector& centre) {
  Moments out;
  const Index d = draws.coefficients();
  const auto add = [&](std::string name, const auto& value) {
    std::vector<double> means;
    for (std::size_t c = 0; c < draws.chains(); ++c) {
      double sum = 0.0;
      for (std::size_t i = 0; i < draws.draws(c); ++i) sum += value(c, i);
      means.push_back(sum / static_cast<double>(draws.draws(c)));
    }
    out.names.push_back(std::move(name));
    out.estimates.push_back(from_replicates(means));
  };
  const auto offset = [&](std::size_t c, std::size_t i, Index j) { return draws.value(c, i, j) - centre[j]; };
  for (Index j = 0; j < d; ++j) {
    add(numbered("theta", j), [&](std::size_t c, std::size_t i) { return offset(c, i, j); });
    for (Index k = 0; k <= j; ++k)
      add(numbered(numbered("theta", j) + " theta", k),
          [&](std::size_t c, std::size_t i) { return offset(c, i, j) * offset(c, i, k); });
  }
  return out;
}

// `least_bright`: so many rows must be bright on average, or the comparison would say little about z.
Moments run(const problems::Problem& problem, const FitOptions& options, const Vector& centre, double least_bright) {
  const Fit fitted = fit(problem.store, problem.model, options);
  double least = HUGE_VAL;
  for (Index j = 0; j < fitted.draws.coefficients(); ++j)
    least = std::min(least, ess_bulk(fitted.draws.coefficient(j)));
  EXPECT_GT(least, least_effective_size);
  double bright = 0.0;
  for (const ChainReport& chain : fitted.chains) bright += chain.bright_mean / chains;
  EXPECT_GE(bright, least_bright);
  return moments(fitted.draws, centre);
}

// One FlyMC run, named for reports.
struct Setting {
  std::string name;
  BoundKind bound;
  SweepKind sweep;
  double least_bright;
};

// FlyMC's moments in each setting against those of regular MCMC by the same move.
void expect_same_moments(const problems::Problem& problem, MoveKind move, const std::vector<Setting>& settings,
                         std::uint64_t seed, int draws) {
  const problems::Machine machine(1);
  const Vector centre = find_anchor(problem.store, problem.model, machine.execution()).theta;
  FitOptions options;
  options.chains = chains;
  options.warmup = 500;
  options.draws = draws;
  options.threads = 1;
  options.move = move;
  options.resample_fraction = 0.3;
  options.seed = 100 * seed;
  options.regular = true;
  const Moments reference = run(problem, options, centre, 0.0);
  options.regular = false;
  Scores scores;
  for (const Setting& setting : settings) {
    ++options.seed;
    options.bound = setting.bound;
    options.sweep = setting.sweep;
    const Moments found = run(problem, options, centre, setting.least_bright);
    for (std::size_t m = 0; m < found.names.size(); ++m)
      scores.compare(setting.name + ", " + found.names[m], found.estimates[m], reference.estimates[m]);
  }
  scores.expect_all_within_limits();
}

struct Case {
  FamilyKind family;
  MoveKind move;
};

// A step of the slice along coordinates is D updates, one of random walk a single density: draws by what they cost.
int draws_of(MoveKind move) {
  switch (move) {
    case MoveKind::random_walk:
      return 5000;
    case MoveKind::mala:
      return 4000;
    case MoveKind::slice_direction:
      return 3000;
    case MoveKind::slice_coordinates:
      break;
  }
  return 1200;
}

std::string name_of(const Case& c) {
  const char* families[] = {"Logistic", "Softmax", "StudentT"};
  const char* moves[] = {"RandomWalk", "Mala", "SliceCoordinates", "SliceDirection"};
  return std::string(families[static_cast<std::size_t>(c.family)]) + "_" + moves[static_cast<std::size_t>(c.move)];
}

void PrintTo(const Case& c, std::ostream* out) { *out << name_of(c); }

class Moment : public ::testing::TestWithParam<Case> {};

// False alarms: false_alarm_per_case (1e-4), shared by the 2 x 9 or, for softmax, 2 x 27 moments.
TEST_P(Moment, AgreesWithRegularMcmc) {
  const Case& c = GetParam();
  // The anchored bound leaves few rows bright; the untuned one many, which is where z matters most.
  expect_same_moments(make_problem(c.family), c.move,
                      {{"anchored", BoundKind::anchored, SweepKind::implicit, 0.4},
                       {"untuned", BoundKind::untuned, SweepKind::implicit, 7.0}},
                      10 * static_cast<std::uint64_t>(c.family) + static_cast<std::uint64_t>(c.move), draws_of(c.move));
}

std::vector<Case> cases() {
  std::vector<Case> out;
  for (const FamilyKind family : {FamilyKind::logistic, FamilyKind::softmax, FamilyKind::student_t})
    for (const MoveKind move :
         {MoveKind::random_walk, MoveKind::mala, MoveKind::slice_coordinates, MoveKind::slice_direction})
      out.push_back({family, move});
  return out;
}

INSTANTIATE_TEST_SUITE_P(Exactness, Moment, ::testing::ValuesIn(cases()),
                         [](const auto& instance) { return name_of(instance.param); });

// False alarms: 1e-4, shared by 3 x 9 moments.
TEST(Moments, AgreeForEveryExplicitSweep) {
  expect_same_moments(make_problem(FamilyKind::logistic), MoveKind::mala,
                      {{"with replacement", BoundKind::untuned, SweepKind::with_replacement, 7.0},
                       {"without replacement", BoundKind::untuned, SweepKind::without_replacement, 7.0},
                       {"consecutive", BoundKind::untuned, SweepKind::consecutive, 7.0}},
                      41, 4000);
}

// Features rounded to float are other features: both samplers see the same ones. False alarms: 1e-4, shared by 9.
TEST(Moments, AgreeForSinglePrecisionFeatures) {
  expect_same_moments(make_problem(FamilyKind::logistic, Precision::float32), MoveKind::mala,
                      {{"float32", BoundKind::untuned, SweepKind::implicit, 7.0}}, 42, 4000);
}

}  // namespace
}  // namespace flymc::exactness
