// Codes terms by their parts as sets of columns, and evaluates functions of numbers.
#include "terms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "cells.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/core/names.hpp"

namespace flymc {
namespace {

using Coding = TermFactor::Coding;
using ColumnSet = std::set<std::size_t>;  // columns with levels
using ColumnSets = std::set<ColumnSet>;

constexpr std::size_t most_level_factors = 8;

ColumnSets subsets_of(const std::vector<std::size_t>& columns) {
  ColumnSets out;
  for (std::size_t mask = 0; mask < std::size_t{1} << columns.size(); ++mask) {
    ColumnSet part;
    for (std::size_t i = 0; i < columns.size(); ++i)
      if ((mask >> i & 1) != 0) part.insert(columns[i]);
    out.insert(std::move(part));
  }
  return out;
}

bool has_levels(const EncodedColumn& column) { return column.kind != ColumnKind::numeric; }

std::string name_of(const FormulaTerm& term) {
  std::vector<std::string> texts;
  for (const FormulaFactor& factor : term) texts.push_back(factor.text());
  return joined(texts, ":");
}

void check_factor(const FormulaFactor& factor, const EncodedColumn& column) {
  if (factor.function == NumberFunction::identity || column.kind == ColumnKind::numeric) return;
  throw InputError(fmt::format("{}: {} takes a column of numbers, and '{}' holds {}; name another column",
                               mention("formula"), factor.text(), column.name,
                               column.kind == ColumnKind::text ? "text" : "true and false"));
}

class Coder {
 public:
  Coder(const std::vector<EncodedColumn>& columns, bool intercept) : columns_(columns) {
    for (std::size_t j = 0; j < columns.size(); ++j) number_[columns[j].name] = j;
    if (intercept) explained_[""].insert(ColumnSet());
  }

  EncodedTerm code(const FormulaTerm& factors) {
    EncodedTerm term{name_of(factors), {}};
    std::vector<std::size_t> levels;
    std::vector<std::string> numbers;
    for (const FormulaFactor& factor : factors) {
      const std::size_t column = number_.at(factor.column);
      check_factor(factor, columns_[column]);
      term.factors.push_back({column, Coding::number, factor.function, factor.power});
      if (has_levels(columns_[column]))
        levels.push_back(column);
      else
        numbers.push_back(factor.text());
    }
    if (levels.size() > most_level_factors)
      throw InputError(fmt::format("{}: '{}' is an interaction of more than {} columns of levels; write fewer",
                                   mention("formula"), term.name, most_level_factors));
    std::ranges::sort(numbers);
    ColumnSets& explained = explained_[joined(numbers, ":")];
    const ColumnSets all = subsets_of(levels);
    ColumnSets left;
    std::ranges::set_difference(all, explained, std::inserter(left, left.end()));
    if (!levels.empty()) set_coding(term, levels, all, left);
    explained.insert(all.begin(), all.end());
    return term;
  }

 private:
  void set_coding(EncodedTerm& term, const std::vector<std::size_t>& levels, const ColumnSets& all,
                  ColumnSets& left) const {
    // A column keeps all its levels if the term without the column is still to be spanned.
    ColumnSet whole;
    const ColumnSet everything(levels.begin(), levels.end());
    for (const std::size_t column : levels) {
      ColumnSet without = everything;
      without.erase(column);
      if (left.contains(without)) whole.insert(column);
    }
    ColumnSets with_whole;
    for (const ColumnSet& part : all)
      if (std::ranges::all_of(levels, [&](std::size_t c) { return part.contains(c) || whole.contains(c); }))
        with_whole.insert(part);
    if (with_whole != left) {
      left.insert(ColumnSet());
      if (left != all) refuse(term);
      term.but_first = true;
    }
    for (TermFactor& factor : term.factors) {
      const EncodedColumn& column = columns_[factor.column];
      if (!has_levels(column)) continue;
      const bool all_levels = whole.contains(factor.column);
      if (column.kind == ColumnKind::text)
        factor.coding = all_levels ? Coding::all_levels : Coding::but_reference;
      else if (all_levels)
        refuse_truth(term, column);
    }
  }

  // Without their reference, false, they are 0 and 1. With all levels, R and formulaic disagree whether true/false is a
  // number with one feature or has levels with two.
  [[noreturn]] static void refuse_truth(const EncodedTerm& term, const EncodedColumn& column) {
    throw InputError(fmt::format(
        "{}: '{}' is true or false, and whether '{}' is to have a coefficient for true alone or for each cannot be "
        "told, "
        "since the formula lacks what it would be compared with; write C({}) for one for each, or a*b in place of a:b",
        mention("formula"), column.name, term.name, column.name));
  }

  [[noreturn]] static void refuse(const EncodedTerm& term) {
    throw InputError(fmt::format(
        "{}: of '{}' some parts are explained by other terms and some are not, and which coefficients it is to have "
        "cannot be told; write it with * in place of :, so that it has all parts, or leave out the other terms of "
        "these columns",
        mention("formula"), term.name));
  }

  const std::vector<EncodedColumn>& columns_;
  std::map<std::string, std::size_t> number_;
  std::map<std::string, ColumnSets> explained_;  // by the numeric factors of the terms
};

}  // namespace

std::vector<EncodedTerm> code_terms(const Formula& formula, const std::vector<EncodedColumn>& columns, bool intercept) {
  Coder coder(columns, intercept);
  std::vector<EncodedTerm> out;
  for (const FormulaTerm& term : formula.terms) out.push_back(coder.code(term));
  return out;
}

bool is_column(const EncodedTerm& term) {
  return term.factors.size() == 1 && term.factors.front().function == NumberFunction::identity;
}

double number_of(const TableBatch& batch, Index i, const EncodedTerm& term, const std::vector<std::string>& names) {
  double product = 1.0;
  for (const TermFactor& factor : term.factors) {
    if (factor.coded()) continue;
    const double x = batch.number(factor.column, i);
    const std::string& name = names[factor.column];
    check_number(batch, i, name, x);
    const double value = value_of(factor.function, factor.power, x);
    if (!(std::abs(value) <= Encoding::largest_number)) [[unlikely]]
      throw cell_error(cell_of(batch, i, name),
                       fmt::format("{} of {} is {}; correct the cell, leave the row out, or write another formula",
                                   FormulaFactor{name, factor.function, factor.power}.text(), x,
                                   std::isnan(value) ? "no number" : "so large that its square overflows"));
    product *= value;
  }
  if (!(std::abs(product) <= Encoding::largest_number)) [[unlikely]]
    throw InputError(fmt::format("{}, row {}: '{}' is {}, so large that its square overflows; rescale the columns",
                                 batch.file(), batch.row(i), term.name, product),
                     {.file = batch.file(), .row = batch.row(i)});
  return product;
}

}  // namespace flymc
