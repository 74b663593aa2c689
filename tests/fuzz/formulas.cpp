// Formulas, with and without the columns that a dot stands for.
#include "flymc/data/files/encoding/formula.hpp"
#include "fuzz.hpp"

FLYMC_FUZZ_TARGET(formulas) {
  using namespace flymc;
  const std::string text(input);
  const Formula formula = parse_formula(text, [](const std::string&) {
    return std::vector<std::string>{"a", "b", "C#"};
  });
  for (const FormulaTerm& term : formula.terms)
    for (const FormulaFactor& factor : term) fuzz::must(!factor.text().empty(), "a factor has a name");
  fuzz::must(parse_formula(text).target == formula.target, "a formula's target does not depend on other columns");
}
