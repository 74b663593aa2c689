// Simulation-based calibration of every family and bound, under the tests' own priors.
#include <gtest/gtest.h>

#include <cmath>
#include <ostream>
#include <string>
#include <vector>

#include "exactness/calibration.hpp"
#include "flymc/model/truncated_poisson.hpp"

namespace flymc::exactness {
namespace {

// Rare: a logistic regression with a few ones among its rows, for which the Laplace approximation is clearly wrong.
enum class FamilyKind {
  logistic,
  softmax,
  student_t,
  rare,
  poisson,
  gaussian_scale,
  student_t_scale,
  probit,
  cloglog,
  ordinal,
  truncated,
  negative_binomial,
  gamma
};

// The sharp bound uses the defaults, sweeps by rows and split HMC. The anchored bound uses implicit sweeps and MALA,
// the untuned bound implicit sweeps and split HMC.
struct Case {
  FamilyKind family;
  BoundKind bound;
  double lit_above = HUGE_VAL;  // rows with a larger spread have no z
};

// Split HMC with the sharp bound needs less thinning; MALA, heavy tails, and the many bright rows of a loose bound need
// more.
int thin_of(const Case& c) {
  if (c.family == FamilyKind::rare) return 12;
  if (c.family == FamilyKind::ordinal) return 12;
  if (c.family == FamilyKind::negative_binomial || c.family == FamilyKind::gamma) return 20;
  if (c.family == FamilyKind::gaussian_scale || c.family == FamilyKind::student_t_scale) return 30;
  return c.bound == BoundKind::sharp && c.family != FamilyKind::student_t ? 8 : (c.bound == BoundKind::sharp ? 30 : 20);
}

std::string name_of(const Case& c) {
  const char* families[] = {"Logistic",         "Softmax",          "StudentT", "RareEvents", "Poisson",
                            "GaussianScale",    "StudentTScale",    "Probit",   "Cloglog",    "Ordinal",
                            "TruncatedPoisson", "NegativeBinomial", "Gamma"};
  const char* bounds[] = {"_Defaults", "_Anchored", "_Untuned"};
  return std::string(families[static_cast<std::size_t>(c.family)]) + bounds[static_cast<std::size_t>(c.bound)] +
         (std::isfinite(c.lit_above) ? "_Lit" : "");
}

void PrintTo(const Case& c, std::ostream* out) { *out << name_of(c); }

Prior scaled_prior() {
  return Prior::each({Prior::normal(0.5, 1.5), Prior::laplace(0.0, 1.0), Prior::student_t(5.0, 0.0, 2.0)});
}

// The shape has an informative prior: otherwise all rows are bright together far out, and draws would have to be
// thinned by hundreds.
Prior shaped_prior() {
  return Prior::each({Prior::normal(0.7, 0.7), Prior::laplace(0.0, 0.5), Prior::student_t(8.0, 2.0, 0.3)});
}

Model make_model(FamilyKind family) {
  switch (family) {
    case FamilyKind::logistic:
      return Model(Logistic{}, Prior::normal(0.5, 1.5));
    case FamilyKind::softmax:
      return Model(Softmax{3}, Prior::normal(0.0, 1.0));
    case FamilyKind::rare:
      return Model(Logistic{}, Prior::normal({-4.0, 0.0}, {0.7, 1.0}));
    case FamilyKind::poisson:
      return Model(Poisson{}, Prior::normal({0.0, 0.3}, {1.0, 0.7}));
    // Sigma is drawn, with half a Student-t as its prior.
    case FamilyKind::gaussian_scale:
      return Model(Residual(Gaussian{1.0}), scaled_prior(), {.total_weight = 15.0});
    case FamilyKind::student_t_scale:
      return Model(Residual(StudentT{4.0, 1.0}), scaled_prior(), {.total_weight = 15.0});
    case FamilyKind::probit:
      return Model(Probit{}, Prior::normal({0.2, 0.0}, {1.0, 1.5}));
    case FamilyKind::cloglog:
      return Model(Cloglog{}, Prior::normal({-0.5, 0.0}, {1.0, 1.0}));
    case FamilyKind::truncated:
      return Model(TruncatedPoisson{}, Prior::normal({0.0, 0.3}, {1.0, 0.7}));
    case FamilyKind::negative_binomial:
      return Model(NegativeBinomial{}, shaped_prior(), ShapedTarget{});
    case FamilyKind::gamma:
      return Model(Gamma{}, shaped_prior(), ShapedTarget{});
    case FamilyKind::ordinal:  // the same prior for all cut points
      return Model(Ordinal{},
                   Prior::each({Prior::student_t(5.0, 0.0, 1.5), Prior::student_t(5.0, 0.0, 1.5),
                                Prior::student_t(5.0, 0.0, 1.5), Prior::normal(0.3, 1.0)}),
                   OrderedTarget{{1.0, 1.0, 1.0, 1.0}});
    case FamilyKind::student_t:
      break;
  }
  return Model(StudentT{4.0, 1.5}, Prior::laplace(0.3, 0.7));
}

class Calibration : public ::testing::TestWithParam<Case> {};

TEST_P(Calibration, RanksAreUniform) {
  const Case& c = GetParam();
  const Model model = make_model(c.family);
  const Index rows = c.family == FamilyKind::rare ? 150 : (c.family == FamilyKind::softmax ? 20 : 15);
  const bool ordered = c.family == FamilyKind::ordinal;
  const RowMatrix x = ordered ? RowMatrix(problems::features(rows, 2, 5).rightCols(1)) : problems::features(rows, 2, 5);
  const std::uint64_t seed = 1000 * static_cast<std::uint64_t>(c.family) + 100 * static_cast<std::uint64_t>(c.bound) +
                             (std::isfinite(c.lit_above) ? 50 : 0);
  FitOptions options;
  options.thin = thin_of(c);
  // The program would choose regular MCMC for so few rows; this tests the defaults for large tables.
  options.bound = c.bound;
  if (c.bound == BoundKind::anchored) {
    options.sweep = SweepKind::implicit;
    options.move = MoveKind::mala;
  }
  options.lit = {.above = c.lit_above};
  const Seen seen = calibrate(model, x, options, seed, ordered ? 3 : 0);

  const double least = c.bound == BoundKind::untuned ? 0.6 : (c.bound == BoundKind::anchored ? 0.25 : 0.15);
  if (std::isfinite(c.lit_above)) {
    EXPECT_GT(seen.lit, 2.0);
    EXPECT_LT(seen.lit, 0.7 * static_cast<double>(rows));
  }
  if (c.family == FamilyKind::gaussian_scale) return;  // the gaussian has no bright rows
  EXPECT_GT(seen.bright, std::isfinite(c.lit_above) ? 0.05 : least) << "too few bright rows to say much about z";
}

// One family of each kind of target and parameters; and the logistic family with the paper's bounds and with lit rows.
std::vector<Case> cases() {
  std::vector<Case> out;
  for (const BoundKind bound : {BoundKind::sharp, BoundKind::anchored, BoundKind::untuned})
    out.push_back({FamilyKind::logistic, bound});
  out.push_back({FamilyKind::logistic, BoundKind::sharp, 0.9});
  for (const FamilyKind family :
       {FamilyKind::softmax, FamilyKind::poisson, FamilyKind::ordinal, FamilyKind::student_t_scale})
    out.push_back({family, BoundKind::sharp});
  return out;
}

// All other cases take nine minutes.
std::vector<Case> cases_by_hand() {
  std::vector<Case> out;
  for (const FamilyKind family : {FamilyKind::softmax, FamilyKind::student_t})
    for (const BoundKind bound : {BoundKind::anchored, BoundKind::untuned}) out.push_back({family, bound});
  for (const FamilyKind family :
       {FamilyKind::student_t, FamilyKind::rare, FamilyKind::probit, FamilyKind::cloglog, FamilyKind::truncated,
        FamilyKind::negative_binomial, FamilyKind::gamma, FamilyKind::gaussian_scale})
    out.push_back({family, BoundKind::sharp});
  out.push_back({FamilyKind::poisson, BoundKind::sharp, 0.1});
  out.push_back({FamilyKind::gamma, BoundKind::sharp, 0.07});
  out.push_back({FamilyKind::ordinal, BoundKind::sharp, 0.5});
  out.push_back({FamilyKind::student_t_scale, BoundKind::sharp, 0.3});
  return out;
}

INSTANTIATE_TEST_SUITE_P(Exactness, Calibration, ::testing::ValuesIn(cases()),
                         [](const auto& instance) { return name_of(instance.param); });
INSTANTIATE_TEST_SUITE_P(ByHand, Calibration, ::testing::ValuesIn(cases_by_hand()),
                         [](const auto& instance) { return name_of(instance.param); });

}  // namespace
}  // namespace flymc::exactness
