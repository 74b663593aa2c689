// How the columns of a table become a row of cells and a target.
//
// Numbers stay as they are or are standardised, true/false becomes 1/0, and a text column of levels a < b < c becomes
// the features column[b] and column[c]: the first level, or the one that is named, is the reference, with an intercept
// or without. Where that would make rows more than twice as long, levels of three and more are kept as codes.
//
// A formula says more: functions of numbers, and interactions. The product of numbers is a number. Levels times a number
// are a slope for each level, and levels times levels a feature for each combination of them that occurs.
#pragma once

#include <cmath>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flymc/comm/execution.hpp"
#include "flymc/core/linear.hpp"
#include "flymc/data/files/formula.hpp"
#include "flymc/data/files/table.hpp"
#include "flymc/data/store.hpp"

namespace flymc {

// What is done with a row in which something is missing.
enum class Missing { error, drop };
enum class TargetKind { two_classes, classes, ordered, number };
// Whether a count is taken in two parts: `zero` is whether it is more than 0, and `count` has the rows where it is.
enum class Hurdle { none, zero, count };

struct EncodingOptions {
  std::string target = {};
  std::vector<std::string> columns = {};  // of features; none: all but the target and `exclude`
  std::vector<std::string> exclude = {};  // columns that are no features
  // The terms that explain the target, of which it names the target too; none: each column is a term by itself.
  std::string formula = {};
  std::string weights = {}, offset = {};  // columns of numbers that are facts of rows and no features; none: 1 and 0
  bool trials = false;    // whether the weights are numbers of trials, of which the target counts the successes
  bool exposure = false;  // whether the column of offsets holds exposures, of which the logarithm is the offset
  bool log_link = false;  // whether exp(linear predictor) is the target's mean, to which exp(offset) is an exposure
  // A name for the last feature of each row, the target itself on its own scale: the residual scale is drawn
  // (model/residual.hpp), and that is its parameter's name. None: the target is no feature.
  std::string scale = {};
  // A name for the last feature of each row, which is 1: a shape is drawn (model/sampled_shape.hpp), and that is its
  // parameter's name. None: there is no shape.
  std::string shape = {};
  // Whether to keep which numbers the target takes, and the weight of their rows.
  bool distinct_targets = false;
  // Of a target that is a time or an amount, more than 0: its logarithm is the feature, and the target of a row whether
  // its event was seen, as the column `event` of 0 and 1 says; without such a column always.
  bool times = false;
  std::string event = {};
  // Columns whose values are levels; the table has to be opened with the same list, which is checked here.
  std::vector<std::string> categorical = {};
  std::vector<std::string> reference = {};  // "column=level": the levels that others are compared with
  RowId merge_levels = 0;                   // levels of a column with fewer rows than this become one
  bool intercept = true;
  // Numbers are divided by their standard deviation, and centred if there is an intercept to take that up. A column of
  // nothing but 0 and 1 stays as it is, as true/false would.
  bool standardise = false;
  Missing missing = Missing::error;
  bool of_a_part = false;  // of a larger table: columns that are constant, or repeat others, may not be so in all of it
  TargetKind target_kind = TargetKind::two_classes;
  std::string other_kinds = {};  // what to do about a target of another kind, for messages; none: nothing is known
  std::string positive = {};     // the value that counts as 1; none: the larger number, the later text, true
  // Of an ordered target: its values from the lowest to the highest, those that do not occur among them if one likes.
  // None: by size, if they are numbers.
  std::vector<std::string> order = {};
  // Both parts of a hurdle learn about columns from the same rows, so that they have the same features. An offset is of
  // the count part alone.
  Hurdle hurdle = Hurdle::none;
};

// Where a row comes from. Rows of data count from 1 in each file.
struct RowOrigin {
  std::string_view file;
  RowId row = 0;
};

// A column of features, and what was learnt about it.
struct EncodedColumn {
  std::string name;
  ColumnKind kind = ColumnKind::numeric;
  // Of text: the reference first, the others sorted by bytes, and last the one that stands for those that are rare.
  std::vector<std::string> levels = {};
  std::string merged = {};  // its name; none: all are levels of their own
  std::vector<std::string> rare = {};
  // Of numbers and true/false, over the rows that were kept; the deviation is that of a sample.
  double minimum = 0.0, maximum = 0.0, mean = 0.0, deviation = 0.0;
  double shift = 0.0, scale = 1.0;  // the feature is (value - shift) / scale
  bool operator==(const EncodedColumn&) const = default;
};

// A column in a term, or a function of it.
struct TermFactor {
  // Of levels: those but the reference have features, or all have. True and false are the numbers 1 and 0.
  enum class Coding { number, but_reference, all_levels };
  std::size_t column = 0;  // among those of the encoding
  Coding coding = Coding::number;
  NumberFunction function = NumberFunction::identity;
  int power = 1;
  bool coded() const { return coding != Coding::number; }
  bool operator==(const TermFactor&) const = default;
};

// What explains the target: a column, or a product of several, and what was learnt about it.
struct EncodedTerm {
  std::string name;
  std::vector<TermFactor> factors;
  // Whether all levels are there but one, the first combination: a term without those that it is made of.
  bool but_first = false;
  // Which combinations of levels have a feature, by the numbers of the levels of each factor that has some; with
  // but_first the first has none. Of a number there is one, of no levels.
  std::vector<std::vector<std::uint32_t>> levels = {};
  // Of each feature, which is (value - shift) / scale.
  std::vector<double> shift = {}, scale = {};
  bool coded() const;   // whether it has levels
  bool number() const;  // whether it has numbers
  bool operator==(const EncodedTerm&) const = default;
};

class Encoding {
 public:
  // More levels of text than this are not read. A column of more than `many_levels` that are rare, too, is taken for
  // names or numbers of things: fewer rows each than `rows_of_a_level`, on average.
  static constexpr std::size_t most_levels = 100000, many_levels = 1000;
  static constexpr RowId rows_of_a_level = 10;
  // A matrix of as many rows and columns has 2 GiB, and a fit keeps several.
  static constexpr std::size_t most_features = 16384;
  // Different numbers that are kept of a target.
  static constexpr std::size_t most_targets = 20000;
  // A number beyond this has a square that is beyond double.
  static constexpr double largest_number = 1e150;

