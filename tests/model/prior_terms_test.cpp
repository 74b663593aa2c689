// Priors by term: the coefficients that a term names, and that each of them has its own prior.
#include "flymc/model/prior_terms.hpp"

#include <gtest/gtest.h>

#include "flymc/core/error.hpp"
#include "model/support.hpp"

namespace flymc {
namespace {

using problems::message_of;
using Names = std::vector<NamedCoefficient>;

// Each coefficient's prior, compared by its log density at two points.
void expect_same(const Prior& all, const std::vector<Prior>& each) {
  const auto size = static_cast<Index>(each.size());
  for (const double at : {-1.3, 0.4}) {
    Vector gradient = Vector::Zero(size);
    const double value = all.log_density(Vector::Constant(size, at), &gradient);
    double sum = 0.0;
    for (Index j = 0; j < size; ++j) {
      Vector own = Vector::Zero(1);
      sum += each[static_cast<std::size_t>(j)].log_density(Vector::Constant(1, at), &own);
      EXPECT_DOUBLE_EQ(gradient[j], own[0]) << j;
    }
    EXPECT_NEAR(value, sum, 1e-13);
  }
}

// Names of coefficients of numeric columns.
Names columns(const std::vector<std::string>& names) {
  Names out;
  for (const std::string& name : names) out.push_back({name, name, name});
  return out;
}

// The prior of these coefficients, with the default normal(0, 3), on the scale of the text.
Prior of(const PriorTerms& terms, const Names& names) {
  return terms.of(names, Prior::normal(0.0, 3.0), Vector::Ones(static_cast<Index>(names.size())));
}

TEST(PriorTerms, OneForAllIsThePriorItself) {
  const PriorTerms terms = PriorTerms::parse("laplace(0, 1)");
  EXPECT_EQ(of(terms, columns({"a", "b"})).describe(), "laplace(0, 1)");
  EXPECT_EQ(terms.describe(), "laplace(0, 1)");
  EXPECT_FALSE(terms.only_default());
}

// A prior in the text is multiplied by the scale, location included; the default has its own scale.
TEST(PriorTerms, OfScaledCoefficients) {
  Vector scale(4);
  scale << 1.0, 10.0, 0.5, 4.0;
  const Prior usual = Prior::normal({7.0, 0.0, 0.0, 1.0}, {2.0, 3.0, 4.0, 5.0});
  const PriorTerms terms = PriorTerms::parse("default; b: student_t(4, 1, 2); c: laplace(-2, 3);d :flat");
  const Names names = columns({"a", "b", "c", "d"});
  expect_same(terms.of(names, usual, scale),
              {Prior::normal(7.0, 2.0), Prior::student_t(4.0, 10.0, 20.0), Prior::laplace(-1.0, 1.5), Prior::flat()});
  EXPECT_EQ(terms.describe(), "default; b: student_t(4, 1, 2); c: laplace(-2, 3); d: flat");
  EXPECT_FALSE(terms.proper());
  EXPECT_FALSE(terms.only_default());
  EXPECT_TRUE(PriorTerms::parse(" default ").only_default());
  EXPECT_TRUE(PriorTerms::parse("default").proper());
  expect_same(PriorTerms::parse("normal(1, 2); c: default").of(names, usual, scale),
              {Prior::normal(1.0, 2.0), Prior::normal(10.0, 20.0), Prior::normal(0.0, 4.0), Prior::normal(4.0, 8.0)});
}

// The levels of a column and of products, with three classes. A prior of a column is not one of its products, whichever
// of their columns comes first.
TEST(PriorTerms, ANameIsACoefficientOrAFeatureOrATerm) {
  const PriorTerms terms = PriorTerms::parse(
      "normal(0, 2.5); age: student_t(4, 0, 1);region:laplace(0, 0.5) ; region[b]: flat; region:age: normal(1, 2); "
      "region[c]:age[no]: normal(3, 4)");
  const Names names{{"intercept[no]", "intercept", "intercept"},
                    {"age[no]", "age", "age"},
                    {"age[yes]", "age", "age"},
                    {"ages[no]", "ages", "ages"},
                    {"region[a][no]", "region[a]", "region"},
                    {"region[b][no]", "region[b]", "region"},
                    {"region[b]:age[no]", "region[b]:age", "region:age"},
                    {"region[c]:age[no]", "region[c]:age", "region:age"},
                    {"age:town[a][no]", "age:town[a]", "age:town"},
                    {"region[b]:town[a][no]", "region[b]:town[a]", "region:town"},
                    {"region[b]:age:town[a][no]", "region[b]:age:town[a]", "region:age:town"}};
  const Prior others = Prior::normal(0.0, 2.5), of_age = Prior::student_t(4.0, 0.0, 1.0);
  expect_same(of(terms, names), {others, of_age, of_age, others, Prior::laplace(0.0, 0.5), Prior::flat(),
                                 Prior::normal(1.0, 2.0), Prior::normal(3.0, 4.0), others, others, others});
  EXPECT_FALSE(terms.proper());
  EXPECT_TRUE(PriorTerms::parse("normal(0, 1); a: laplace(0, 1)").proper());
  EXPECT_EQ(PriorTerms::parse(terms.describe()).describe(), terms.describe());
}

TEST(PriorTerms, BadInputIsNamed) {
  EXPECT_EQ(message_of<InputError>([] { PriorTerms::parse("normal(0, 1); a"); }),
            "‹prior›: ' a' is not a term and its prior, as in 'default; age: normal(0, 1)'");
  EXPECT_EQ(message_of<InputError>([] { PriorTerms::parse("normal(0, 1); a: flat; a: flat"); }),
            "‹prior›: the term 'a' is there twice; name it once");
  EXPECT_NE(message_of<InputError>([] { PriorTerms::parse("normal(0, 1); a: cauchy(0, 1)"); }).find("is none of"),
            std::string::npos);
  EXPECT_EQ(message_of<InputError>([] {
              of(PriorTerms::parse("normal(0, 1); aeg: flat"), columns({"age", "income"}));
            }),
            "‹prior›: 'aeg' is the name of no coefficient; did you mean 'age'?");
}

// Priors of several kinds: each coefficient gets the same values as from its prior alone.
TEST(PriorTerms, KindsMayDiffer) {
  const std::vector<Prior> each{Prior::normal(0.5, 2.0), Prior::laplace(0.0, 0.5), Prior::student_t(3.0, 1.0, 2.0)};
  const Prior all = Prior::each(each);
  EXPECT_TRUE(all.proper());
  EXPECT_FALSE(all.quadratic());
  EXPECT_TRUE(Prior::each({Prior::flat(), Prior::normal(0.0, 1.0)}).quadratic());
  EXPECT_FALSE(Prior::each({Prior::flat(), Prior::normal(0.0, 1.0)}).proper());
  EXPECT_EQ(all.describe(), "per coefficient");
  expect_same(all, each);
  Vector theta(3), gradient = Vector::Zero(3);
  theta << 0.3, -2.0, 5.0;
  double sum = 0.0;
  const double value = all.surrogate(theta, gradient);
  const Vector curvature = all.curvature(Term::Of::surrogate, theta).diagonal;
  for (Index j = 0; j < 3; ++j) {
    Vector g = Vector::Zero(1);
    const Prior& one = each[static_cast<std::size_t>(j)];
    sum += one.surrogate(theta.segment(j, 1), g);
    EXPECT_DOUBLE_EQ(gradient[j], g[0]);
    EXPECT_DOUBLE_EQ(curvature[j], one.curvature(Term::Of::surrogate, theta.segment(j, 1)).diagonal[0]);
  }
  EXPECT_NEAR(value, sum, 1e-13);
  EXPECT_EQ(message_of<InputError>([&] { Prior::each({all}); }),
            "‹prior›: 3 locations or scales for 1 coefficients; give one, or one for each");
}

// Each coefficient's draws have their own distribution: medians and upper quartiles over 20,000 draws. The standard
// error of a share is at most 0.0036, so 4.5 of them give a false alarm of 7e-6 for each of six comparisons.
TEST(PriorTerms, DrawsOfDifferentKinds) {
  const Prior all = Prior::each({Prior::normal(1.0, 2.0), Prior::laplace(0.0, 0.5), Prior::student_t(2.0, 0.0, 1.0)});
  const double median[] = {1.0, 0.0, 0.0},
               quartile[] = {1.0 + 2.0 * 0.6744897501960817, 0.5 * 0.6931471805599453, 0.816496580927726};
  constexpr int draws = 20000;
  int below_median[3] = {}, below_quartile[3] = {};
  for (int i = 0; i < draws; ++i) {
    const Vector theta = all.simulate(3, PhiloxRandom(7, static_cast<std::uint64_t>(i), 0), Purpose::start);
    for (int j = 0; j < 3; ++j) {
      below_median[j] += theta[j] < median[j];
      below_quartile[j] += theta[j] < quartile[j];
    }
  }
  for (int j = 0; j < 3; ++j) {
    EXPECT_NEAR(below_median[j] / double{draws}, 0.5, 4.5 * 0.0036) << j;
    EXPECT_NEAR(below_quartile[j] / double{draws}, 0.75, 4.5 * 0.0031) << j;
  }
}

}  // namespace
}  // namespace flymc
