// Every family with every bound against the law checker, and families that break a law each.
#include <gtest/gtest.h>

#include "flymc/bound/laws.hpp"
#include "problems/problems.hpp"

namespace flymc {
namespace {

constexpr LawOptions many{.pairs = 200000, .seed = 7};

void expect_lawful(const Model& model, std::shared_ptr<const BoundRule> rule) {
  const LawReport report = check_laws(model, std::move(rule), many);
  EXPECT_GE(report.pairs, 100000);
  EXPECT_TRUE(report.ok()) << report.text();
}

const Prior any_prior = Prior::normal(0.0, 1.0);  // plays no part in the laws

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

}  // namespace
}  // namespace flymc