  // The columns that would be features. Throws InputError, without a scan, if a name is unknown or a column cannot be
  // one.
  static std::vector<std::string> feature_columns(const Table& table, const EncodingOptions& options);

  // One scan. The result depends on rows and their order, not on formats, files or batches.
  // Throws InputError, naming file, column and row, if a number is infinite or too large, something is missing (with
  // Missing::error), the target does not suit its kind, a column has too many levels, one value only (with an
  // intercept, or zero) or the values of another one, is text by a few cells only, or a name is unknown.
  static Encoding learn(const Table& table, const EncodingOptions& options);
  // The same on threads and ranks; a rank reads its share of the table's pieces. `read` hears of how many rows so far.
  static Encoding learn(const Table& table, const EncodingOptions& options, const Execution& execution,
                        const std::function<void(RowId)>& read = nullptr);

  const std::vector<std::string>& feature_names() const { return feature_names_; }
  // The term that each feature is of: that of origin[JFK]:hour is origin:hour, that of a cut point is cutpoint.
  const std::vector<std::string>& terms_of_features() const { return terms_of_features_; }
  const std::vector<EncodedTerm>& terms() const { return terms_; }
  // What a row looks like.
  Layout layout(NumberType number_type = NumberType::float64) const {
    return {feature_names_, number_type, cell_levels_};
  }
  const std::vector<EncodedColumn>& columns() const { return columns_; }
  const std::string& target() const { return target_; }
  TargetKind target_kind() const { return target_kind_; }
  // The classes, by index; of two classes the second is the positive one, and ordered ones come from the lowest to the
  // highest. Empty if the target is a number.
  const std::vector<std::string>& classes() const { return classes_; }
  // Of a target that is a number (of a time or an amount: of its logarithm), less the offset unless the link is a
  // logarithm, over the rows that were kept, by their weights.
  double target_mean() const { return target_mean_; }
  double target_deviation() const { return target_deviation_; }
  // Where the link is a logarithm: the mean of exp(offset).
  double mean_exposure() const { return mean_exposure_; }
  bool intercept() const { return intercept_; }
  // Of an ordered target: one less than classes, and the first features. Each row of the table is then a row for each
  // cut point beside its class (data/cut_rows.hpp), and the target of that row is whether the class is above.
  Index cuts() const { return target_kind_ == TargetKind::ordered ? static_cast<Index>(classes_.size()) - 1 : 0; }
  // Of an ordered target: the total weight of each class.
  const std::vector<double>& class_weights() const { return class_weights_; }
  // Whether columns are centred: the intercept, or cut points, take that up.
  bool centred() const { return intercept_ || cuts() > 0; }
  FactKinds fact_kinds() const {
    return {!weights_.empty(), !offset_.empty() && !target_is_feature() && hurdle_ != Hurdle::zero};
  }
  // Rows of the table that were kept, and rows that are made of them.
  RowId rows() const { return rows_; }
  RowId stored_rows() const { return stored_rows_ > 0 ? stored_rows_ : rows_; }
  RowId dropped() const { return dropped_; }
  // Of the count part of a hurdle: rows that are left to the other part.
  RowId zeros() const { return zeros_; }
  Hurdle hurdle() const { return hurdle_; }
  // Of the rows that were kept; their number where there are no weights.
  double total_weight() const { return total_weight_; }
  bool whole_weights() const { return whole_weights_; }
  const std::string& weights() const { return weights_; }
  bool trials() const { return trials_; }
  const std::string& offset() const { return offset_; }
  bool exposure() const { return exposure_; }
  // Whether the last feature of a row is (target - offset - target_shift) / target_unit.
  bool target_is_feature() const { return !scale_name_.empty(); }
  double target_shift() const { return intercept_ ? target_mean_ : 0.0; }
  double target_unit() const { return intercept_ ? target_deviation_ : std::hypot(target_deviation_, target_mean_); }
  // Whether the last feature of a row is 1, and its coefficient the logarithm of a shape.
  bool has_shape() const { return !shape_name_.empty(); }
  // Whether the last feature is either of the two, and no column.
  bool ends_with_parameter() const { return target_is_feature() || has_shape(); }
  // Which numbers the target takes, rising, and the weight of each; where that was asked for.
  const std::vector<double>& target_values() const { return target_values_; }
  const std::vector<double>& target_weights() const { return target_weights_; }
  // Whether the target is a time or an amount, of which that is the logarithm.
  bool times() const { return times_; }
  const std::string& event() const { return event_; }
  // Of the rows whose event was seen; of all where there is no such column.
  double event_weight() const { return event_.empty() ? total_weight_ : event_weight_; }
  // The columns that are read as text: what TableOptions::categorical has to hold when new data is opened.
  std::vector<std::string> categorical() const;

