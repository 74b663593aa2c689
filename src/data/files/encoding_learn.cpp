// One scan of a table: which columns, their moments and levels, the classes of the target.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>

#include "cells.hpp"
#include "column_sums.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/core/names.hpp"
#include "flymc/data/files/encoding.hpp"
#include "target_sums.hpp"

namespace flymc {

// What a scan keeps of some rows: of a batch, of a rank's pieces, or of the whole table.
struct Tally {
  std::vector<NumberSums> numbers;
  std::vector<LevelSums> levels;
  std::optional<TargetSums> target;
  NumberSums target_numbers;  // where the target is a number
  std::vector<RowId> missing_counts;
  std::string first_missing;
  bool fact_missing_first = false;
  ExactSum weight;            // of all rows
  bool whole_weights = true;  // whether all are whole numbers
  RowId rows = 0, dropped = 0;
};

// How a rank tells the others of its tally.
std::vector<std::byte> tally_to_bytes(Tally& tally) {
  using nlohmann::json;
  const auto of_hash = [](const ColumnHash& hash) { return json{hash.low, hash.high}; };
  json value = {{"missing", tally.missing_counts},
                {"first_missing", tally.first_missing},
                {"fact_missing_first", tally.fact_missing_first},
                {"weight", tally.weight.parts()},
                {"whole_weights", tally.whole_weights},
                {"rows", tally.rows},
                {"dropped", tally.dropped},
                {"target", tally.target->to_json()}};
  const auto of_numbers = [&](NumberSums& n) {
    return json{{"count", n.count.parts()},
                {"count_finite", n.count.finite()},
                {"minimum", std::bit_cast<std::uint64_t>(n.minimum)},
                {"maximum", std::bit_cast<std::uint64_t>(n.maximum)},
                {"sum", n.sum.parts()},
                {"sum_finite", n.sum.finite()},
                {"squares", n.squares.parts()},
                {"squares_finite", n.squares.finite()},
                {"hash", of_hash(n.hash)}};
  };
  value["target_numbers"] = of_numbers(tally.target_numbers);
  for (NumberSums& n : tally.numbers) value["numbers"].push_back(of_numbers(n));
  for (const LevelSums& l : tally.levels) {
    json levels = json::array();
    for (std::size_t i = 0; i < l.hashes.size(); ++i)
      levels.push_back({{"place", l.places[i]}, {"hash", of_hash(l.hashes[i])}});
    for (const auto& [text, at] : l.index) levels[at]["text"] = text;
    value["levels"].push_back(levels);
  }
  const std::vector<std::uint8_t> bytes = json::to_cbor(value);
  const auto raw = std::as_bytes(std::span(bytes));
  return {raw.begin(), raw.end()};
}

void tally_from_bytes(std::span<const std::byte> bytes, Tally& tally) {
  using nlohmann::json;
  const auto* first = reinterpret_cast<const std::uint8_t*>(bytes.data());
  const json value = json::from_cbor(first, first + bytes.size());
  const auto hash_of = [](const json& hash) {
    return ColumnHash{hash[0].get<std::uint64_t>(), hash[1].get<std::uint64_t>()};
  };
  const auto sum_of = [](const json& parts, const json& finite) {
    return ExactSum::of_parts(parts.get<std::array<std::int64_t, ExactSum::limbs>>(), finite.get<bool>());
  };
  value["missing"].get_to(tally.missing_counts);
  value["first_missing"].get_to(tally.first_missing);
  value["fact_missing_first"].get_to(tally.fact_missing_first);
  tally.weight = sum_of(value["weight"], true);
  value["whole_weights"].get_to(tally.whole_weights);
  value["rows"].get_to(tally.rows);
  value["dropped"].get_to(tally.dropped);
  tally.target->from_json(value["target"]);
  const auto numbers_of = [&](const json& n) {
    return NumberSums{sum_of(n["count"], n["count_finite"]),
                      std::bit_cast<double>(n["minimum"].get<std::uint64_t>()),
                      std::bit_cast<double>(n["maximum"].get<std::uint64_t>()),
                      sum_of(n["sum"], n["sum_finite"]),
                      sum_of(n["squares"], n["squares_finite"]),
                      hash_of(n["hash"])};
  };
  tally.target_numbers = numbers_of(value["target_numbers"]);
  for (std::size_t j = 0; j < tally.numbers.size(); ++j) {
    tally.numbers[j] = numbers_of(value["numbers"][j]);
    LevelSums& levels = tally.levels[j];
    for (const json& l : value["levels"][j]) {
      const std::size_t at = levels.level(l["text"].get<std::string>());
      levels.hashes[at] = hash_of(l["hash"]);
      levels.places.push_back(l["place"].get<std::string>());
    }
  }
}

class EncodingLearner {
 public:
  EncodingLearner(const Table& table, const EncodingOptions& options) : table_(table), options_(options) {
    choose_columns();
    check_options();
  }
  Encoding learn(const Execution& execution);
  std::vector<std::string> features() const {
    return {names_.begin(), names_.begin() + static_cast<std::ptrdiff_t>(encoding_.columns_.size())};
  }

