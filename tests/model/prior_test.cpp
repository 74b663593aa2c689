// Every prior against its textbook formula: density, mass, slopes, properties of the surrogate, and draws.
#include "flymc/model/prior.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "flymc/core/error.hpp"
#include "model/support.hpp"

namespace flymc {
namespace {

using problems::message_of;
using problems::sigmas;

constexpr long double long_pi = std::numbers::pi_v<long double>;

struct Case {
  std::string name;
  std::function<Prior(double, double)> make;        // location, scale
  std::function<long double(long double)> density;  // of u = (x - location) / scale
  std::function<long double(long double)> below;    // the distribution function of u
  std::function<Prior(std::vector<double>, std::vector<double>)> make_each;
};

// The t with 2 degrees of freedom, whose distribution function is elementary: 1/2 + u / (2 sqrt(2 + u^2)).
std::vector<Case> cases() {
  return {
      {"normal", [](double m, double s) { return Prior::normal(m, s); },
       [](long double u) { return expl(-u * u / 2) / sqrtl(2 * long_pi); },
       [](long double u) { return erfcl(-u / sqrtl(2)) / 2; },
       [](std::vector<double> m, std::vector<double> s) { return Prior::normal(m, s); }},
      {"laplace", [](double m, double s) { return Prior::laplace(m, s); },
       [](long double u) { return expl(-fabsl(u)) / 2; },
       [](long double u) { return u < 0 ? expl(u) / 2 : 1 - expl(-u) / 2; },
       [](std::vector<double> m, std::vector<double> s) { return Prior::laplace(m, s); }},
      {"student_t", [](double m, double s) { return Prior::student_t(2.0, m, s); },
       [](long double u) { return powl(2 + u * u, -1.5L); },
       [](long double u) { return 0.5L + u / (2 * sqrtl(2 + u * u)); },
       [](std::vector<double> m, std::vector<double> s) { return Prior::student_t(2.0, m, s); }},
  };
}

double log_density(const Prior& prior, double x) { return prior.log_density(Vector::Constant(1, x)); }

TEST(Prior, LogDensityIsTheTextbooks) {
  for (const Case& c : cases())
    for (const double location : {0.0, -1.5})
      for (const double scale : {1.0, 0.01, 40.0})
        for (const double u : {0.0, 1e-9, -0.3, 2.0, -7.0, 30.0}) {
          const Prior prior = c.make(location, scale);
          const double x = location + scale * u;
          const long double exact = (static_cast<long double>(x) - location) / scale;
          const auto expected = static_cast<double>(logl(c.density(exact)) - logl(scale));
          EXPECT_NEAR(log_density(prior, x), expected, 1e-13 * (1.0 + std::abs(expected))) << c.name << " at " << u;
        }
}

// The t's constant for any degrees of freedom: Gamma((nu + 1) / 2) / (Gamma(nu / 2) sqrt(nu pi)).
TEST(Prior, StudentTForOtherDegreesOfFreedom) {
  for (const long double nu : {0.7L, 1.0L, 4.0L, 30.0L})
    for (const double x : {0.0, 0.5, -3.0, 1e6}) {
      const long double l = x;
      const long double expected =
          logl(tgammal((nu + 1) / 2) / tgammal(nu / 2) / sqrtl(nu * long_pi)) - (nu + 1) / 2 * log1pl(l * l / nu);
      EXPECT_NEAR(log_density(Prior::student_t(static_cast<double>(nu), 0.0, 1.0), x), static_cast<double>(expected),
                  1e-13 * (1.0 + std::abs(static_cast<double>(expected))));
    }
}

// Midpoints in v of x = location + scale tan(pi (v - 1/2)), which takes the whole line to (0, 1) and puts the Laplace's
// corner between two of them. The error is of order 1 / cells^2.
TEST(Prior, HasMassOne) {
  std::vector<Prior> priors = {Prior::student_t(1.0, 0.3, 2.0), Prior::student_t(7.0, 0.3, 2.0)};
  for (const Case& c : cases()) priors.push_back(c.make(0.3, 2.0));
  const int cells = 20000;
  for (const Prior& prior : priors) {
    double mass = 0.0;
    for (int i = 0; i < cells; ++i) {
      const double u = std::tan(std::numbers::pi * ((i + 0.5) / cells - 0.5));
      mass += std::exp(log_density(prior, 0.3 + 2.0 * u)) * 2.0 * std::numbers::pi * (1.0 + u * u) / cells;
    }
    EXPECT_NEAR(mass, 1.0, 1e-7) << prior.describe();
  }
}

TEST(Prior, GradientIsTheSlopeAndIsAdded) {
  for (const Case& c : cases())
    for (const double u : {-4.0, -0.2, 0.6, 3.0}) {
      const double location = 0.5, scale = 3.0, h = 1e-5;
      const Prior prior = c.make(location, scale);
      Vector gradient = Vector::Constant(1, 10.0);
      prior.log_density(Vector::Constant(1, location + scale * u), &gradient);
      const double slope =
          (log_density(prior, location + scale * u + h) - log_density(prior, location + scale * u - h)) / (2.0 * h);
      EXPECT_NEAR(gradient[0], 10.0 + slope, 1e-9) << c.name << " at " << u;
    }
}

TEST(Prior, FlatHasNoSay) {
  const Prior prior = Prior::flat();
  EXPECT_FALSE(prior.proper());
  Vector gradient = Vector::Constant(3, 1.0);
  EXPECT_EQ(prior.log_density(Vector::Constant(3, 1e9), &gradient), 0.0);
  EXPECT_EQ(prior.surrogate(Vector::Constant(3, 1e9), gradient), 0.0);
  for (const auto of : {Term::Of::surrogate, Term::Of::bend, Term::Of::corner})
    EXPECT_EQ(prior.curvature(of, Vector::Constant(3, 1e9)).diagonal, Vector::Zero(3));
  EXPECT_EQ(gradient, Vector::Constant(3, 1.0));
  EXPECT_NO_THROW(prior.check(1000));
}

struct Surrogate {
  double value, gradient, curvature;
};
Surrogate surrogate(const Prior& prior, double x) {
  Vector gradient = Vector::Zero(1);
  const double value = prior.surrogate(Vector::Constant(1, x), gradient);
  return {value, gradient[0], prior.curvature(Term::Of::surrogate, Vector::Constant(1, x)).diagonal[0]};
}

TEST(Prior, SurrogateIsThePriorUpToAConstantButForTheLaplace) {
  for (const Case& c : cases()) {
    const Prior prior = c.make(-0.5, 1.7);
    for (const double x : {-6.0, -0.7, 0.0, 0.4, 9.0}) {
      const Surrogate at = surrogate(prior, x);
      const double h = 1e-5;
      EXPECT_NEAR(at.gradient, (surrogate(prior, x + h).value - surrogate(prior, x - h).value) / (2.0 * h), 1e-9)
          << c.name << " at " << x;
      const double drop = surrogate(prior, x).value - surrogate(prior, 1.0).value;
      const double prior_drop = log_density(prior, x) - log_density(prior, 1.0);
      // For the Laplace, sqrt(u^2 + 0.01) - |u| <= 0.1.
      EXPECT_NEAR(drop, prior_drop, c.name == "laplace" ? 0.1 : 1e-13 * (1.0 + std::abs(prior_drop)))
          << c.name << " at " << x;
      const double bend = (surrogate(prior, x - h).gradient - surrogate(prior, x + h).gradient) / (2.0 * h);
      EXPECT_NEAR(prior.curvature(Term::Of::bend, Vector::Constant(1, x)).diagonal[0], bend, 1e-8)
          << c.name << " at " << x;
      if (c.name == "normal") {
        EXPECT_NEAR(at.curvature, bend, 1e-9);
      }
    }
  }
}

// Each term is concave in u^2, so the quadratic with the surrogate's gradient and curvature never lies above it: a
// Newton step increases it. Curvatures are positive, even where the second derivative is not.
TEST(Prior, SurrogateLiesAboveItsQuadratic) {
  for (const Case& c : cases()) {
    const Prior prior = c.make(0.2, 0.8);
    for (double x = -8.0; x <= 8.0; x += 0.5) {
      const Surrogate at = surrogate(prior, x);
      EXPECT_GT(at.curvature, 0.0) << c.name;
      for (double y = -10.0; y <= 10.0; y += 0.37) {
        const double quadratic = at.value + at.gradient * (y - x) - 0.5 * at.curvature * (y - x) * (y - x);
        EXPECT_GE(surrogate(prior, y).value, quadratic - 1e-11 * (1.0 + std::abs(quadratic)))
            << c.name << " from " << x << " at " << y;
      }
    }
  }
}

TEST(Prior, SurrogateAddsToTheGradient) {
  Vector gradient = Vector::Constant(1, 5.0);
  Prior::normal(1.0, 2.0).surrogate(Vector::Constant(1, 3.0), gradient);
  EXPECT_DOUBLE_EQ(gradient[0], 5.0 - 0.5);
}

// Shares of draws below five points; 15 comparisons, false alarm 1e-4 together.
TEST(Prior, DrawsHaveItsDistribution) {
  const Index n = 100000;
  for (const Case& c : cases()) {
    const Vector draws = c.make(0.4, 2.5).simulate(n, PhiloxRandom(3, 0, 0), Purpose::start);
    for (const double u : {-2.5, -0.6, 0.0, 0.9, 3.0}) {
      const auto p = static_cast<double>(c.below(u));
      const auto count = static_cast<double>((draws.array() < 0.4 + 2.5 * u).count());
      EXPECT_LT(std::abs(count - static_cast<double>(n) * p),
                sigmas * std::sqrt(static_cast<double>(n) * p * (1.0 - p)))
          << c.name << " below " << u;
    }
  }
}

TEST(Prior, DrawsDependOnTheAddressAlone) {
  for (const Case& c : cases()) {
    const Prior prior = c.make(0.0, 1.0);
    const Vector many = prior.simulate(9, PhiloxRandom(3, 1, 0), Purpose::start);
    EXPECT_EQ(prior.simulate(5, PhiloxRandom(3, 1, 0), Purpose::start), Vector(many.head(5))) << c.name;
    EXPECT_NE(prior.simulate(9, PhiloxRandom(3, 2, 0), Purpose::start), many) << c.name;
  }
}

TEST(Prior, EachCoefficientHasItsOwnLocationAndScale) {
  const std::vector<double> location = {0.0, -2.0, 5.0}, scale = {1.0, 0.1, 30.0};
  Vector theta(3);
  theta << 0.7, -1.9, -40.0;
  for (const Case& c : cases()) {
    const Prior each = c.make_each(location, scale);
    Vector gradient = Vector::Zero(3), surrogate_gradient = Vector::Zero(3);
    double sum = 0.0, surrogate_sum = 0.0;
    const double value = each.log_density(theta, &gradient);
    const double surrogate_value = each.surrogate(theta, surrogate_gradient);
    const Vector curvature = each.curvature(Term::Of::surrogate, theta).diagonal;
    const Vector unit = c.make(0.0, 1.0).simulate(3, PhiloxRandom(4, 0, 0), Purpose::start);
    const Vector draw = each.simulate(3, PhiloxRandom(4, 0, 0), Purpose::start);
    for (Index j = 0; j < 3; ++j) {
      const auto i = static_cast<std::size_t>(j);
      const Prior one = c.make(location[i], scale[i]);
      Vector own = Vector::Zero(1);
      sum += one.log_density(Vector::Constant(1, theta[j]), &own);
      EXPECT_DOUBLE_EQ(gradient[j], own[0]);
      const Surrogate stand_in = surrogate(one, theta[j]);
      surrogate_sum += stand_in.value;
      EXPECT_DOUBLE_EQ(surrogate_gradient[j], stand_in.gradient);
      EXPECT_DOUBLE_EQ(curvature[j], stand_in.curvature);
      EXPECT_DOUBLE_EQ(draw[j], location[i] + scale[i] * unit[j]);
    }
    EXPECT_NEAR(value, sum, 1e-13 * std::abs(sum)) << c.name;
    EXPECT_NEAR(surrogate_value, surrogate_sum, 1e-13 * std::abs(surrogate_sum)) << c.name;
    EXPECT_NO_THROW(each.check(3));
    EXPECT_EQ(message_of<InputError>([&] { each.check(4); }),
              "‹prior›: 3 locations or scales for 4 coefficients; give one, or one for each");
  }
  EXPECT_NO_THROW(Prior::normal({0.0}, {1.0, 2.0}).check(2));  // one location for all, a scale for each
}

TEST(Prior, DescribesItself) {
  EXPECT_EQ(Prior::normal(0.0, 2.5).describe(), "normal(0, 2.5)");
  EXPECT_EQ(Prior::laplace(-1.0, 0.1).describe(), "laplace(-1, 0.1)");
  EXPECT_EQ(Prior::student_t(4.0, 0.0, 1.0).describe(), "student_t(4, 0, 1)");
  EXPECT_EQ(Prior::normal({0.0}, {1.0, 2.0}).describe(), "normal(0, per coefficient)");
  EXPECT_EQ(Prior::flat().describe(), "flat");
}

TEST(Prior, BadInputIsNamed) {
  const double nan = std::nan("");
  EXPECT_EQ(message_of<InputError>([] { Prior::normal(0.0, 0.0); }), "‹prior›: the scale 0 is not positive");
  EXPECT_EQ(message_of<InputError>([] { Prior::laplace(0.0, -2.0); }), "‹prior›: the scale -2 is not positive");
  EXPECT_EQ(message_of<InputError>([] { Prior::normal(0.0, HUGE_VAL); }),
            "‹prior›: the scale inf is not a finite number");
  EXPECT_EQ(message_of<InputError>([&] { Prior::normal(nan, 1.0); }),
            "‹prior›: the location nan is not a finite number");
  EXPECT_EQ(message_of<InputError>([] { Prior::student_t(0.0, 0.0, 1.0); }),
            "‹prior›: 0 degrees of freedom are not positive");
  EXPECT_EQ(message_of<InputError>([&] { Prior::student_t(nan, 0.0, 1.0); }),
            "‹prior›: nan degrees of freedom are not positive");
  EXPECT_EQ(message_of<InputError>([] { Prior::normal(std::vector<double>{}, {1.0}); }),
            "‹prior›: no location or no scale given");
  EXPECT_EQ(message_of<InputError>([] {
              Prior::normal({0.0, 0.0}, {1.0, -1.0});
            }),
            "‹prior›: the scale -1 is not positive");
  EXPECT_EQ(message_of<InputError>([] { Prior::flat().simulate(2, PhiloxRandom(1, 0, 0), Purpose::start); }),
            "a flat prior has no draws; start from the anchor, or choose a proper prior");
}

TEST(Prior, IsReadAsItDescribesItself) {
  for (const std::string text : {"normal(0, 2.5)", "laplace(-1, 0.1)", "student_t(4, 0.3333333333333333, 2.5)", "flat"})
    EXPECT_EQ(Prior::parse(text).describe(), text);
  EXPECT_EQ(Prior::parse(" normal ( +0 ,1e1)").describe(), "normal(0, 10)");
  for (const std::string text :
       {"", "normal", "normal(0)", "normal(0,)", "normal(0, 1", "normal(0, 1,)", "normal(0, 1)x", "normal(a, 1)",
        "normal(0 1)", "cauchy(0, 1)", "flat(1)", "student_t(0, 1)", "normal()"})
    EXPECT_NE(message_of<InputError>([&] { Prior::parse(text); }).find("is none of normal(location, scale)"),
              std::string::npos)
        << text;
  EXPECT_EQ(message_of<InputError>([] { Prior::parse("normal(0, -1)"); }), "‹prior›: the scale -1 is not positive");
}

// Without `corner`, the curvature at the corner of a Laplace is that of a normal of the same variance, 2 b^2.
TEST(Prior, TheCornerOfALaplaceLooksNarrowerThanItIs) {
  const Vector at{{0.3, 0.9}};
  const Prior laplace = Prior::laplace({0.3, 0.3}, {0.1, 0.1});
  const Vector curvature = laplace.curvature(Term::Of::surrogate, at).diagonal,
               more = laplace.curvature(Term::Of::corner, at).diagonal;
  EXPECT_NEAR(curvature[0] - more[0], 50.0, 1e-9);
  EXPECT_GT(more[0], 900.0);  // 1000 in all, 20 times that of the normal
  EXPECT_EQ(more[1], 0.0);    // away from the corner
  for (const Prior& other : {Prior::normal(0.3, 0.1), Prior::student_t(4.0, 0.3, 0.1), Prior::flat()})
    EXPECT_EQ(other.curvature(Term::Of::corner, at).diagonal, Vector::Zero(2));
}

}  // namespace
}  // namespace flymc