  // Calls visit(cells, facts, origin) for every row that is kept, in order; the target is the index of the class, or
  // the number. With an ordered target, for the rows that are made of it.
  using Visit = std::function<void(std::span<const double>, const RowFacts&, const RowOrigin&)>;
  void encode(const Table& table, const Visit& visit) const;
  // The same on threads, of this rank's share of the pieces.
  void encode(const Table& table, const Execution& execution, const Visit& visit) const;
  // Rows that are made of this rank's share. Known to the encoding that was learnt, not to one that was read.
  RowId own_rows() const { return own_rows_; }

  // The same for every row of a table that needs no target and no weights, which are then 0 and 1. Columns that the
  // encoding does not know are ignored. With Missing::drop a row in which something is missing has no cells, so
  // that what is written per row stays aligned with the table. Throws InputError if a level was not seen when the
  // encoding was learnt.
  void encode_new(const Table& table, Missing missing, const Visit& visit) const;

  // Feature j of a row is (value - shift[j]) / scale[j]; 0 and 1 of the intercept, true/false and levels.
  const Vector& shift() const { return shift_; }
  const Vector& scale() const { return scale_; }
  // Coefficients for the columns as they stand in the table, of those for the features: slope_j / scale_j, and the
  // intercept less the sum of slope_j shift_j / scale_j, or cut points plus that sum. The first `predictors` blocks of
  // theta are coefficients; what follows is not touched.
  Vector to_original(const Vector& theta, Index predictors = 1) const;
  // And back.
  Vector from_original(const Vector& original, Index predictors = 1) const;

  // Of the JSON that it was read from, or the present one. In version 1 priors were those of features; version 3 has
  // terms of a formula, and version 2 is still written where there is none.
  static constexpr int present_version = 3, version_of_columns = 2;
  int version() const { return version_; }
  // The encoding as JSON, and back; every number exactly.
  std::string to_json() const;
  static Encoding from_json(const std::string& text);

 private:
  friend class EncodingLearner;
  friend class RowEncoder;
  // Throws InputError, naming a column, a term or the target, if it could not have been learnt from a table.
  void check() const;
  // Names of features, cells, shifts and scales, from the terms.
  void derive_features();
  // Each column is a term.
  void make_terms_of_columns();
  std::string feature_name(const EncodedTerm& term, std::span<const std::uint32_t> levels) const;

  std::vector<EncodedColumn> columns_;
  std::vector<EncodedTerm> terms_;
  bool by_formula_ = false;
  bool intercept_ = true;
  Missing missing_ = Missing::error;
  std::string target_, weights_, offset_, scale_name_, shape_name_, event_;
  bool times_ = false;
  double event_weight_ = 0.0;
  TargetKind target_kind_ = TargetKind::two_classes;
  Hurdle hurdle_ = Hurdle::none;
  ColumnKind target_column_ = ColumnKind::numeric;
  std::vector<std::string> classes_;
  std::vector<double> class_values_;  // of a numeric or boolean target, by class
  std::vector<double> class_weights_;
  std::vector<double> target_values_, target_weights_;
  double target_mean_ = 0.0, target_deviation_ = 0.0, mean_exposure_ = 1.0;
  bool exposure_ = false, trials_ = false;
  int version_ = version_of_columns;
  RowId rows_ = 0, dropped_ = 0, zeros_ = 0, own_rows_ = 0, stored_rows_ = 0;
  double total_weight_ = 0.0;
  bool whole_weights_ = true;
  std::vector<std::string> feature_names_, terms_of_features_;
  std::vector<Index> cell_levels_;  // of the layout
  Vector shift_, scale_;
};

// All rows of the table that the encoding was learnt from, in memory.
Store read_rows(const Table& table, const Encoding& encoding, NumberType number_type = NumberType::float64);

}  // namespace flymc
