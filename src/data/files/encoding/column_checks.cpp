// Columns with too many levels, with spoilt numbers, with one value or with a duplicate; rows with missing values.
#include "column_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cells.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/core/names.hpp"

namespace flymc {

std::string how_to_leave_out(bool by_formula) {
  return by_formula ? "of the formula" : fmt::format("({})", mention("exclude"));
}

std::string how_to_leave_out(bool by_formula, std::string_view columns) {
  return by_formula ? "of the formula" : fmt::format("({})", mention("exclude", columns));
}

namespace {

void refuse_numbers_as_text(const Table& table, const EncodingOptions& options, const std::string& column,
                            const LevelSums& sums) {
  if (std::ranges::all_of(sums.index, [](const auto& level) { return is_number(level.first); }))
    throw InputError(fmt::format(
        "{}: column '{}' is read as text, and yet its first {} values are numbers; if one further on is not "
        "(a word, a currency sign, a comma between thousands), correct it, or leave it empty if it is "
        "missing; if these are numbers of things, leave the column out {}",
        table.files().front(), column, sums.index.size(), how_to_leave_out(!options.formula.empty(), column)));
}

[[noreturn]] void refuse_identifiers(const Table& table, const EncodingOptions& options, const std::string& column,
                                     const LevelSums& sums) {
  refuse_numbers_as_text(table, options, column, sums);
  throw InputError(fmt::format(
      "{}: column '{}' has more than {} levels, with few rows each, as names or numbers of things have; leave it out "
      "{}, or merge the rare ones into one level ({})",
      table.files().front(), column, Encoding::many_levels, how_to_leave_out(!options.formula.empty(), column),
      mention("merge-levels", "100")));
}

}  // namespace

void check_group_count(const std::string& factor, const LevelSums& sums) {
  if (sums.hashes.size() > GroupFactor::most_groups)
    throw InputError(
        fmt::format("'{}' has more than {} groups, which is more than are read; group rows by something else", factor,
                    GroupFactor::most_groups));
}

void check_level_count(const Table& table, const EncodingOptions& options, const std::string& column,
                       const LevelSums& sums) {
  if (sums.hashes.size() <= Encoding::most_levels) return;
  check_spoilt_numbers(options, column, sums);
  refuse_numbers_as_text(table, options, column, sums);
  throw InputError(fmt::format(
      "{}: column '{}' has more than {} levels, which is more than are read; leave it out {}, "
      "or merge levels in the table",
      table.files().front(), column, Encoding::most_levels, how_to_leave_out(!options.formula.empty(), column)));
}

void check_identifiers(const Table& table, const EncodingOptions& options, const std::string& column,
                       const LevelSums& sums, RowId rows) {
  const auto levels = static_cast<RowId>(sums.hashes.size());
  if (sums.hashes.size() > Encoding::many_levels && rows < levels * Encoding::rows_of_a_level)
    refuse_identifiers(table, options, column, sums);
}

void check_spoilt_numbers(const EncodingOptions& options, const std::string& column, const LevelSums& sums) {
  if (std::ranges::find(options.categorical, column) != options.categorical.end()) return;
  const auto with_comma = [](std::string text) {
    const auto commas = std::ranges::count(text, ',');
    if (commas == 1) std::ranges::replace(text, ',', '.');
    return commas == 1 && is_number(text);
  };
  std::size_t numbers = 0;
  // The first level in the table that is not a number.
  std::size_t first = sums.first_cells.size();
  const std::string* odd = nullptr;
  for (const auto& [text, at] : sums.index) {
    numbers += is_number(text) || with_comma(text);
    if (is_number(text) || at >= first) continue;
    first = at;
    odd = &text;
  }
  if (odd == nullptr || numbers < 8 || 4 * numbers < 3 * sums.index.size()) return;
  throw InputError(
      fmt::format("{}: '{}' is not a number, but most of the column is; {}, or say {} if its values are names of "
                  "levels",
                  sums.first_cells[first], on_one_line(*odd),
                  with_comma(*odd) ? "write decimals with a point" : "correct it, leave it empty if it is missing",
                  mention("categorical", column)));
}

std::string missing_counts(const std::vector<std::string>& names, const Tally& all) {
  std::vector<std::string> counts;
  for (std::size_t j = 0; j < names.size(); ++j)
    if (all.missing_counts[j] > 0) counts.push_back(fmt::format("'{}' in {}", names[j], all.missing_counts[j]));
  const std::size_t more = counts.size() > 5 ? counts.size() - 5 : 0;
  counts.resize(counts.size() - more);
  return joined(counts, ", ") + (more > 0 ? fmt::format(" and {} more columns", more) : "");
}

void refuse_missing(const EncodingOptions& options, const std::vector<std::string>& names, const Tally& all) {
  const std::string drop = mention("missing", "drop");
  throw cell_error(*all.first_missing,
                   fmt::format("the value is missing; fill it{}; rows in which a value is missing: {}",
                               all.fact_missing_first ? fmt::format(", or drop such rows ({})", drop)
                                                      : fmt::format(", drop such rows ({}), or leave the column out {}",
                                                                    drop, how_to_leave_out(!options.formula.empty())),
                               missing_counts(names, all)));
}

namespace {

std::string advised(const EncodingOptions& options, const std::vector<std::string>& to_leave_out) {
  return how_to_leave_out(!options.formula.empty(), on_one_line(joined(to_leave_out, ","), 200));
}

}  // namespace

void check_constants(const Table& table, const EncodingOptions& options, const std::vector<TermFacts>& terms,
                     RowId rows) {
  std::vector<std::string> constant;
  bool free_for_one = !options.intercept;
  for (const TermFacts& term : terms) {
    if (term.features.empty()) constant.push_back(term.name);
    for (const FeatureFacts& feature : term.features) {
      if (feature.minimum < feature.maximum) continue;
      if (feature.minimum != 0.0 && free_for_one)
        free_for_one = false;
      else
        constant.push_back(feature.name);
    }
  }
  if (constant.empty()) return;
  if (rows == 1)
    throw InputError(
        fmt::format("{}: there is one row only, in which nothing varies; a fit needs more", table.files().front()));
  throw InputError(fmt::format("{}: {} {} the same value in every row and {}; leave {} out {}", table.files().front(),
                               quoted_list(constant, 10), constant.size() == 1 ? "has" : "have each",
                               options.intercept ? "cannot be told from the intercept" : "cannot explain anything",
                               constant.size() == 1 ? "it" : "them", advised(options, constant)));
}

void check_duplicates(const Table& table, const EncodingOptions& options, const std::vector<TermFacts>& terms) {
  std::map<ColumnHash, std::string> seen;
  std::vector<std::string> pairs, later;
  bool products = false;
  for (const TermFacts& term : terms)
    for (const FeatureFacts& feature : term.features) {
      const auto [first, fresh] = seen.emplace(feature.hash, feature.name);
      if (fresh) continue;
      pairs.push_back(fmt::format("'{}' and '{}'", first->second, feature.name));
      products = products || term.product;
      if (std::ranges::find(later, term.name) == later.end()) later.push_back(term.name);
    }
  if (pairs.empty()) return;
  constexpr std::size_t most_shown = 10;
  const std::size_t more = pairs.size() > most_shown ? pairs.size() - most_shown : 0;
  pairs.resize(pairs.size() - more);
  const std::string levels =
      products ? fmt::format(
                     ". A level occurs with one level of the other column only: merge rare levels ({}), or write a:b "
                     "alone in place of a*b, which has a coefficient for each combination that occurs",
                     mention("merge-levels", "100"))
               : "";
  throw InputError(fmt::format(
      "{}: {}{} are the same in every row and cannot be told apart; leave one of each out {}{}", table.files().front(),
      joined(pairs, ", "), more > 0 ? fmt::format(" and {} more pairs", more) : "", advised(options, later), levels));
}

}  // namespace flymc
