// Combinations of levels are collected as texts, and become numbers of levels when all rows have been read.
#include "term_sums.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <string_view>
#include <unordered_map>

#include "cells.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"
#include "terms.hpp"

namespace flymc {
namespace {

// The levels of a term's factors in rows of a batch, as one number and as text.
class Combinations {
 public:
  Combinations(const TableBatch& batch, const EncodedTerm& term) : batch_(batch) {
    for (const TermFactor& factor : term.factors)
      if (factor.coded()) used_.push_back(factor.column);
  }
  std::uint64_t number(Index i) const {
    std::uint64_t out = 0;
    for (const std::size_t j : used_) out = out * batch_.texts(j).size() + code(j, i);
    return out;
  }
  std::string text(Index i) const {
    std::string out;
    for (const std::size_t j : used_) {
      out += batch_.texts(j)[code(j, i)];
      out += '\n';  // no level contains it
    }
    return out;
  }

 private:
  std::size_t code(std::size_t j, Index i) const {
    return static_cast<std::size_t>(batch_.codes(j)[static_cast<std::size_t>(i)]);
  }
  const TableBatch& batch_;
  std::vector<std::size_t> used_;
};

}  // namespace

void check_combinations(const EncodedTerm& term, const TermSums& sums) {
  const std::size_t most = term.number() ? Encoding::most_features : Encoding::most_levels;
  if (sums.levels.hashes.size() > most)
    throw InputError(
        fmt::format("'{}' has more than {} combinations of levels, and each that has no reference in it is a "
                    "coefficient; leave it out of the formula, or merge rare levels ({})",
                    term.name, most, mention("merge-levels", "100")));
}

namespace {

std::vector<std::uint32_t> numbers_of(
    std::string_view text, const std::vector<const std::unordered_map<std::string, std::uint32_t>*>& levels) {
  std::vector<std::uint32_t> out;
  for (const auto* of : levels) {
    const std::size_t end = text.find('\n');
    out.push_back(of->at(std::string(text.substr(0, end))));
    text.remove_prefix(end + 1);
  }
  return out;
}

}  // namespace

TermSums& TermSums::operator+=(const TermSums& other) {
  std::vector<std::size_t> place(other.levels.hashes.size());
  levels += other.levels;
  for (const auto& [text, at] : other.levels.index) place[at] = levels.index.at(text);
  if (!other.numbers.empty()) numbers.resize(levels.hashes.size());
  for (std::size_t at = 0; at < other.numbers.size(); ++at) numbers[place[at]] += other.numbers[at];
  return *this;
}

void add_rows(const TableBatch& batch, const EncodedTerm& term, const std::vector<std::string>& names,
              std::span<const Index> rows, std::span<const double> weights, TermSums& sums) {
  const Combinations combinations(batch, term);
  const bool number = term.number();
  std::unordered_map<std::uint64_t, std::size_t> known;
  for (const Index i : rows) {
    const auto [found, fresh] = known.try_emplace(combinations.number(i), 0);
    if (fresh) {
      found->second = sums.levels.level(combinations.text(i));
      sums.levels.first_cells.resize(sums.levels.hashes.size());
      if (number) sums.numbers.resize(sums.levels.hashes.size());
    }
    const std::size_t at = found->second;
    ++sums.levels.rows[at];
    if (!number) {
      sums.levels.hashes[at].add(batch.key(i), 1.0);
      continue;
    }
    const double value = number_of(batch, i, term, names);
    if (weights.empty())
      sums.numbers[at].add_uncounted(batch.key(i), value);
    else if (const double weight = weights[static_cast<std::size_t>(i)]; weight > 0.0)
      sums.numbers[at].add(batch.key(i), value, weight);
  }
}

bool is_standardised(const EncodingOptions& options, const NumberSums& sums) {
  // In [0, 1] the sum equals the sum of squares only if all are 0 or 1.
  const bool zero_or_one = sums.minimum >= 0.0 && sums.maximum <= 1.0 && sums.sum.value() == sums.squares.value();
  return options.standardise && !zero_or_one && sums.minimum != sums.maximum;
}

bool has_usable_deviation(double deviation) {
  return deviation >= 1.0 / Encoding::largest_number && deviation <= Encoding::largest_number;
}

TermFacts describe_term(const EncodingOptions& options, const std::vector<EncodedColumn>& columns, const TermSums& sums,
                        EncodedTerm& term) {
  // Each row that was added has one combination. If only positive counts are fitted, these are more rows than the fit has.
  RowId rows = 0;
  for (const auto of_combination : sums.levels.rows) rows += of_combination;
  ExactSum total;
  std::int64_t weighted_rows = 0;
  if (options.weights.empty())
    total.add(static_cast<double>(rows));
  else
    for (const NumberSums& numbers : sums.numbers) total += numbers.count, weighted_rows += numbers.rows;
  std::map<std::size_t, std::unordered_map<std::string, std::uint32_t>> level_of;  // by column
  std::vector<const std::unordered_map<std::string, std::uint32_t>*> in_order;
  std::vector<bool> has_reference;
  for (const TermFactor& factor : term.factors) {
    if (!factor.coded()) continue;
    const EncodedColumn& column = columns[factor.column];
    auto& of = level_of[factor.column];
    for (std::uint32_t l = 0; l < column.levels.size(); ++l) of[column.levels[l]] = l;
    for (const std::string& level : column.rare) of[level] = of.at(column.merged);
    in_order.push_back(&of);
    has_reference.push_back(factor.coding == TermFactor::Coding::but_reference);
  }
  struct Sum {
    ColumnHash hash;
    NumberSums numbers;
    RowId rows = 0;
  };
  std::map<std::vector<std::uint32_t>, Sum> combinations;
  for (const auto& [text, at] : sums.levels.index) {
    const std::vector<std::uint32_t> levels = numbers_of(text, in_order);
    bool reference = false;
    for (std::size_t i = 0; i < levels.size(); ++i) reference = reference || (has_reference[i] && levels[i] == 0);
    if (reference) continue;
    Sum& sum = combinations[levels];
    sum.hash += sums.levels.hashes[at];
    sum.rows += sums.levels.rows[at];
    if (term.number()) sum.numbers += sums.numbers[at];
  }
  TermFacts facts{term.name, term.factors.size() > 1 && term.coded()};
  for (auto& [levels, sum] : combinations) {
    term.levels.push_back(levels);
    if (term.but_first && term.levels.size() == 1) continue;
    FeatureFacts of{{}, sum.hash, sum.rows == rows ? 1.0 : 0.0, 1.0};
    double shift = 0.0, scale = 1.0;
    if (term.number()) {
      NumberSums& numbers = sum.numbers;
      numbers.count = total;
      numbers.rows = weighted_rows;
      if (sum.rows < rows) {  // in the other rows the feature is 0
        numbers.minimum = std::min(numbers.minimum, 0.0);
        numbers.maximum = std::max(numbers.maximum, 0.0);
      }
      of = {{}, numbers.hash, numbers.minimum, numbers.maximum};
      if (is_standardised(options, numbers)) {
        // Levels are not centred, and neither are their slopes, because 0 is the reference.
        if (options.intercept && !term.coded()) shift = numbers.mean();
        scale = numbers.deviation();
        if (!has_usable_deviation(scale))
          throw InputError(
              fmt::format("'{}' lies between {} and {}, where its deviation cannot be computed; rescale the columns",
                          term.name, numbers.minimum, numbers.maximum));
      }
    }
    term.shift.push_back(shift);
    term.scale.push_back(scale);
    facts.features.push_back(std::move(of));
  }
  return facts;
}

}  // namespace flymc
