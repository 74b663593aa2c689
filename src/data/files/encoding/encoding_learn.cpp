// Learns from one scan of a table: levels, shifts and scales of its columns and terms, the classes of its target.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <unordered_set>

#include "cells.hpp"
#include "chosen_columns.hpp"
#include "column_checks.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/core/names.hpp"
#include "flymc/data/files/encoding/encoding.hpp"
#include "group_columns.hpp"
#include "tally_scan.hpp"
#include "terms.hpp"

namespace flymc {

namespace {

void begin_with(const std::string& reference, EncodedColumn& column) {
  const auto found = std::ranges::find(column.levels, reference);
  if (found == column.levels.end())
    throw InputError(fmt::format("{}: column '{}' has no level '{}'{}", mention("reference"), column.name,
                                 on_one_line(reference), did_you_mean(reference, column.levels)));
  std::rotate(column.levels.begin(), found, found + 1);
}

// Sets the levels of a column. Rare levels become one, which comes last and is called "other", or "(other)" if a level
// has that name. A single rare level is kept, and so is the level that is named as reference.
void merge_rare(const EncodingOptions& options, const std::string* reference, EncodedColumn& column, LevelSums& sums) {
  const RowId least = options.merge_levels;
  for (const std::string& level : sums.sorted()) {
    const bool named = reference != nullptr && *reference == level;
    (sums.rows[sums.index.at(level)] < least && !named ? column.rare : column.levels).push_back(level);
  }
  if (column.rare.size() < 2) {
    column.levels = sums.sorted();
    column.rare.clear();
    return;
  }
  if (column.levels.empty())
    throw InputError(fmt::format(
        "every level of column '{}' has fewer than {} rows; choose a smaller number ({}), or "
        "leave the column out {}",
        column.name, least, mention("merge-levels"), how_to_leave_out(!options.formula.empty(), column.name)));
  std::string& name = column.merged = "other";
  while (std::ranges::find(column.levels, name) != column.levels.end()) name = "(" + name + ")";
  ColumnHash hash;
  RowId rows = 0;
  for (const std::string& level : column.rare) {
    hash += sums.hashes[sums.index.at(level)];
    rows += sums.rows[sums.index.at(level)];
  }
  const std::size_t at = sums.level(name);
  sums.hashes[at] = hash;
  sums.rows[at] = rows;
  column.levels.push_back(name);
}

// Sorts numbers that are levels, by C() in a formula or by a setting, by size. Texts stay sorted as texts, even if they
// look like numbers.
void sort_numbers(EncodedColumn& column) {
  const auto end = column.levels.end() - (column.merged.empty() ? 0 : 1);
  const auto number = [](const std::string& level) { return std::strtod(level.c_str(), nullptr); };
  if (!std::all_of(column.levels.begin(), end,
                   [&](const std::string& level) { return is_number(level) && !std::isnan(number(level)); }))
    return;
  std::stable_sort(column.levels.begin(), end,
                   [&](const std::string& a, const std::string& b) { return number(a) < number(b); });
}

// A term that is a column by itself.
void set_from_column(const EncodedColumn& column, EncodedTerm& term) {
  if (!term.coded()) {
    term.levels = {{}};
    term.shift = {column.shift};
    term.scale = {column.scale};
    return;
  }
  const bool reference = term.factors.front().coding == TermFactor::Coding::but_reference;
  for (std::uint32_t l = reference ? 1 : 0; l < column.levels.size(); ++l) term.levels.push_back({l});
  term.shift.assign(term.levels.size(), 0.0);
  term.scale.assign(term.levels.size(), 1.0);
}

}  // namespace

class EncodingLearner {
 public:
  EncodingLearner(const Table& table, const EncodingOptions& options) : table_(table), options_(options) {
    ChosenColumns chosen = choose_columns(table, options);
    encoding_.columns_ = std::move(chosen.features);
    encoding_.terms_ = std::move(chosen.terms);
    encoding_.by_formula_ = !options.formula.empty();
    if (encoding_.by_formula_) encoding_.version_ = Encoding::version_of_terms;
    encoding_.factors_ = std::move(chosen.factors);
    encoding_.effects_ = std::move(chosen.effects);
    if (!encoding_.factors_.empty()) encoding_.version_ = Encoding::present_version;
    names_ = std::move(chosen.names);
    reference_ = std::move(chosen.reference);
  }
  Encoding learn(const Execution& execution, const std::function<void(RowId)>& read);

 private:
  void scan(const Execution& execution, const std::function<void(RowId)>& read);
  // Throws InputError if a value is missing that must not be, or no rows are left.
  void check_what_is_left() const;
  // Throws InputError if the weights sum to too much.
  void check_total_weight() const;
  // Fill in the columns, and then the terms, from the tally.
  void describe_columns();
  std::vector<TermFacts> describe_terms();
  TermFacts facts_of_column(const EncodedTerm& term) const;
  // Fills in the combinations of levels that are groups.
  void describe_factors();

