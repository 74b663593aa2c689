// Formulas: late ~ origin + log(distance)*hour.
//
// There is one target on the left, and there are terms on the right. a:b is the interaction of a and b, a*b is
// a + b + a:b, (a + b)^2 is (a + b)*(a + b); `.` is all other columns, -a leaves a out, and -1 or 0 + the intercept. A
// column of numbers may stand in log, log2, log10, log1p, exp, sqrt or as a power, I(x^2); C(x) or factor(x) takes its
// numbers as names of levels. A name that is no identifier stands in backticks. Terms are ordered by their number of
// factors, and then as they are written, as in R.
//
// (1 + hour | carrier) gives each carrier effects of its own, as in lme4 and brms: an intercept and a slope of hour, which
// are correlated; with || they are independent. 0 leaves the intercept out. Groups are levels of a column, or the
// combinations of several, a:b; a/b stands for a and a:b. Columns of groups are none of those that `.` stands for.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace flymc {

enum class NumberFunction { identity, log, log2, log10, log1p, exp, sqrt, power };

// A column of the table, or a function of one.
struct FormulaFactor {
  std::string column;
  NumberFunction function = NumberFunction::identity;
  int power = 1;
  // The factor as it is written in names of features: log(distance), I(x^2).
  std::string text() const;
  bool operator==(const FormulaFactor&) const = default;
};

// One factor, or the product of several different factors.
using FormulaTerm = std::vector<FormulaFactor>;

// Effects of groups: (1 + hour | carrier).
struct FormulaGroups {
  std::vector<std::string> columns;  // those whose levels, or combinations of levels, are the groups
  bool intercept = true;
  std::vector<FormulaTerm> slopes = {};
  bool correlated = true;
  // The columns as they are written, a:b.
  std::string name() const;
};

struct Formula {
  std::string target;
  bool intercept = true;
  std::vector<FormulaTerm> terms;
  std::vector<FormulaGroups> groups = {};
  // Columns in C() or factor(), and those of groups.
  std::vector<std::string> categorical;
  // The columns of all terms but groups, in the order of their first occurrence.
  std::vector<std::string> columns() const;
};

// Returns the formula. `others` gives the columns that `.` stands for, for a target; without it `.` stands for no
// columns, which is enough to know the target and whether the text is valid. Throws InputError, naming the place, if it
// is not.
Formula parse_formula(const std::string& text,
                      const std::function<std::vector<std::string>(const std::string& target)>& others = nullptr);

// Whether two terms have the same factors.
bool same_term(const FormulaTerm& a, const FormulaTerm& b);

// The function of a number; NaN outside of its domain.
double value_of(NumberFunction function, int power, double x);

}  // namespace flymc