 private:
  void choose_columns();
  void check_options() const;
  const TableColumn& known(const std::string& name, const char* role) const;
  Tally empty() const;
  void add_batch(const TableBatch& batch, Tally& tally) const;
  void add_numbers(const TableBatch& batch, std::size_t j, std::span<const Index> kept, std::span<const double> weights,
                   NumberSums& sums) const;
  void add_levels(const TableBatch& batch, std::size_t j, std::span<const Index> kept, LevelSums& sums) const;
  // Adds the tally of rows that come after all that were added before.
  void add(const Tally& next);
  void check_levels(std::size_t j, const LevelSums& sums) const;
  std::string missing_counts() const;
  [[noreturn]] void refuse_missing() const;
  void check_spoilt_numbers(std::size_t j, const LevelSums& sums) const;
  void check_constants() const;
  void check_duplicates() const;

  const Table& table_;
  const EncodingOptions& options_;
  Encoding encoding_;
  std::vector<std::string> names_;  // of the features, then offset and weights if there are, then the target
  Tally all_;
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
  for (const auto& [name, role] : {std::pair(options_.offset, "the offset"), {options_.weights, "the weights"}}) {
    if (name.empty()) continue;
    const ColumnKind kind = known(name, role).kind;
    if (name == options_.target)
      throw InputError(fmt::format("'{}' is the target and cannot be {} too; name another column", name, role));
    if (kind != ColumnKind::numeric && kind != ColumnKind::boolean)
      throw InputError(
          fmt::format("{}: column '{}' is to be {}, which must be numbers, and holds something "
                      "else; correct its cells, or name another column",
                      table_.files().front(), name, role));
    exclude.insert(name);
  }
  if (!options_.offset.empty() && options_.offset == options_.weights)
    throw InputError(fmt::format("'{}' cannot be both the weights and the offset; name another column for one of them",
                                 options_.offset));
  for (const auto& name : options_.columns) {
    known(name, "a feature");
    if (name == options_.target)
      throw InputError(
          fmt::format("'{}' is the target and cannot be a feature too; leave it out of {}", name, mention("columns")));
    if (name == options_.offset || name == options_.weights)
      throw InputError(fmt::format("'{}' is a weight or an offset and cannot be a feature too; leave it out of {}",
                                   name, mention("columns")));
    if (!chosen.insert(name).second)
      throw InputError(fmt::format("the column '{}' is named twice; name it once", name));
  }
  const auto all = options_.columns.empty() ? table_.names() : options_.columns;
  if (all.size() > Encoding::most_features + 1 + exclude.size())
    throw InputError(fmt::format(
        "{}: {} columns are to explain the target, and a fit takes at most {}: it keeps matrices with a row and a "
        "column for each coefficient; name fewer with {}, or leave some out with {}",
        table_.files().front(), all.size() - 1, Encoding::most_features, mention("columns"), mention("exclude")));
  for (const auto& name : all) {
    if (name == options_.target || exclude.contains(name)) continue;
    if (name.empty())
      throw InputError(
          fmt::format("{}: a column has no name (an index that was written along, or a comma at the end of lines?); "
                      "name it, or leave it out ({})",
                      table_.files().front(), mention("exclude", "")));
    const TableColumn& column = known(name, "a feature");
    if (column.kind == ColumnKind::other)
      throw InputError(
          fmt::format("{}: column '{}' holds neither numbers nor text (a time, a list, bytes?); leave "
                      "it out ({}) or turn it into numbers first",
                      table_.files().front(), name, mention("exclude")));
    encoding_.columns_.push_back({.name = name, .kind = column.kind, .levels = {}});
    names_.push_back(name);
  }
  for (const std::string& name : {options_.offset, options_.weights})
    if (!name.empty()) names_.push_back(name);
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
  if (!options_.positive.empty() && options_.target_kind != TargetKind::two_classes)
    throw InputError("which value counts as 1 can be said of a target of two classes only");
  if (options_.target_kind == TargetKind::number && table_.find(options_.target)->kind == ColumnKind::text)
    throw InputError(
        fmt::format("the target '{}' holds text, not numbers; choose a family for classes (logistic, "
                    "softmax), or another target",
                    options_.target));
}

Tally EncodingLearner::empty() const {
  Tally out;
  out.numbers.resize(encoding_.columns_.size());
  out.levels.resize(encoding_.columns_.size());
  out.missing_counts.assign(names_.size(), 0);
  out.target.emplace(options_, table_.find(options_.target)->kind);
  return out;
}

void EncodingLearner::add(const Tally& next) {
  for (std::size_t j = 0; j < all_.numbers.size(); ++j) {
    all_.numbers[j] += next.numbers[j];
    all_.levels[j] += next.levels[j];
    check_levels(j, all_.levels[j]);
  }
  for (std::size_t j = 0; j < names_.size(); ++j) all_.missing_counts[j] += next.missing_counts[j];
  if (all_.first_missing.empty()) {
    all_.first_missing = next.first_missing;
    all_.fact_missing_first = next.fact_missing_first;
  }
  all_.target->add(*next.target);
  all_.target_numbers += next.target_numbers;
  all_.weight += next.weight;
  all_.whole_weights = all_.whole_weights && next.whole_weights;
  all_.rows += next.rows;
  all_.dropped += next.dropped;
}

Encoding EncodingLearner::learn(const Execution& execution) {
  encoding_.intercept_ = options_.intercept;
  encoding_.missing_ = options_.missing;
  encoding_.target_ = options_.target;
  encoding_.weights_ = options_.weights;
  encoding_.offset_ = options_.offset;
  encoding_.target_kind_ = options_.target_kind;
  encoding_.target_column_ = table_.find(options_.target)->kind;
  all_ = empty();
  std::vector<Tally> slots(Table::slots(execution.threads));
  table_.scan(
      names_, own_share(table_.pieces(), execution.communicator), 1 << 16, execution.threads,
      [&](std::size_t slot, const TableBatch& batch) {
        slots[slot] = empty();
        add_batch(batch, slots[slot]);
      },
      [&](std::size_t slot) { add(slots[slot]); });
  encoding_.own_rows_ = all_.rows;
  if (execution.communicator.size() > 1) {
    const std::vector<std::byte> own = tally_to_bytes(all_);
    all_ = empty();
    for (const std::vector<std::byte>& bytes : execution.communicator.gather(own)) {
      Tally theirs = empty();
      tally_from_bytes(bytes, theirs);
      add(theirs);
    }
  }

  if (options_.missing == Missing::error && !all_.first_missing.empty()) refuse_missing();
  if (all_.rows == 0)
    throw InputError(
        all_.dropped == 0
            ? fmt::format("{}: the table has no rows; check that it was written whole", table_.files().front())
            : fmt::format("{}: something is missing in each of the {} rows, and none is left; leave "
                          "out the columns that are mostly empty ({}); missing: {}",
                          table_.files().front(), all_.dropped, mention("exclude"), missing_counts()));
  if (!options_.weights.empty() && !(all_.weight.value() > 0.0))
    throw InputError(fmt::format("{}: all weights in column '{}' are 0; name another column", table_.files().front(),
                                 options_.weights));
  for (std::size_t j = 0; j < encoding_.columns_.size(); ++j) {
    EncodedColumn& column = encoding_.columns_[j];
    if (column.kind == ColumnKind::text) {
      check_spoilt_numbers(j, all_.levels[j]);
      column.levels = all_.levels[j].sorted();
      continue;
    }
    column.minimum = all_.numbers[j].minimum;
    column.maximum = all_.numbers[j].maximum;
    column.mean = all_.numbers[j].mean();
    column.deviation = all_.numbers[j].deviation();
    // In [0, 1] the sum is that of the squares only if all are 0 or 1.
    const bool zero_or_one = column.minimum >= 0.0 && column.maximum <= 1.0 &&
                             all_.numbers[j].sum.value() == all_.numbers[j].squares.value();
    if (!options_.standardise || column.kind != ColumnKind::numeric || zero_or_one || column.minimum == column.maximum)
      continue;
    if (options_.intercept) column.shift = column.mean;
    column.scale = column.deviation;
    // Squares of tiny or huge numbers leave the range of double.
    if (!(column.deviation > 0.0 && std::isfinite(column.deviation)))
      throw InputError(
          fmt::format("column '{}' lies between {} and {}, where its deviation cannot be computed; rescale "
                      "the column",
                      column.name, column.minimum, column.maximum));
  }
  check_constants();
  check_duplicates();
  all_.target->classes(encoding_.classes_, encoding_.class_values_);
  if (options_.target_kind == TargetKind::number) {
    encoding_.target_mean_ = all_.target_numbers.mean();
    encoding_.target_deviation_ = all_.target_numbers.deviation();
  }
  encoding_.rows_ = all_.rows;
  encoding_.dropped_ = all_.dropped;
  encoding_.total_weight_ = options_.weights.empty() ? static_cast<double>(all_.rows) : all_.weight.value();
  encoding_.whole_weights_ = all_.whole_weights;
  encoding_.settle();
  return std::move(encoding_);
}

void EncodingLearner::add_batch(const TableBatch& batch, Tally& tally) const {
  const MissingRows missing(batch, names_.size());
  tally.missing_counts = missing.counts();
  std::vector<Index> kept;
  for (Index i = 0; i < batch.rows(); ++i) {
    if (!missing[i]) {
      kept.push_back(i);
      continue;
    }
    ++tally.dropped;
    if (!tally.first_missing.empty()) continue;
    tally.first_missing = place_of(batch, i, names_[missing.column(i)]);
    tally.fact_missing_first = missing.column(i) >= encoding_.columns_.size();
  }
  // Once something is missing and must not be, all that is left to do is to count.
  if (options_.missing == Missing::error && !tally.first_missing.empty()) return;
  std::size_t fact = encoding_.columns_.size();
  if (!options_.offset.empty()) {
    for (const Index i : kept) check_number(batch, i, names_[fact], batch.numbers(fact)[static_cast<std::size_t>(i)]);
    ++fact;
  }
  std::span<const double> weights;
  if (!options_.weights.empty()) {
    weights = batch.numbers(fact);
    for (const Index i : kept) {
      const double weight = weights[static_cast<std::size_t>(i)];
      check_weight(batch, i, names_[fact], weight);
      tally.weight.add(weight);
      tally.whole_weights = tally.whole_weights && weight == std::floor(weight);
    }
  }
  for (std::size_t j = 0; j < encoding_.columns_.size(); ++j)
    if (encoding_.columns_[j].kind == ColumnKind::text)
      add_levels(batch, j, kept, tally.levels[j]);
    else
      add_numbers(batch, j, kept, weights, tally.numbers[j]);
  for (const Index i : kept) tally.target->add(batch, names_.size() - 1, i);
  if (options_.target_kind == TargetKind::number)
    add_numbers(batch, names_.size() - 1, kept, weights, tally.target_numbers);
  tally.rows += static_cast<RowId>(kept.size());
}

// A row of weight 0 is not there.
void EncodingLearner::add_numbers(const TableBatch& batch, std::size_t j, std::span<const Index> kept,
                                  std::span<const double> weights, NumberSums& sums) const {
  const auto values = batch.numbers(j);
  for (const Index i : kept) {
    const double value = values[static_cast<std::size_t>(i)];
    check_number(batch, i, names_[j], value);
    const double weight = weights.empty() ? 1.0 : weights[static_cast<std::size_t>(i)];
    if (weight > 0.0) sums.add(batch.key(i), value, weight);
  }
}

void EncodingLearner::add_levels(const TableBatch& batch, std::size_t j, std::span<const Index> kept,
                                 LevelSums& sums) const {
  constexpr std::size_t not_met = static_cast<std::size_t>(-1);
  std::vector<std::size_t> level_of_code(batch.texts(j).size(), not_met);
  for (const Index i : kept) {
    const auto code = static_cast<std::size_t>(batch.codes(j)[static_cast<std::size_t>(i)]);
    if (level_of_code[code] == not_met) {
      level_of_code[code] = sums.level(batch.texts(j)[code]);
      if (sums.places.size() < sums.hashes.size()) {
        check_level(batch, i, names_[j], batch.texts(j)[code]);
        sums.places.push_back(place_of(batch, i, names_[j]));
      }
      check_levels(j, sums);
    }
    sums.hashes[level_of_code[code]].add(batch.key(i), 1.0);
  }
}

void EncodingLearner::check_levels(std::size_t j, const LevelSums& sums) const {
  if (sums.hashes.size() <= Encoding::most_levels) return;
  check_spoilt_numbers(j, sums);
  if (std::ranges::all_of(sums.index, [](const auto& level) { return is_number(level.first); }))
    throw InputError(fmt::format(
        "{}: column '{}' is read as text, and yet its first {} values are numbers; if one further on is not "
        "(a word, a currency sign, a comma between thousands), correct it, or leave it empty if it is "
        "missing; if these are numbers of things, leave the column out ({})",
        table_.files().front(), names_[j], sums.index.size(), mention("exclude", names_[j])));
  throw InputError(
      fmt::format("{}: column '{}' has more than {} levels, as names or numbers of things have; leave it out "
                  "({}) or merge the rare ones",
                  table_.files().front(), names_[j], Encoding::most_levels, mention("exclude", names_[j])));
}

// One cell that is no number, or a comma for the point, makes text of a column of numbers, and a level of every number:
// a model that nobody wants, and that would go unnoticed.
void EncodingLearner::check_spoilt_numbers(std::size_t j, const LevelSums& sums) const {
  if (std::ranges::find(options_.categorical, names_[j]) != options_.categorical.end()) return;
  const auto with_comma = [](std::string text) {
    const auto commas = std::ranges::count(text, ',');
    if (commas == 1) std::ranges::replace(text, ',', '.');
    return commas == 1 && is_number(text);
  };
  std::size_t numbers = 0, first = sums.places.size();  // of the levels that are no numbers, the first that was met
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
                  sums.places[first], on_one_line(*odd),
                  with_comma(*odd) ? "write decimals with a point" : "correct it, leave it empty if it is missing",
                  mention("categorical", names_[j])));
}

