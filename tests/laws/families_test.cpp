// The law checker on every family with every bound.
#include <gtest/gtest.h>

#include "flymc/bound/laws.hpp"
#include "flymc/model/truncated_poisson.hpp"
#include "problems/problems.hpp"
#include "problems/shaped.hpp"

namespace flymc {
namespace {

constexpr LawOptions many{.pairs = 200000, .seed = 7};

void expect_lawful(const Model& model, std::shared_ptr<const BoundRule> rule) {
  const LawReport report = check_laws(model, std::move(rule), many);
  EXPECT_GE(report.pairs, 100000);
  EXPECT_TRUE(report.ok()) << report.text();
}

const Prior any_prior = Prior::normal(0.0, 1.0);  // does not enter the laws

TEST(Laws, LogisticAnchored) { expect_lawful(Model(Logistic{}, any_prior), std::make_shared<AnchoredRule>()); }

TEST(Laws, LogisticFixed) {
  for (const double xi : {1.5, 0.0, 1e-6, 30.0})
    expect_lawful(Model(Logistic{}, any_prior), std::make_shared<FixedJaakkolaJordanRule>(xi));
}

TEST(Laws, LogisticCubicWithGrowthAndRadius) {
  for (const double radius : {0.5, 5.0, 1000.0})
    expect_lawful(Model(Logistic{}, any_prior), std::make_shared<problems::CubicRule>(radius));
}

TEST(Laws, SoftmaxBohning) {
  for (const int classes : {2, 3, 7})
    expect_lawful(Model(Softmax{classes}, any_prior), std::make_shared<AnchoredRule>());
}

TEST(Laws, StudentTTangent) {
  for (const double nu : {1.0, 4.0, 300.0})
    for (const double sigma : {1e-3, 1.0, 1e4})
      expect_lawful(Model(StudentT{nu, sigma}, any_prior), std::make_shared<AnchoredRule>());
}

// Targets between 0 and 1, which a single trial does not have.
struct Shares : Binomial {
  double simulate(Predictor eta, const Random& random, std::uint64_t index) const {
    return Binomial::simulate(eta, random, index) * random.uniform(Purpose::simulate, 2 * index + 1);
  }
};

std::shared_ptr<const BoundRule> sharp(double typical, double radius) {
  return std::make_shared<SharpRule>(Zone{typical, radius});
}

TEST(Laws, LogisticSharp) {
  for (const auto& rule : {sharp(0.05, 0.1), sharp(2.0, 5.0), sharp(7.0, 10.0), sharp(30.0, 1000.0)})
    expect_lawful(Model(Logistic{}, any_prior), rule);
}

TEST(Laws, SoftmaxSharp) {
  for (const int classes : {2, 3, 7})
    for (const auto& rule : {sharp(0.05, 0.1), sharp(2.0, 5.0), sharp(30.0, 1000.0)})
      expect_lawful(Model(Softmax{classes}, any_prior), rule);
}

TEST(Laws, StudentTSharp) {
  for (const double nu : {1.0, 4.0, 300.0})
    for (const double sigma : {1e-3, 1.0, 1e4})
      for (const auto& rule : {sharp(0.05, 0.1), sharp(2.0, 5.0), sharp(7.0, 10.0)})
        expect_lawful(Model(StudentT{nu, sigma}, any_prior), rule);
}

TEST(Laws, Gaussian) {
  for (const double sigma : {1e-3, 1.0, 1e4}) {
    expect_lawful(Model(Gaussian{sigma}, any_prior), std::make_shared<AnchoredRule>());
    expect_lawful(Model(Gaussian{sigma}, any_prior), sharp(2.0, 5.0));
  }
}

// Rows end with their targets, so the family ignores its target argument.
TEST(Laws, ResidualsOfADrawnScale) {
  const ScaledTarget target{.total_weight = 1e9};
  expect_lawful(Model(Residual(Gaussian{1.0}), any_prior, target), sharp(2.0, 5.0));
  for (const double nu : {1.0, 4.0, 300.0}) {
    expect_lawful(Model(Residual(StudentT{nu, 1.0}), any_prior, target), std::make_shared<AnchoredRule>());
    for (const auto& rule : {sharp(0.05, 0.1), sharp(2.0, 5.0), sharp(7.0, 10.0)})
      expect_lawful(Model(Residual(StudentT{nu, 1.0}), any_prior, target), rule);
  }
}

// Log times that are censored at random: smaller residuals are censored more often.
template <class Of>
struct SeenByChance : Of {
  explicit SeenByChance(Of of) : Of(of) {}
  double simulate(Predictor u, const Random& random, std::uint64_t index) const {
    return random.uniform(Purpose::simulate, 2 * index) < std::exp(this->log_likelihood(0.0, u)) ? 0.0 : 1.0;
  }
};

template <class Of>
void expect_lawful_times(Of of) {
  std::vector<std::shared_ptr<const BoundRule>> rules = {sharp(0.05, 0.1), sharp(2.0, 5.0), sharp(7.0, 10.0)};
  if (HasGlobalCurvature<Of>) rules.push_back(std::make_shared<AnchoredRule>());
  for (const auto& rule : rules)
    expect_lawful(Model(SeenByChance<Of>(of), any_prior, {.total_weight = 1e9, .censored = true}), rule);
}

TEST(Laws, Survival) {
  expect_lawful_times(weibull());
  expect_lawful_times(lognormal());
  expect_lawful_times(loglogistic());
}

TEST(Laws, Binomial) {
  expect_lawful(Model(Shares{}, any_prior), std::make_shared<AnchoredRule>());
  expect_lawful(Model(Shares{}, any_prior), std::make_shared<FixedJaakkolaJordanRule>(1.5));
  expect_lawful(Model(Shares{}, any_prior), sharp(2.0, 5.0));
}

TEST(Laws, Probit) {
  expect_lawful(Model(Probit{}, any_prior), std::make_shared<AnchoredRule>());
  for (const auto& rule : {sharp(0.05, 0.1), sharp(2.0, 5.0), sharp(30.0, 1000.0)})
    expect_lawful(Model(Probit{}, any_prior), rule);
}

TEST(Laws, CloglogSharp) {
  for (const auto& rule : {sharp(0.05, 0.1), sharp(2.0, 5.0), sharp(30.0, 1000.0)})
    expect_lawful(Model(Cloglog{}, any_prior), rule);
}

TEST(Laws, PoissonSharp) {
  for (const auto& rule : {sharp(0.05, 0.1), sharp(2.0, 5.0), sharp(7.0, 10.0), sharp(30.0, 1000.0)})
    expect_lawful(Model(Poisson{}, any_prior), rule);
}

TEST(Laws, NegativeBinomialSharp) {
  for (const auto& rule : {sharp(0.05, 0.1), sharp(2.0, 5.0), sharp(7.0, 10.0), sharp(30.0, 1000.0)})
    expect_lawful(Model(NegativeBinomial{}, any_prior, ShapedTarget{}), rule);
}

TEST(Laws, GammaSharp) {
  for (const auto& rule : {sharp(0.05, 0.1), sharp(2.0, 5.0), sharp(7.0, 10.0), sharp(30.0, 1000.0)})
    expect_lawful(Model(Gamma{}, any_prior, ShapedTarget{}), rule);
}

TEST(Laws, TruncatedPoissonSharp) {
  for (const auto& rule : {sharp(0.05, 0.1), sharp(2.0, 5.0), sharp(7.0, 10.0), sharp(30.0, 1000.0)})
    expect_lawful(Model(TruncatedPoisson{}, any_prior), rule);
}

// The logistic without its own sharp bound: the library derives one from derivatives alone.
struct WithThirdDerivative : Logistic {
  void sharp() const = delete;
  double largest_third_derivative() const { return 1.0 / (6.0 * std::sqrt(3.0)); }
};
struct WithoutSharpBound : Logistic {
  void sharp() const = delete;
};

// The logistic without a global curvature: it has a sharp bound and no anchored one.
struct WithoutGlobalCurvature {
  std::string name() const { return row.name(); }
  Index predictors() const { return 1; }
  std::string target_problem(double y) const { return row.target_problem(y); }
  double log_likelihood(double y, Predictor eta) const { return row.log_likelihood(y, eta); }
  void slope(double y, Predictor eta, std::span<double> out) const { row.slope(y, eta, out); }
  void curvature(double y, Predictor eta, std::span<double> out) const { row.curvature(y, eta, out); }
  double remainder(double y, Predictor eta, Predictor delta) const { return row.remainder(y, eta, delta); }
  void mean(Predictor eta, std::span<double> out) const { row.mean(eta, out); }
  double simulate(Predictor eta, const Random& random, std::uint64_t index) const {
    return row.simulate(eta, random, index);
  }
  double largest_third_derivative() const { return 1.0 / (6.0 * std::sqrt(3.0)); }
  Logistic row;
};
static_assert(Family<WithoutGlobalCurvature> && !HasGlobalCurvature<WithoutGlobalCurvature>);

TEST(Laws, AFamilyNeedsNoGlobalCurvature) {
  const Model model(WithoutGlobalCurvature{}, any_prior);
  for (const auto& rule : {sharp(2.0, 5.0), sharp(7.0, 10.0)}) expect_lawful(model, rule);
  const LawReport anchored = check_laws(model, std::make_shared<AnchoredRule>(), {.pairs = 200});
  ASSERT_FALSE(anchored.examples.empty());
  EXPECT_NE(anchored.examples[0].find("no quadratic stays below its likelihood everywhere; use the sharp bound"),
            std::string::npos)
      << anchored.text();
}

TEST(Laws, SharpBoundOfFamiliesThatGiveOnlyDerivatives) {
  expect_lawful(Model(WithThirdDerivative{}, any_prior), sharp(2.0, 5.0));
  expect_lawful(Model(WithoutSharpBound{}, any_prior), sharp(2.0, 5.0));
}

}  // namespace
}  // namespace flymc
