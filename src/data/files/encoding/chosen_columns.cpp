// Checks names of columns against the table, and against each other.
#include "chosen_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "column_checks.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/core/names.hpp"
#include "group_columns.hpp"
#include "terms.hpp"

namespace flymc {
namespace {

const TableColumn& known(const Table& table, const std::string& name, const char* role) {
  const TableColumn* column = table.find(name);
  if (column == nullptr)
    throw InputError(fmt::format("{}: there is no column '{}' ({}){}", table.files().front(), on_one_line(name), role,
                                 did_you_mean(name, table.names())),
                     {.file = table.files().front(), .column = name});
  return *column;
}

// The columns of facts, and their names in messages.
using Role = std::pair<std::string, const char*>;
std::vector<Role> roles(const EncodingOptions& options) {
  std::vector<Role> out = {{options.offset, options.exposure ? "the exposure" : "the offset"},
                           {options.weights, options.target.trials ? "the trials" : "the weights"},
                           {options.target.event, "the event"}};
  std::erase_if(out, [](const Role& role) { return role.first.empty(); });
  return out;
}

// The columns of facts, which are not features. Throws InputError if one cannot be used.
std::vector<std::string> check_facts(const Table& table, const EncodingOptions& options) {
  std::vector<std::string> facts;
  for (const auto& [name, role] : roles(options)) {
    const ColumnKind kind = known(table, name, role).kind;
    if (name == options.target.name)
      throw InputError(fmt::format("'{}' is the target and cannot be {} too; name another column", name, role));
    if (kind != ColumnKind::numeric && kind != ColumnKind::boolean)
      throw InputError(
          fmt::format("{}: column '{}' is to be {}, which must be numbers, and holds something "
                      "else; correct its cells, or name another column",
                      table.files().front(), name, role));
    for (const auto& [other, its_role] : roles(options))
      if (other == name && its_role != role)
        throw InputError(
            fmt::format("'{}' cannot be both {} and {}; name another column for one of them", name, its_role, role));
    facts.push_back(name);
  }
  return facts;
}

// Throws InputError if columns that are named as features cannot be features.
void check_named(const Table& table, const EncodingOptions& options, const std::vector<std::string>& columns) {
  std::set<std::string> chosen;
  const std::string where = mention(options.formula.empty() ? "columns" : "formula");
  for (const auto& name : columns) {
    known(table, name, "a feature");
    if (name == options.target.name)
      throw InputError(fmt::format("'{}' is the target and cannot be a feature too; leave it out of {}", name, where));
    for (const auto& [fact, role] : roles(options))
      if (name == fact)
        throw InputError(fmt::format("'{}' is {} and cannot be a feature too; leave it out of {}", name, role, where));
    if (!chosen.insert(name).second)
      throw InputError(fmt::format("the column '{}' is named twice; name it once", name));
  }
}

// Splits "column=level". Both may contain =; the column is the longest name that fits.
std::map<std::string, std::string> references(const EncodingOptions& options,
                                              const std::vector<EncodedColumn>& features) {
  std::map<std::string, std::string> out;
  for (const std::string& text : options.reference) {
    const EncodedColumn* found = nullptr;
    for (const EncodedColumn& column : features)
      if (text.starts_with(column.name + "=") && (found == nullptr || found->name.size() < column.name.size()))
        found = &column;
    const std::string name = text.substr(0, text.find('='));
    if (name.size() == text.size())
      throw InputError(fmt::format("{}: '{}' is not a column and its level, such as region=west; write it so",
                                   mention("reference"), on_one_line(text)));
    if (found == nullptr) {
      std::vector<std::string> names;
      for (const EncodedColumn& column : features) names.push_back(column.name);
      throw InputError(fmt::format("{}: no column '{}' is among those that explain the target{}", mention("reference"),
                                   on_one_line(name), did_you_mean(name, names)));
    }
    if (found->kind != ColumnKind::text)
      throw InputError(fmt::format("{}: '{}' is a column of {} and has no levels; {}", mention("reference"),
                                   found->name, found->kind == ColumnKind::boolean ? "true and false" : "numbers",
                                   found->kind == ColumnKind::boolean
                                       ? "false is what true is compared with"
                                       : fmt::format("say {} if they are names", mention("categorical", found->name))));
    if (found->only_groups)
      throw InputError(fmt::format("{}: the values of '{}' are groups, none of which is a reference; leave it out",
                                   mention("reference"), found->name));
    if (!out.emplace(found->name, text.substr(found->name.size() + 1)).second)
      throw InputError(
          fmt::format("{}: column '{}' has one reference, and two are named", mention("reference"), found->name));
  }
  return out;
}

void check_options(const Table& table, const EncodingOptions& options, const ChosenColumns& chosen) {
  for (const auto& name : options.categorical)
    if (known(table, name, "categorical").kind != ColumnKind::text)
      throw InputError(
          fmt::format("'{}' is to be categorical, but the table was opened to read it as numbers; list it "
                      "in TableOptions::categorical as well",
                      name));
  if (!options.formula.empty() && chosen.terms.empty() && !options.intercept)
    throw InputError(
        fmt::format("{}: there is no coefficient in it; keep the intercept, 1, or name a column", mention("formula")));
  if (chosen.features.empty() && !options.intercept)
    throw InputError("there is no column of features and no intercept; name a column or keep the intercept");
  if (!options.target.positive.empty() && options.target.kind != TargetKind::two_classes)
    throw InputError("which value counts as 1 can be said of a target of two classes only");
  if (!options.target.order.empty() && options.target.kind != TargetKind::ordered)
    throw InputError("only values of an ordered target come in an order");
  if (options.target.kind == TargetKind::ordered && !options.intercept)
    throw InputError("the cut points of an ordered target are its intercepts, and cannot be left out");
  if (options.target.part != CountPart::all && table.find(options.target.name)->kind == ColumnKind::text)
    throw InputError(
        fmt::format("the target '{}' holds text, and a count is a number; choose another target", options.target.name));
  if (options.target.kind == TargetKind::number && table.find(options.target.name)->kind == ColumnKind::text)
    throw InputError(
        fmt::format("the target '{}' holds text, not numbers; choose a family for classes (logistic, "
                    "softmax), or another target",
                    options.target.name));
}

// The formula. `.` stands for all columns that are neither the target nor facts.
Formula formula_of(const Table& table, const EncodingOptions& options) {
  return parse_formula(options.formula, [&](const std::string& target) {
    std::vector<std::string> others;
    for (const std::string& name : table.names_without_index()) {
      const bool fact = std::ranges::any_of(roles(options), [&](const Role& role) { return role.first == name; });
      if (name != target && !fact) others.push_back(name);
    }
    return others;
  });
}

// The columns of terms, and after them those of groups.
std::vector<std::string> columns_of(const Formula& formula) {
  std::vector<std::string> out = formula.columns();
  for (const FormulaGroups& groups : formula.groups)
    for (const std::string& column : groups.columns)
      if (std::ranges::find(out, column) == out.end()) out.push_back(column);
  return out;
}

// The term that a slope of groups is a part of. Its coefficient is the mean of the slopes.
std::size_t term_of(const Formula& formula, const FormulaTerm& slope, const FormulaGroups& groups,
                    const ChosenColumns& chosen) {
  std::string name;
  for (const FormulaFactor& factor : slope) name += (name.empty() ? "" : ":") + factor.text();
  const auto found =
      std::ranges::find_if(formula.terms, [&](const FormulaTerm& term) { return same_term(term, slope); });
  if (found == formula.terms.end())
    throw InputError(
        fmt::format("{}: groups of '{}' have slopes of '{}', which has no coefficient of its own; add '{}' to "
                    "the formula, and its coefficient is the mean of the slopes",
                    mention("formula"), groups.name(), name, name));
  const auto at = static_cast<std::size_t>(found - formula.terms.begin());
  const EncodedTerm& term = chosen.terms[at];
  const bool levels = term.coded(), simple = term.factors.size() == 1 && !term.but_first &&
                                             term.factors.front().coding == TermFactor::Coding::but_reference;
  if (levels && !(simple && groups.intercept))
    throw InputError(fmt::format(
        "{}: slopes of the levels of '{}' by groups of '{}' are differences from the reference level, beside an "
        "intercept of each group; write (1 + {} | {}), with '{}' beside an intercept in the formula",
        mention("formula"), name, groups.name(), name, groups.name(), name));
  return at;
}

void choose_groups(const Formula& formula, ChosenColumns& chosen) {
  for (const FormulaGroups& groups : formula.groups) {
    EncodedFactor factor{groups.name(), {}};
    for (const std::string& name : groups.columns) {
      const auto column = std::ranges::find(chosen.features, name, &EncodedColumn::name);
      factor.columns.push_back(static_cast<std::size_t>(column - chosen.features.begin()));
    }
    const auto same = [&](const EncodedFactor& other) {
      return std::ranges::is_permutation(other.columns, factor.columns);
    };
    auto found = std::ranges::find_if(chosen.factors, same);
    if (found == chosen.factors.end()) found = chosen.factors.insert(found, std::move(factor));
    EncodedEffects effects{
        static_cast<std::size_t>(found - chosen.factors.begin()), groups.intercept, {}, groups.correlated};
    for (const FormulaTerm& slope : groups.slopes) effects.slopes.push_back(term_of(formula, slope, groups, chosen));
    chosen.effects.push_back(std::move(effects));
  }
  mark_columns_of_groups(chosen.terms, chosen.factors, chosen.features);
}

}  // namespace

ChosenColumns choose_columns(const Table& table, const EncodingOptions& options) {
  if (options.target.name.empty()) throw InputError("no target was named; name the column that is to be explained");
  known(table, options.target.name, "the target");
  std::set<std::string> exclude;
  for (const auto& name : options.exclude) exclude.insert(known(table, name, "to exclude").name);
  for (const std::string& name : check_facts(table, options)) exclude.insert(name);
  const bool by_formula = !options.formula.empty();
  const Formula formula = by_formula ? formula_of(table, options) : Formula();
  const std::vector<std::string> named = by_formula ? columns_of(formula) : options.columns;
  check_named(table, options, named);
  ChosenColumns out;
  const auto all = named.empty() && !by_formula ? table.names_without_index() : named;
  if (all.size() > Encoding::most_features + 1 + exclude.size())
    throw InputError(fmt::format(
        "{}: {} columns are to explain the target, and a fit takes at most {}: it keeps matrices with a row and a "
        "column for each coefficient; {}",
        table.files().front(), all.size() - 1, Encoding::most_features,
        by_formula
            ? "name fewer in the formula"
            : fmt::format("name fewer with {}, or leave some out with {}", mention("columns"), mention("exclude"))));
  for (const auto& name : all) {
    if (name == options.target.name || exclude.contains(name)) continue;
    if (name.empty())
      throw InputError(
          fmt::format("{}: a column has no name (an index that was written along, or a comma at the end of lines?); "
                      "name it, or leave it out {}",
                      table.files().front(), how_to_leave_out(by_formula, "")));
    const TableColumn& column = known(table, name, "a feature");
    if (column.kind == ColumnKind::other)
      throw InputError(
          fmt::format("{}: column '{}' holds neither numbers nor text (a time, a list, bytes?); leave "
                      "it out {} or turn it into numbers first",
                      table.files().front(), name, how_to_leave_out(by_formula)));
    out.features.push_back({.name = name, .kind = column.kind});
    out.names.push_back(name);
  }
  for (const auto& [name, role] : roles(options)) out.names.push_back(name);
  out.names.push_back(options.target.name);
  if (by_formula)
    out.terms = code_terms(formula, out.features, options.intercept || options.target.kind == TargetKind::ordered);
  choose_groups(formula, out);
  check_options(table, options, out);
  out.reference = references(options, out.features);
  return out;
}

}  // namespace flymc
