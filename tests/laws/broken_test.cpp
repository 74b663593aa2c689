// The checker must detect families and bounds that break one law each.
#include <gtest/gtest.h>

#include "flymc/bound/laws.hpp"
#include "problems/problems.hpp"

namespace flymc {
namespace {

constexpr LawOptions some{.pairs = 20000, .seed = 3};

void expect_caught(const LawReport& report, const std::string& law) {
  EXPECT_FALSE(report.ok());
  ASSERT_FALSE(report.examples.empty());
  EXPECT_EQ(report.examples[0].substr(0, law.size() + 1), law + ":") << report.text();
}

// Jaakkola and Jordan's curvature, one per cent too small if the anchor's predictor is large.
struct TooFlat : Logistic {
  void global_curvature(double y, Predictor eta, std::span<double> out) const {
    Logistic::global_curvature(y, eta, out);
    if (eta[0] > 5.0) out[0] *= 0.99;
  }
};
TEST(BrokenLaws, CurvatureTooSmallInACorner) { expect_caught(check_laws(TooFlat{}, some), "below"); }

// The remainder computed directly from its definition: inaccurate for small delta.
struct PlainDifference : Logistic {
  double remainder(double y, Predictor eta, Predictor delta) const {
    const double moved = eta[0] + delta[0];
    double slope = 0.0;
    this->slope(y, eta, {&slope, 1});
    return log_likelihood(y, {&moved, 1}) - log_likelihood(y, eta) - slope * delta[0];
  }
};
TEST(BrokenLaws, RemainderByPlainDifference) { expect_caught(check_laws(PlainDifference{}, some), "remainder"); }

struct WrongRemainder : StudentT {
  using StudentT::StudentT;
  double remainder(double y, Predictor eta, Predictor delta) const {
    return StudentT::remainder(y, eta, delta) * (1.0 - 1e-3);
  }
};
TEST(BrokenLaws, RemainderOffByAThousandth) { expect_caught(check_laws(WrongRemainder(4.0, 1.0), some), "remainder"); }

struct WrongSlope : StudentT {
  using StudentT::StudentT;
  void slope(double y, Predictor eta, std::span<double> out) const {
    StudentT::slope(y, eta, out);
    out[0] *= -1.0;
  }
};
TEST(BrokenLaws, SlopeOfTheWrongSign) { EXPECT_FALSE(check_laws(WrongSlope(4.0, 1.0), some).ok()); }

struct WrongCurvature : Softmax {
  using Softmax::Softmax;
  void curvature(double y, Predictor eta, std::span<double> out) const {
    Softmax::curvature(y, eta, out);
    out[1] = -out[1];
  }
};
TEST(BrokenLaws, CurvatureOfTheWrongSignOffTheDiagonal) { EXPECT_FALSE(check_laws(WrongCurvature(3), some).ok()); }

// The mean grows with eta, so the needed curvature grows with the distance; this growth is 2 % too small.
struct CountsTooFlat : Poisson {
  Needed needed(double y, Predictor eta, double r) const {
    const Needed right = Poisson::needed(y, eta, r);
    return {right.curvature, 0.98 * right.growth};
  }
  void sharp(double y, Predictor eta, std::span<const double> spread, const Zone& zone, std::span<double> c,
             std::span<double> k) const {
    curvature(y, eta, c);
    sharp_line(*this, y, eta, spread[0], zone, c[0], k[0]);
  }
};
TEST(BrokenLaws, GrowthOfCountsTooSmall) {
  expect_caught(check_laws(Model(CountsTooFlat{}, Prior::normal(0.0, 1.0)), std::make_shared<SharpRule>(Zone{2.0, 5.0}),
                           {.pairs = 200000, .seed = 3}),
                "below");
}

// Derivatives that are NaN, and targets that the family itself rejects.
struct NotANumber : Logistic {
  void curvature(double, Predictor, std::span<double> out) const { out[0] = std::nan(""); }
};
TEST(BrokenLaws, CurvatureThatIsNotANumber) { EXPECT_FALSE(check_laws(NotANumber{}, some).ok()); }

struct StrangeTargets : Logistic {
  double simulate(Predictor, const Random&, std::uint64_t) const { return 2.0; }
};
TEST(BrokenLaws, TargetsThatDoNotFit) { expect_caught(check_laws(StrangeTargets{}, some), "refused"); }

// With one predictor there are no differences on which the likelihood could depend.
struct NoDifferences : Logistic {
  bool only_differences() const { return true; }
};
TEST(BrokenLaws, MoreThanDifferencesMatter) { expect_caught(check_laws(NoDifferences{}, some), "differences"); }

// A third derivative of 0: the bound would be too high.
struct NoThirdDerivative : Logistic {
  double largest_third_derivative() const { return 0.0; }
};
TEST(BrokenLaws, ThirdDerivativeOfNoSize) { expect_caught(check_laws(NoThirdDerivative{}, some), "third derivative"); }

// l = -exp(eta) up to eta = 1, and from there its Taylor polynomial of third order: l''' is never positive, hence "at
// most 0", but its absolute value is up to e.
struct Falling {
  std::string name() const { return "falling"; }
  Index predictors() const { return 1; }
  std::string target_problem(double) const { return ""; }
  double log_likelihood(double, Predictor eta) const { return -at(eta[0], 0); }
  void slope(double, Predictor eta, std::span<double> out) const { out[0] = -at(eta[0], 1); }
  void curvature(double, Predictor eta, std::span<double> out) const { out[0] = at(eta[0], 2); }
  double remainder(double, Predictor eta, Predictor delta) const {
    return -(at(eta[0] + delta[0], 0) - at(eta[0], 0) - at(eta[0], 1) * delta[0]);
  }
  void mean(Predictor eta, std::span<double> out) const { out[0] = eta[0]; }
  double simulate(Predictor, const Random&, std::uint64_t) const { return 0.0; }
  double largest_third_derivative() const { return 0.0; }
  // The derivative of -l of this order.
  static double at(double eta, int order) {
    if (eta <= 1.0) return std::exp(eta);
    const double d = eta - 1.0, e = std::exp(1.0);
    return order == 0   ? e * (1.0 + d + d * d / 2.0 + d * d * d / 6.0)
           : order == 1 ? e * (1.0 + d + d * d / 2.0)
                        : e * (1.0 + d);
  }
};
TEST(BrokenLaws, AFallingThirdDerivativeIsNotNone) {
  const LawReport report = check_laws(Falling{}, {.pairs = 640, .seed = 3});
  EXPECT_NE(report.text().find("third derivative:"), std::string::npos) << report.text();
}

// A rule whose bound lies slightly above the likelihood for a few rows.
class RaisedRule final : public BoundRule {
 public:
  std::string name() const override { return "raised"; }
  void coefficients(const BatchedFamily& family, const FactSpans& rows, std::span<const double> eta_anchor,
                    std::span<const double> spread, Coefficients& out) const override {
    AnchoredRule().coefficients(family, rows, eta_anchor, spread, out);
    out.value_drop.assign(rows.size(), 0.0);
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (eta_anchor[i] > 10.0) out.value_drop[i] = -1e-3;
  }
};
TEST(BrokenLaws, BoundRaisedByAThousandth) {
  expect_caught(check_laws(Model(Logistic{}, Prior::flat()), std::make_shared<RaisedRule>(), some), "below");
}

// A growth that is half of the cubic bound's.
class SlowRule final : public BoundRule {
 public:
  std::string name() const override { return "slow"; }
  double radius() const override { return 5.0; }
  bool uses_spread() const override { return true; }
  bool grows() const override { return true; }
  void coefficients(const BatchedFamily& family, const FactSpans& rows, std::span<const double> eta_anchor,
                    std::span<const double> spread, Coefficients& out) const override {
    problems::CubicRule(5.0).coefficients(family, rows, eta_anchor, spread, out);
    for (double& k : out.growth) k *= 0.5;
  }
};
TEST(BrokenLaws, GrowthTooSlow) {
  expect_caught(check_laws(Model(Logistic{}, Prior::flat()), std::make_shared<SlowRule>(), some), "below");
}

}  // namespace
}  // namespace flymc
