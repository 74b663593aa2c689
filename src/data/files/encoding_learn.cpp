// One scan of a table: which columns, their moments and levels, the classes of the target.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "cells.hpp"
#include "column_sums.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/names.hpp"
#include "flymc/data/files/encoding.hpp"
#include "target_sums.hpp"

namespace flymc {

class EncodingLearner {
 public:
  EncodingLearner(const Table& table, const EncodingOptions& options) : table_(table), options_(options) {
    choose_columns();
    check_options();
  }
  Encoding learn();
  std::vector<std::string> features() const { return {names_.begin(), names_.end() - 1}; }

 private:
  void choose_columns();
  void check_options() const;
  const TableColumn& known(const std::string& name, const char* role) const;
  void add_batch(const TableBatch& batch);
  void add_numbers(const TableBatch& batch, std::size_t j);
  void add_levels(const TableBatch& batch, std::size_t j);
  std::string missing_counts() const;
  [[noreturn]] void refuse_missing() const;
  void check_spoilt_numbers(std::size_t j) const;
  void check_constants() const;
  void check_duplicates() const;

  const Table& table_;
  const EncodingOptions& options_;
  Encoding encoding_;
  std::vector<std::string> names_;  // of the features, then the target
  std::vector<NumberSums> numbers_;
  std::vector<LevelSums> levels_;
  std::optional<TargetSums> target_;
  std::vector<RowId> missing_counts_;
  std::string first_missing_;
  bool target_missing_first_ = false;
  std::vector<Index> kept_;  // rows of the batch at hand
  RowId rows_ = 0, dropped_ = 0;
};

const TableColumn& EncodingLearner::known(const std::string& name, const char* role) const {
  const TableColumn* column = table_.find(name);
  if (column == nullptr)
    throw InputError(fmt::format("{}: there is no column '{}' ({}){}", table_.files().front(), on_one_line(name), role,
                                 did_you_mean(name, table_.names())));
  return *column;
}

void EncodingLearner::choose_columns() {
  if (options_.target.empty()) throw InputError("no target was named; name the column that is to be explained");
  known(options_.target, "the target");
  std::set<std::string> exclude, chosen;
  for (const auto& name : options_.exclude) exclude.insert(known(name, "to exclude").name);
  for (const auto& name : options_.columns) {
    known(name, "a feature");
    if (name == options_.target)
      throw InputError(fmt::format("'{}' is the target and cannot be a feature too; leave it out of --columns", name));
    if (!chosen.insert(name).second)
      throw InputError(fmt::format("the column '{}' is named twice; name it once", name));
  }
  const auto all = options_.columns.empty() ? table_.names() : options_.columns;
  for (const auto& name : all) {
    if (name == options_.target || exclude.contains(name)) continue;
    if (name.empty())
      throw InputError(
          fmt::format("{}: a column has no name (an index that was written along, or a comma at the end of lines?); "
                      "name it, or leave it out (--exclude '')",
                      table_.files().front()));
    const TableColumn& column = known(name, "a feature");
    if (column.kind == ColumnKind::other)
      throw InputError(
          fmt::format("{}: column '{}' holds neither numbers nor text (a time, a list, bytes?); leave "
                      "it out (--exclude) or turn it into numbers first",
                      table_.files().front(), name));
    encoding_.columns_.push_back({.name = name, .kind = column.kind, .levels = {}});
    names_.push_back(name);
  }
  names_.push_back(options_.target);
}

void EncodingLearner::check_options() const {
  for (const auto& name : options_.categorical)
    if (known(name, "categorical").kind != ColumnKind::text)
      throw InputError(
          fmt::format("'{}' is to be categorical, but the table was opened to read it as numbers; list it "
                      "in TableOptions::categorical as well",
                      name));
  if (encoding_.columns_.empty() && !options_.intercept)
    throw InputError("there is no column of features and no intercept; name a column or keep the intercept");
  if (options_.standardise && !options_.intercept)
    throw InputError("columns cannot be standardised without an intercept, which has to take up their shifts");
  if (!options_.positive.empty() && options_.target_kind != TargetKind::two_classes)
    throw InputError("which value counts as 1 can be said of a target of two classes only");
  if (options_.target_kind == TargetKind::number && table_.find(options_.target)->kind == ColumnKind::text)
    throw InputError(
        fmt::format("the target '{}' holds text, not numbers; choose a family for classes (logistic, "
                    "softmax), or another target",
                    options_.target));
}

Encoding EncodingLearner::learn() {
  encoding_.intercept_ = options_.intercept;
  encoding_.standardise_ = options_.standardise;
  encoding_.missing_ = options_.missing;
  encoding_.target_ = options_.target;
  encoding_.target_kind_ = options_.target_kind;
  encoding_.target_column_ = table_.find(options_.target)->kind;
  numbers_.resize(encoding_.columns_.size());
  levels_.resize(encoding_.columns_.size());
  missing_counts_.assign(names_.size(), 0);
  target_.emplace(options_, encoding_.target_column_);
  table_.scan(names_, [&](const TableBatch& batch) { add_batch(batch); });

  if (options_.missing == Missing::error && !first_missing_.empty()) refuse_missing();
  if (rows_ == 0)
    throw InputError(
        dropped_ == 0
            ? fmt::format("{}: the table has no rows; check that it was written whole", table_.files().front())
            : fmt::format("{}: something is missing in each of the {} rows, and none is left; leave "
                          "out the columns that are mostly empty (--exclude); missing: {}",
                          table_.files().front(), dropped_, missing_counts()));
  for (std::size_t j = 0; j < encoding_.columns_.size(); ++j) {
    EncodedColumn& column = encoding_.columns_[j];
    if (column.kind == ColumnKind::text) {
      check_spoilt_numbers(j);
      column.levels = levels_[j].sorted();
      continue;
    }
    column.minimum = numbers_[j].minimum;
    column.maximum = numbers_[j].maximum;
    column.mean = numbers_[j].mean;
    column.deviation = numbers_[j].deviation();
    // Squares of tiny or huge numbers leave the range of double.
    if (options_.standardise && column.minimum < column.maximum &&
        !(column.deviation > 0.0 && std::isfinite(column.deviation)))
      throw InputError(
          fmt::format("column '{}' lies between {} and {}, where its deviation cannot be computed; rescale "
                      "the column",
                      column.name, column.minimum, column.maximum));
  }
  check_constants();
  check_duplicates();
  target_->classes(encoding_.classes_, encoding_.class_values_);
  encoding_.rows_ = rows_;
  encoding_.dropped_ = dropped_;
  encoding_.settle();
  return std::move(encoding_);
}

void EncodingLearner::add_batch(const TableBatch& batch) {
  const MissingRows missing(batch, names_.size());
  for (std::size_t j = 0; j < names_.size(); ++j) missing_counts_[j] += missing.counts()[j];
  kept_.clear();
  for (Index i = 0; i < batch.rows(); ++i) {
    if (!missing[i]) {
      kept_.push_back(i);
      continue;
    }
    ++dropped_;
    if (!first_missing_.empty()) continue;
    first_missing_ = place_of(batch, i, names_[missing.column(i)]);
    target_missing_first_ = missing.column(i) + 1 == names_.size();
  }
  // Once something is missing and must not be, all that is left to do is to count.
  if (options_.missing == Missing::error && !first_missing_.empty()) return;
  for (std::size_t j = 0; j < encoding_.columns_.size(); ++j)
    if (encoding_.columns_[j].kind == ColumnKind::text)
      add_levels(batch, j);
    else
      add_numbers(batch, j);
  for (const Index i : kept_) target_->add(batch, names_.size() - 1, i);
  rows_ += static_cast<RowId>(kept_.size());
}

void EncodingLearner::add_numbers(const TableBatch& batch, std::size_t j) {
  const auto values = batch.numbers(j);
  RowId row = rows_;
  for (const Index i : kept_) {
    const double value = values[static_cast<std::size_t>(i)];
    check_number(batch, i, names_[j], value);
    numbers_[j].add(row++, value);
  }
}

void EncodingLearner::add_levels(const TableBatch& batch, std::size_t j) {
  constexpr std::size_t not_met = static_cast<std::size_t>(-1);
  LevelSums& sums = levels_[j];
  std::vector<std::size_t> level_of_code(batch.texts(j).size(), not_met);
  RowId row = rows_;
  for (const Index i : kept_) {
    const auto code = static_cast<std::size_t>(batch.codes(j)[static_cast<std::size_t>(i)]);
    if (level_of_code[code] == not_met) {
      level_of_code[code] = sums.level(batch.texts(j)[code]);
      if (sums.places.size() < sums.hashes.size()) {
        check_level(batch, i, names_[j], batch.texts(j)[code]);
        sums.places.push_back(place_of(batch, i, names_[j]));
      }
      if (sums.hashes.size() > Encoding::most_levels) {
        check_spoilt_numbers(j);
        throw InputError(
            fmt::format("{}: column '{}' has more than {} levels, as names or numbers of things have; leave it out "
                        "(--exclude {}) or merge the rare ones",
                        batch.file(), names_[j], Encoding::most_levels, names_[j]));
      }
    }
    sums.hashes[level_of_code[code]].add(row++, 1.0);
  }
}

// One cell that is no number, or a comma for the point, makes text of a column of numbers, and a level of every number:
// a model that nobody wants, and that would go unnoticed.
void EncodingLearner::check_spoilt_numbers(std::size_t j) const {
  if (std::ranges::find(options_.categorical, names_[j]) != options_.categorical.end()) return;
  const auto with_comma = [](std::string text) {
    const auto commas = std::ranges::count(text, ',');
    if (commas == 1) std::ranges::replace(text, ',', '.');
    return commas == 1 && is_number(text);
  };
  const LevelSums& sums = levels_[j];
  std::size_t numbers = 0, first = sums.places.size();  // of the levels that are no numbers, the first that was met
  const std::string* odd = nullptr;
  for (const auto& [text, at] : sums.index) {
    numbers += is_number(text) || with_comma(text);
    if (is_number(text) || at >= first) continue;
    first = at;
    odd = &text;
  }
  if (odd == nullptr || numbers < 8 || 4 * numbers < 3 * sums.index.size()) return;
  throw InputError(fmt::format(
      "{}: '{}' is not a number, but most of the column is; {}, or say --categorical {} if its values are names of "
      "levels",
      sums.places[first], on_one_line(*odd),
      with_comma(*odd) ? "write decimals with a point" : "correct it, leave it empty if it is missing", names_[j]));
}

// "'age' in 3, 'city' in 1".
std::string EncodingLearner::missing_counts() const {
  std::vector<std::string> counts;
  for (std::size_t j = 0; j < names_.size(); ++j)
    if (missing_counts_[j] > 0) counts.push_back(fmt::format("'{}' in {}", names_[j], missing_counts_[j]));
  const std::size_t more = counts.size() > 5 ? counts.size() - 5 : 0;
  counts.resize(counts.size() - more);
  return joined(counts, ", ") + (more > 0 ? fmt::format(" and {} more columns", more) : "");
}

void EncodingLearner::refuse_missing() const {
  throw InputError(
      fmt::format("{}: the value is missing; fill it{}; rows in which a value is missing: {}", first_missing_,
                  target_missing_first_ ? ", or drop such rows (--missing drop)"
                                        : ", drop such rows (--missing drop), or leave out the column (--exclude)",
                  missing_counts()));
}

// Without an intercept one constant column may stand in for it.
void EncodingLearner::check_constants() const {
  std::vector<std::string> constant;
  bool free_place = !options_.intercept;
  for (const auto& column : encoding_.columns_) {
    const bool text = column.kind == ColumnKind::text;
    if (text ? column.levels.size() > 1 : column.minimum < column.maximum) continue;
    if (!text && column.minimum != 0.0 && free_place)
      free_place = false;
    else
      constant.push_back(column.name);
  }
  if (constant.empty()) return;
  if (rows_ == 1)
    throw InputError(
        fmt::format("{}: there is one row only, in which nothing varies; a fit needs more", table_.files().front()));
  throw InputError(fmt::format("{}: {} {} the same value in every row and {}; leave {} out (--exclude {})",
                               table_.files().front(), quoted_list(constant, 10),
                               constant.size() == 1 ? "has" : "have each",
                               options_.intercept ? "cannot be told from the intercept" : "cannot explain anything",
                               constant.size() == 1 ? "it" : "them", on_one_line(joined(constant, ","), 200)));
}

void EncodingLearner::check_duplicates() const {
  std::map<ColumnHash, std::string> seen;
  const auto check = [&](const ColumnHash& hash, const std::string& name) {
    const auto [first, fresh] = seen.emplace(hash, name);
    if (!fresh)
      throw InputError(
          fmt::format("{}: '{}' and '{}' are the same in every row and cannot be told apart; leave one "
                      "out (--exclude)",
                      table_.files().front(), first->second, name));
  };
  for (std::size_t j = 0; j < encoding_.columns_.size(); ++j) {
    const EncodedColumn& column = encoding_.columns_[j];
    if (column.kind != ColumnKind::text) check(numbers_[j].hash, column.name);
    for (std::size_t l = 1; l < column.levels.size(); ++l)
      check(levels_[j].hashes[levels_[j].index.at(column.levels[l])],
            fmt::format("{}[{}]", column.name, column.levels[l]));
  }
}

std::vector<std::string> Encoding::feature_columns(const Table& table, const EncodingOptions& options) {
  return EncodingLearner(table, options).features();
}

Encoding Encoding::learn(const Table& table, const EncodingOptions& options) {
  return EncodingLearner(table, options).learn();
}

}  // namespace flymc