  const Table& table_;
  const EncodingOptions& options_;
  Encoding encoding_;
  std::vector<std::string> names_;  // of the columns that are scanned (chosen_columns.hpp)
  std::map<std::string, std::string> reference_;
  Tally all_;
  std::optional<TargetSums> own_target_;  // of this rank's share
};

Encoding EncodingLearner::learn(const Execution& execution, const std::function<void(RowId)>& read) {
  encoding_.intercept_ = options_.intercept && options_.target.kind != TargetKind::ordered;
  encoding_.missing_ = options_.missing;
  encoding_.weights_ = options_.weights;
  encoding_.offset_ = options_.offset;
  encoding_.exposure_ = options_.exposure;
  scan(execution, read);
  check_what_is_left();
  check_total_weight();
  describe_columns();
  const std::vector<TermFacts> facts = describe_terms();
  describe_factors();
  if (!options_.of_a_part) {
    check_constants(table_, options_, facts, all_.rows + all_.zeros());
    check_duplicates(table_, options_, facts);
  }
  encoding_.target_ = all_.target->learnt(encoding_.intercept_, !options_.offset.empty());
  if (options_.target.kind == TargetKind::ordered) {
    encoding_.stored_rows_ = all_.target->cut_rows(encoding_.target_);
    encoding_.own_rows_ = own_target_->cut_rows(encoding_.target_);
  }
  encoding_.rows_ = all_.rows;
  encoding_.dropped_ = all_.dropped;
  encoding_.total_weight_ = options_.weights.empty() ? static_cast<double>(all_.rows) : all_.weight.value();
  encoding_.whole_weights_ = all_.whole_weights;
  if (options_.log_link && !options_.offset.empty() && encoding_.total_weight_ > 0.0)
    encoding_.mean_exposure_ = all_.exposure.value() / encoding_.total_weight_;
  encoding_.derive_features();
  return std::move(encoding_);
}

void EncodingLearner::scan(const Execution& execution, const std::function<void(RowId)>& read) {
  const std::vector<EncodedTerm> combinations = combinations_of(encoding_.factors_);
  const TallyScan scan(table_, options_, encoding_.columns_, encoding_.terms_, names_, combinations);
  Tally own = scan.own_share(execution, read);
  encoding_.own_rows_ = own.rows;
  own_target_ = own.target;
  all_ = scan.all_shares(std::move(own), execution.communicator);
}

void EncodingLearner::check_what_is_left() const {
  if (options_.missing == Missing::error && all_.first_missing) refuse_missing(options_, names_, all_);
  if (all_.rows == 0 && all_.zeros() > 0)
    throw InputError(
        fmt::format("the target '{}' is 0 in every row, so there is nothing to explain; choose another target",
                    options_.target.name));
  if (all_.rows == 0)
    throw InputError(
        all_.dropped == 0
            ? fmt::format("{}: the table has no rows; check that it was written whole", table_.files().front())
            : fmt::format("{}: something is missing in each of the {} rows, and none is left; leave "
                          "the columns that are mostly empty out {}; missing: {}",
                          table_.files().front(), all_.dropped, how_to_leave_out(encoding_.by_formula_),
                          missing_counts(names_, all_)));
  if (!options_.weights.empty() && !(all_.weight.value() > 0.0))
    throw InputError(fmt::format("{}: all {} in column '{}' are 0; name another column", table_.files().front(),
                                 options_.target.trials ? "trials" : "weights", options_.weights));
}

// A log density is proportional to the weights, and a chain needs differences of it to a few decimal places.
void EncodingLearner::check_total_weight() const {
  constexpr double most = 1e12;
  const double total = all_.weight.value();
  if (options_.weights.empty() || total <= most) return;
  const std::string what = options_.target.trials ? "trials" : "weights";
  throw InputError(
      fmt::format("{}: the {} in column '{}' sum to {:.3g}, and double precision is too coarse for the log density of "
                  "more than {:g} rows; {}",
                  table_.files().front(), what, options_.weights, total, most,
                  options_.target.trials ? "count trials and successes in another unit" : "divide them by their mean"));
}

void EncodingLearner::describe_columns() {
  for (std::size_t j = 0; j < encoding_.columns_.size(); ++j) {
    EncodedColumn& column = encoding_.columns_[j];
    if (column.kind == ColumnKind::text) {
      check_spoilt_numbers(options_, names_[j], all_.levels[j]);
      const auto named = reference_.find(column.name);
      if (column.only_groups) {
        column.levels = all_.levels[j].sorted();
        sort_numbers(column);
        continue;
      }
      merge_rare(options_, named == reference_.end() ? nullptr : &named->second, column, all_.levels[j]);
      if (column.rare.empty())
        check_identifiers(table_, options_, column.name, all_.levels[j], all_.rows + all_.zeros());
      if (encoding_.by_formula_ && std::ranges::find(options_.categorical, column.name) != options_.categorical.end())
        sort_numbers(column);
      if (named != reference_.end()) begin_with(named->second, column);
      continue;
    }
    column.minimum = all_.numbers[j].minimum;
    column.maximum = all_.numbers[j].maximum;
    column.mean = all_.numbers[j].mean();
    column.deviation = all_.numbers[j].deviation();
    if (column.kind != ColumnKind::numeric || !is_standardised(options_, all_.numbers[j])) continue;
    if (options_.intercept) column.shift = column.mean;
    column.scale = column.deviation;
    if (!has_usable_deviation(column.deviation))
      throw InputError(
          fmt::format("column '{}' lies between {} and {}, where its deviation cannot be computed; rescale "
                      "the column",
                      column.name, column.minimum, column.maximum));
  }
}

std::vector<TermFacts> EncodingLearner::describe_terms() {
  if (!encoding_.by_formula_) encoding_.make_terms_of_columns();
  std::vector<TermFacts> all;
  for (std::size_t t = 0; t < encoding_.terms_.size(); ++t) {
    EncodedTerm& term = encoding_.terms_[t];
    if (!is_column(term)) {
      all.push_back(describe_term(options_, encoding_.columns_, all_.terms[t], term));
    } else {
      if (encoding_.by_formula_) set_from_column(encoding_.columns_[term.factors.front().column], term);
      all.push_back(facts_of_column(term));
    }
    const std::size_t first = term.but_first ? 1 : 0;
    for (std::size_t f = 0; f < all.back().features.size(); ++f)
      all.back().features[f].name = encoding_.feature_name(term, term.levels[first + f]);
  }
  return all;
}

void EncodingLearner::describe_factors() {
  std::vector<EncodedTerm> combinations = combinations_of(encoding_.factors_);
  for (std::size_t f = 0; f < combinations.size(); ++f) {
    EncodedFactor& factor = encoding_.factors_[f];
    check_keys(factor, encoding_.columns_);
    for (const std::size_t column : factor.columns)
      if (!encoding_.columns_[column].merged.empty())
        throw InputError(
            fmt::format("{}: rare levels of '{}' would be merged, and its levels are groups too, of which each "
                        "is kept; leave one of both out",
                        mention("merge-levels"), encoding_.columns_[column].name));
    if (factor.columns.size() == 1) continue;
    describe_term(options_, encoding_.columns_, all_.terms[encoding_.terms_.size() + f], combinations[f]);
    factor.levels = std::move(combinations[f].levels);
    std::unordered_set<std::string> names;
    for (Group g = 0; g < factor.levels.size(); ++g)
      if (std::string name = factor.group_name(encoding_.columns_, g); !names.insert(name).second)
        throw InputError(fmt::format("two groups of '{}' would both be called '{}'; rename levels that have a colon",
                                     factor.name, on_one_line(name)));
  }
  for (const EncodedFactor& factor : encoding_.factors_)
    if (!options_.of_a_part && factor.groups(encoding_.columns_) < 2)
      throw InputError(
          fmt::format("'{}' has one group only, so that its rows say nothing of how groups differ; leave it out "
                      "of the formula",
                      factor.name));
}

TermFacts EncodingLearner::facts_of_column(const EncodedTerm& term) const {
  const std::size_t j = term.factors.front().column;
  const EncodedColumn& column = encoding_.columns_[j];
  TermFacts facts{term.name};
  if (!term.coded()) facts.features.push_back({{}, all_.numbers[j].hash, column.minimum, column.maximum});
  if (!term.coded()) return facts;
  for (const auto& level : term.levels) {
    const LevelSums& sums = all_.levels[j];
    const std::size_t at = sums.index.at(column.levels[level.front()]);
    facts.features.push_back({{}, sums.hashes[at], column.levels.size() == 1 ? 1.0 : 0.0, 1.0});
  }
  return facts;
}

std::vector<std::string> Encoding::feature_columns(const Table& table, const EncodingOptions& options) {
  std::vector<std::string> names;
  for (const EncodedColumn& column : choose_columns(table, options).features) names.push_back(column.name);
  return names;
}

Encoding Encoding::learn(const Table& table, const EncodingOptions& options) {
  const Threads threads;
  return learn(table, options, {threads});
}

Encoding Encoding::learn(const Table& table, const EncodingOptions& options, const Execution& execution,
                         const std::function<void(RowId)>& read) {
  return EncodingLearner(table, options).learn(execution, read);
}

}  // namespace flymc
