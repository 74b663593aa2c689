// Formulas: the terms that they stand for, and messages about those that cannot be read.
#include "flymc/data/files/encoding/formula.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "flymc/core/error.hpp"
#include "flymc/core/names.hpp"
#include "support.hpp"

namespace flymc {
namespace {

// "y = 1 + a + a:b", with 0 if there is no intercept; `.` is a, b and c.
std::string read(const std::string& text) {
  const Formula formula = parse_formula(text, [](const std::string& target) {
    std::vector<std::string> others;
    for (const char* name : {"a", "b", "c", "y"})
      if (target != name) others.emplace_back(name);
    return others;
  });
  std::string out = formula.target + (formula.intercept ? " = 1" : " = 0");
  for (const FormulaTerm& term : formula.terms) {
    std::vector<std::string> factors;
    for (const FormulaFactor& factor : term) factors.push_back(factor.text());
    out += " + " + joined(factors, ":");
  }
  return out;
}

// The parser is recursive, so the depth of parentheses is limited.
TEST(Formula, ParenthesesHaveADepth) {
  const auto nested = [](std::size_t deep) { return "y ~ " + std::string(deep, '(') + "a" + std::string(deep, ')'); };
  EXPECT_EQ(read(nested(100)), "y = 1 + a");
  EXPECT_EQ(read("y ~ " + std::string("(a):").append("(b)")), "y = 1 + a:b");
  for (const std::size_t deep : std::initializer_list<std::size_t>{101, 30000, 1000000})
    EXPECT_TRUE(says(message_of<InputError>([&] { read(nested(deep)); }), {"more than 100 deep", "write fewer"}))
        << deep;
}

TEST(Formula, StandsForTerms) {
  for (const auto& [text, terms] : std::initializer_list<std::pair<const char*, const char*>>{
           {"y ~ a", "y = 1 + a"},
           {"y~a+b", "y = 1 + a + b"},
           {" y ~ 1 + a ", "y = 1 + a"},
           {"y ~ 1", "y = 1"},
           {"y ~ 0 + a", "y = 0 + a"},
           {"y ~ a - 1", "y = 0 + a"},
           {"y ~ -1 + a", "y = 0 + a"},
           {"y ~ a + 0 + 1", "y = 1 + a"},
           {"y ~ a + a", "y = 1 + a"},
           {"y ~ a:b", "y = 1 + a:b"},
           {"y ~ a:b + b:a", "y = 1 + a:b"},
           {"y ~ a*b", "y = 1 + a + b + a:b"},
           {"y ~ a:b + c", "y = 1 + c + a:b"},  // fewer factors come first
           {"y ~ a*b:c", "y = 1 + a + b:c + a:b:c"},
           {"y ~ a*b*c", "y = 1 + a + b + c + a:b + a:c + b:c + a:b:c"},
           {"y ~ a*b*c - a:b:c", "y = 1 + a + b + c + a:b + a:c + b:c"},
           {"y ~ (a + b):c", "y = 1 + a:c + b:c"},
           {"y ~ (a + b)*c", "y = 1 + a + b + c + a:c + b:c"},
           {"y ~ (a + b + c)^2", "y = 1 + a + b + c + a:b + a:c + b:c"},
           {"y ~ (a + b)**2", "y = 1 + a + b + a:b"},
           {"y ~ .", "y = 1 + a + b + c"},
           {"y ~ . - b", "y = 1 + a + c"},
           {"y ~ .^2", "y = 1 + a + b + c + a:b + a:c + b:c"},
           {"a ~ .", "a = 1 + b + c + y"},
           {"y ~ log(a) + I(b^2)*c", "y = 1 + log(a) + I(b^2) + c + I(b^2):c"},
           {"y ~ I(b ** 3) + sqrt(a):exp( b )", "y = 1 + I(b^3) + sqrt(a):exp(b)"},
           {"y ~ log1p(a) + log2(a) + log10(a)", "y = 1 + log1p(a) + log2(a) + log10(a)"},
           {"y ~ C(a):b + factor(a)", "y = 1 + a + a:b"},
           {"`my y` ~ `a b` + log(`c*`)", "my y = 1 + a b + log(c*)"},
           {"y ~ größe + a.b + _c1", "y = 1 + größe + a.b + _c1"},
       })
    EXPECT_EQ(read(text), terms) << text;
  EXPECT_EQ(parse_formula("y ~ x*C(a) + factor(b)").categorical, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(parse_formula("y ~ b:log(x) + a + I(b^2)").columns(), (std::vector<std::string>{"a", "b", "x"}));
  EXPECT_TRUE(parse_formula("y ~ . - a").terms.empty());  // the meaning of . is not known yet
}

TEST(Formula, SaysWhatCannotBeRead) {
  for (const auto& [text, said] : std::initializer_list<std::pair<const char*, const char*>>{
           {"y", "there is no ~"},
           {"~ a", "the left side names the target"},
           {"log(y) ~ a", "a function of the target is a column that the table should have"},
           {"y + z ~ a", "the left side is the name of a column by itself"},
           {"y ~", "ends where a column should be named"},
           {"y ~ a +", "ends where a column should be named"},
           {"y ~ a b", "an operator is one of"},
           {"y ~ a ~ b", "a second ~"},
           {"y ~ (a + b", "this ( is not closed"},
           {"y ~ a)", "closes nothing"},
           {"y ~ (1 | g", "this ( is not closed"},
           {"y ~ a:(1 | g)", "stand by themselves, after a +"},
           {"y ~ ((1 | g))", "stand by themselves, after a +"},
           {"y ~ a | g", "stand in parentheses by themselves"},
           {"y ~ a - (1 | g)", "cannot be left out by -"},
           {"y ~ a + (0 | g)", "these groups have no effects"},
           {"y ~ a + (. | g)", "slopes of groups are named one by one"},
           {"y ~ a + (1 | g + h)", "(1 | a) + (1 | b)"},
           {"y ~ a + (1 | 1)", "the name of a column follows the |"},
           {"y ~ a + (1 | C(g))", "the groups are the values of a column"},
           {"y ~ a + (1 | y)", "this is the target"},
           {"y ~ a + (1 | g:g)", "a column is named twice after the |"},
           {"y ~ a + (1 | a)", "write C(a) there"},
           {"y ~ a + (1 | g) + (1 + a | g)", "the same effect in another term"},
           {"y ~ a + b + (1 | g/h) + (1 + b | h:g)", "the same effect in another term"},
           {"y ~ a + (C(a) + a | g)", "write C(a) everywhere"},
           {"y ~ a %in% b", "write a + a:b"},
           {"y ~ a/b", "write a + a:b for a/b"},
           {"y ~ a^2", "write I(x^2)"},
           {"y ~ a**2", "write I(x^2)"},
           {"y ~ .a^2", "write I(x^2)"},
           {"y ~ (a)^2", "a term times itself is the term again; write I(x^2)"},
           {"y ~ a*a", "a term times itself is the term again"},
           {"y ~ a:a", "a term times itself is the term again"},
           {"y ~ (a + b)^x", "a whole number from 1 to 9 follows"},
           {"y ~ bs(a, df = 4)", "curves are fitted from Python and R"},
           {"y ~ sin(a)", "there is no function 'sin'; there are C, factor, I, log"},
           {"y ~ offset(a)", "an offset is named apart"},
           {"y ~ log(a + b)", "log() takes the name of a column alone"},
           {"y ~ log()", "log() takes the name of a column"},
           {"y ~ I(a)", "a power from 2 to 9"},
           {"y ~ I(a^0.5)", "numbers are whole"},
           {"y ~ C(a, contr.sum)", "C() takes the name of a column alone"},
           {"y ~ C(a) + a", "write C(a) everywhere"},
           {"y ~ C(a) + log(a)", "write C(a) everywhere"},
           {"y ~ `a", "the backtick is not closed"},
           {"y ~ 2 + a", "a number is 1 or 0"},
           {"y ~ (1 + a):b", "no part of terms in parentheses"},
           {"y ~ y + a", "this is the target"},
           {"y ~ log(y)", "this is the target"},
           {"y ~ a - b", "is not there"},
           {"y ~ 3a", "a name that begins with a digit stands in backticks"},
       })
    EXPECT_TRUE(says(message_of<InputError>([&, t = text] { read(t); }), {said})) << text;
  // The place is named, in characters from 1.
  EXPECT_TRUE(says(message_of<InputError>([] { read("y ~ a + bs(b)"); }), {"at 'bs(b)' (character 9)"}));
}

// "1 + a + a:b | g:h", with || if effects are independent.
std::vector<std::string> groups_of(const std::string& text) {
  std::vector<std::string> out;
  for (const FormulaGroups& groups : parse_formula(text).groups) {
    std::vector<std::string> effects = {groups.intercept ? "1" : "0"};
    for (const FormulaTerm& slope : groups.slopes) {
      std::vector<std::string> factors;
      for (const FormulaFactor& factor : slope) factors.push_back(factor.text());
      effects.push_back(joined(factors, ":"));
    }
    out.push_back(joined(effects, " + ") + (groups.correlated ? " | " : " || ") + groups.name());
  }
  return out;
}

TEST(Formula, HasGroups) {
  using Groups = std::vector<std::string>;
  for (const auto& [text, groups] : std::initializer_list<std::pair<const char*, Groups>>{
           {"y ~ a + (1 | g)", {"1 | g"}},
           {"y ~ (1|g) + a", {"1 | g"}},
           {"y ~ a + (a | g)", {"1 + a | g"}},
           {"y ~ a + (1 + a | g) + (1 | h)", {"1 + a | g", "1 | h"}},
           {"y ~ a + (0 + a | g)", {"0 + a | g"}},
           {"y ~ a + (a - 1 | g)", {"0 + a | g"}},
           {"y ~ a + (a || g)", {"1 + a || g"}},
           {"y ~ a*b + (a*b | g)", {"1 + a + b + a:b | g"}},
           {"y ~ a + (log(a) | `my group`)", {"1 + log(a) | my group"}},
           {"y ~ a + (1 | g/h)", {"1 | g", "1 | g:h"}},
           {"y ~ a + (a || g/h/i)", {"1 + a || g", "1 + a || g:h", "1 + a || g:h:i"}},
           {"y ~ a + (1 | g:h) + (0 + a | g:h)", {"1 | g:h", "0 + a | g:h"}},
           {"y ~ C(g) + (1 | g)", {"1 | g"}},
       })
    EXPECT_EQ(groups_of(text), groups) << text;
  EXPECT_EQ(read("y ~ . + (1 | b)"), "y = 1 + a + c");
  EXPECT_EQ(read("y ~ . - b + (1 | b)"), "y = 1 + a + c");
  EXPECT_EQ(read("y ~ . + C(b) + (1 | b)"), "y = 1 + a + c + b");
  // The groups are no terms, and their columns hold levels.
  const Formula formula = parse_formula("y ~ a + (a | g/h)");
  EXPECT_EQ(formula.terms.size(), 1u);
  EXPECT_EQ(formula.columns(), std::vector<std::string>{"a"});
  EXPECT_EQ(formula.categorical, (std::vector<std::string>{"g", "h"}));
}

TEST(Formula, FunctionsHaveNoValueOutsideTheirDomain) {
  EXPECT_DOUBLE_EQ(value_of(NumberFunction::log, 1, std::exp(2.0)), 2.0);
  EXPECT_DOUBLE_EQ(value_of(NumberFunction::log2, 1, 8.0), 3.0);
  EXPECT_DOUBLE_EQ(value_of(NumberFunction::log10, 1, 1000.0), 3.0);
  EXPECT_DOUBLE_EQ(value_of(NumberFunction::log1p, 1, 0.0), 0.0);
  EXPECT_DOUBLE_EQ(value_of(NumberFunction::exp, 1, 1.0), std::exp(1.0));
  EXPECT_DOUBLE_EQ(value_of(NumberFunction::sqrt, 1, 9.0), 3.0);
  EXPECT_DOUBLE_EQ(value_of(NumberFunction::power, 3, -2.0), -8.0);
  EXPECT_DOUBLE_EQ(value_of(NumberFunction::identity, 1, 7.0), 7.0);
  for (const double x : {0.0, -1.0}) EXPECT_TRUE(std::isnan(value_of(NumberFunction::log, 1, x)));
  EXPECT_TRUE(std::isnan(value_of(NumberFunction::log1p, 1, -1.0)));
  EXPECT_TRUE(std::isnan(value_of(NumberFunction::sqrt, 1, -1.0)));
}

}  // namespace
}  // namespace flymc
