// The paper's bounds in the paper's own formulas.
#include "flymc/bound/rule.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "problems/problems.hpp"

namespace flymc {
namespace {

// log B at eta, from the coefficients of a rule anchored at another point.
double log_bound(const Model& model, const BoundRule& rule, double y, double eta_anchor, double eta) {
  Coefficients c;
  rule.coefficients(model.family(), {&y, 1}, {&eta_anchor, 1}, {}, c);
  double value = 0.0, slope = 0.0;
  model.family().likelihood({&y, 1}, {&eta_anchor, 1}, {&value, 1}, {&slope, 1}, {});
  const double v = value - (c.value_drop.empty() ? 0.0 : c.value_drop[0]);
  const double s = slope - (c.slope_drop.empty() ? 0.0 : c.slope_drop[0]);
  const double delta = eta - eta_anchor;
  return v + s * delta - 0.5 * c.curvature[0] * delta * delta;
}

// Section 3.1 of the paper: log B = a (t eta)^2 + b t eta + c with t = +-1, written out.
double papers_jaakkola_jordan(double t, double eta, double xi) {
  const double a = -1.0 / (4.0 * xi) * (std::exp(xi) - 1.0) / (std::exp(xi) + 1.0);
  const double c = -a * xi * xi + xi / 2.0 - std::log(std::exp(xi) + 1.0);
  return a * eta * eta + 0.5 * t * eta + c;
}

TEST(Rule, FixedIsThePapersUntunedBoundWhereverTheAnchorIs) {
  const Model model(Logistic{}, Prior::flat());
  for (const double xi : {0.2, 1.5, 8.0})
    for (const double anchor : {0.0, -3.0, 1.5, 20.0})
      for (const double y : {0.0, 1.0})
        for (double eta = -12.0; eta <= 12.0; eta += 0.7)
          EXPECT_NEAR(log_bound(model, FixedJaakkolaJordanRule(xi), y, anchor, eta),
                      papers_jaakkola_jordan(2.0 * y - 1.0, eta, xi), 1e-12);
}

TEST(Rule, AnchoredLogisticIsThePapersTunedBound) {
  const Model model(Logistic{}, Prior::flat());
  for (const double anchor : {-4.0, 0.3, 1.5, 9.0})
    for (const double y : {0.0, 1.0})
      for (double eta = -12.0; eta <= 12.0; eta += 0.7)
        EXPECT_NEAR(log_bound(model, AnchoredRule(), y, anchor, eta),
                    papers_jaakkola_jordan(2.0 * y - 1.0, eta, std::abs(anchor)), 1e-12);
}

TEST(Rule, AnchoredStudentTIsTheTangentInTheSquaredResidual) {
  const double nu = 4.0, sigma = 0.7, y = 1.3;
  const Model model(StudentT{nu, sigma}, Prior::flat());
  for (const double anchor : {-4.0, 0.3, 1.3, 9.0})
    for (double eta = -12.0; eta <= 12.0; eta += 0.7) {
      const double u0 = (y - anchor) * (y - anchor), u = (y - eta) * (y - eta);
      double at_anchor = 0.0;
      model.family().likelihood({&y, 1}, {&anchor, 1}, {&at_anchor, 1}, {}, {});
      const double tangent = at_anchor - 0.5 * (nu + 1.0) / (nu * sigma * sigma + u0) * (u - u0);
      EXPECT_NEAR(log_bound(model, AnchoredRule(), y, anchor, eta), tangent, 1e-11);
    }
}

TEST(Rule, FixedBelongsToTheLogistic) {
  EXPECT_EQ(FixedJaakkolaJordanRule().family_problem(Model(Logistic{}, Prior::flat()).family()), "");
  EXPECT_NE(FixedJaakkolaJordanRule().family_problem(Model(Softmax{3}, Prior::flat()).family()), "");
  EXPECT_THROW(FixedJaakkolaJordanRule{HUGE_VAL}, InputError);
}

}  // namespace
}  // namespace flymc