// "'age' in 3, 'city' in 1".
std::string EncodingLearner::missing_counts() const {
  std::vector<std::string> counts;
  for (std::size_t j = 0; j < names_.size(); ++j)
    if (all_.missing_counts[j] > 0) counts.push_back(fmt::format("'{}' in {}", names_[j], all_.missing_counts[j]));
  const std::size_t more = counts.size() > 5 ? counts.size() - 5 : 0;
  counts.resize(counts.size() - more);
  return joined(counts, ", ") + (more > 0 ? fmt::format(" and {} more columns", more) : "");
}

void EncodingLearner::refuse_missing() const {
  const std::string drop = mention("missing", "drop");
  throw InputError(
      fmt::format("{}: the value is missing; fill it{}; rows in which a value is missing: {}", all_.first_missing,
                  all_.fact_missing_first
                      ? fmt::format(", or drop such rows ({})", drop)
                      : fmt::format(", drop such rows ({}), or leave out the column ({})", drop, mention("exclude")),
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
  if (all_.rows == 1)
    throw InputError(
        fmt::format("{}: there is one row only, in which nothing varies; a fit needs more", table_.files().front()));
  throw InputError(
      fmt::format("{}: {} {} the same value in every row and {}; leave {} out ({})", table_.files().front(),
                  quoted_list(constant, 10), constant.size() == 1 ? "has" : "have each",
                  options_.intercept ? "cannot be told from the intercept" : "cannot explain anything",
                  constant.size() == 1 ? "it" : "them", mention("exclude", on_one_line(joined(constant, ","), 200))));
}

void EncodingLearner::check_duplicates() const {
  std::map<ColumnHash, std::string> seen;
  const auto check = [&](const ColumnHash& hash, const std::string& name) {
    const auto [first, fresh] = seen.emplace(hash, name);
    if (!fresh)
      throw InputError(
          fmt::format("{}: '{}' and '{}' are the same in every row and cannot be told apart; leave one "
                      "out ({})",
                      table_.files().front(), first->second, name, mention("exclude")));
  };
  for (std::size_t j = 0; j < encoding_.columns_.size(); ++j) {
    const EncodedColumn& column = encoding_.columns_[j];
    if (column.kind != ColumnKind::text) check(all_.numbers[j].hash, column.name);
    for (std::size_t l = 1; l < column.levels.size(); ++l)
      check(all_.levels[j].hashes[all_.levels[j].index.at(column.levels[l])],
            fmt::format("{}[{}]", column.name, column.levels[l]));
  }
}

std::vector<std::string> Encoding::feature_columns(const Table& table, const EncodingOptions& options) {
  return EncodingLearner(table, options).features();
}

Encoding Encoding::learn(const Table& table, const EncodingOptions& options) {
  const Threads threads;
  return learn(table, options, {threads});
}

Encoding Encoding::learn(const Table& table, const EncodingOptions& options, const Execution& execution) {
  return EncodingLearner(table, options).learn(execution);
}

}  // namespace flymc
