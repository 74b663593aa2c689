// Formulas: late ~ origin + log(distance)*hour.
//
// One target on the left, terms on the right. a:b is the interaction of a and b, a*b is a + b + a:b, (a + b)^2 is
// (a + b)*(a + b); `.` is all other columns, -a leaves a out, and -1 or 0 + the intercept. A column of numbers may
// stand in log, log2, log10, log1p, exp, sqrt or as a power, I(x^2); C(x) or factor(x) takes its numbers for names of
// levels. A name that is no identifier stands in backticks. Terms come by the number of their factors, and then as they
// are written, as in R.
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
  // As the name of a feature has it: log(distance), I(x^2).
  std::string text() const;
  bool operator==(const FormulaFactor&) const = default;
};

// One factor, or the product of several; no factor is there twice.
using FormulaTerm = std::vector<FormulaFactor>;

struct Formula {
  std::string target;
  bool intercept = true;
  std::vector<FormulaTerm> terms;
  // Columns that stand in C() or factor().
  std::vector<std::string> categorical;
  // The columns of all terms, as they come first.
  std::vector<std::string> columns() const;
};

// `others` gives, of the target, the columns that `.` stands for. Without it these are none, which is enough to know
// the target and whether the text can be read. Throws InputError, naming the place, if it cannot.
Formula parse_formula(const std::string& text,
                      const std::function<std::vector<std::string>(const std::string& target)>& others = nullptr);

// The function of a number; NaN where it has none.
double value_of(NumberFunction function, int power, double x);

}  // namespace flymc
