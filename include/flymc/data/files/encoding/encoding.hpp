// How the columns of a table become a row of cells and a target.
//
// Numbers stay as they are or are standardised, and true/false becomes 1/0. A text column of levels a < b < c becomes
// the features column[b] and column[c], with or without an intercept: the first level, or the one that is named, is the
// reference. Where that would make rows more than twice as long, levels of three and more are kept as codes.
//
// A formula adds functions of numbers, and interactions. The product of numbers is a number. Levels times a number are
// a slope for each level, and levels times levels are a feature for each combination that occurs. A formula may also
// have groups, which are no features: a row has the number of its group in each factor.
#pragma once

#include <cmath>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flymc/comm/execution.hpp"
#include "flymc/core/linear.hpp"
#include "flymc/data/files/encoding/encoded_groups.hpp"
#include "flymc/data/files/encoding/formula.hpp"
#include "flymc/data/files/encoding/target_encoding.hpp"
#include "flymc/data/files/table/table.hpp"
#include "flymc/data/store.hpp"

namespace flymc {

// Whether a row with a missing value is an error or is dropped.
enum class Missing { error, drop };
// Whether a new row of a group that was not seen is an error, or has the group `new_group`.
enum class NewGroups { error, accept };
struct EncodingOptions {
  TargetOptions target = {};
  std::vector<std::string> columns = {};  // the columns of features; empty: all but the target and `exclude`
  std::vector<std::string> exclude = {};  // columns that are not features
  // The terms that explain the target, and the target itself. Empty: each column is a term by itself.
  std::string formula = {};
  std::string weights = {}, offset = {};  // columns of numbers; empty: 1 and 0
  bool exposure = false;                  // whether the offset is the logarithm of its column
  bool log_link = false;  // whether the target's mean is exp(linear predictor), so that exp(offset) is an exposure
  // Columns whose values are levels. The table has to be opened with the same list, which is checked here.
  std::vector<std::string> categorical = {};
  std::vector<std::string> reference = {};  // "column=level": the reference levels
  RowId merge_levels = 0;                   // levels of a column with fewer rows than this are merged into one
  bool intercept = true;
  // Whether to divide numbers by their standard deviation, and to centre them if an intercept can take that up. A
  // column that has only 0 and 1 stays as it is, like true/false.
  bool standardise = false;
  Missing missing = Missing::error;
  bool of_a_part = false;  // of a larger table: accepts columns that are constant or repeat others here
};

// The file and the row that a row comes from. Rows of data count from 1 in each file.
struct RowOrigin {
  std::string_view file;
  RowId row = 0;
};

// A column of features, and its facts from the scan.
struct EncodedColumn {
  std::string name;
  ColumnKind kind = ColumnKind::numeric;
  // For text: the reference first, then the others sorted by bytes (numbers that a formula makes levels: by size), and
  // last the level that stands for the rare ones.
  std::vector<std::string> levels = {};
  std::string merged = {};  // the name of that level; empty: no levels are merged
  std::vector<std::string> rare = {};
  // For numbers and true/false, over the rows that were kept; the deviation has n - 1 in its denominator.
  double minimum = 0.0, maximum = 0.0, mean = 0.0, deviation = 0.0;
  double shift = 0.0, scale = 1.0;  // the feature is (value - shift) / scale
  bool only_groups = false;         // whether its levels are groups, and it is in no term
  bool operator==(const EncodedColumn&) const = default;
};

// A column in a term, or a function of one.
struct TermFactor {
  // Which levels have features: all but the reference, or all. True and false are the numbers 1 and 0.
  enum class Coding { number, but_reference, all_levels };
  std::size_t column = 0;  // index of the encoding's column
  Coding coding = Coding::number;
  NumberFunction function = NumberFunction::identity;
  int power = 1;
  bool coded() const { return coding != Coding::number; }
  bool operator==(const TermFactor&) const = default;
};

// A column, or a product of several, and its facts from the scan.
struct EncodedTerm {
  std::string name;
  std::vector<TermFactor> factors;
  // Whether each combination of levels but the first has a feature, because the terms that it contains are absent.
  bool but_first = false;
  // The combinations of levels that have a feature, as numbers of levels, one for each factor with levels. With
  // but_first, the first combination has none. A term of numbers has one combination, which is empty.
  std::vector<std::vector<std::uint32_t>> levels = {};
  // For each feature, which is (value - shift) / scale.
  std::vector<double> shift = {}, scale = {};
  bool coded() const;   // whether it has factors with levels
  bool number() const;  // whether it has factors that are numbers
  bool operator==(const EncodedTerm&) const = default;
};

// A row of the table as it is stored.
struct EncodedRow {
  std::span<const double> cells;
  RowFacts facts;
  RowOrigin origin;
  std::span<const Group> groups = {};  // its group in each factor
  // For a row of a new table: a hash of the name of each of its groups that is new.
  std::span<const std::uint64_t> group_keys = {};
};

class Encoding {
 public:
  // A column of more than `most_levels` levels of text is refused. A column of more than `many_levels` with fewer than
  // `rows_of_a_level` rows each, on average, is taken for names or identifiers, and refused too.
  static constexpr std::size_t most_levels = 100000, many_levels = 1000;
  static constexpr RowId rows_of_a_level = 10;
  // A matrix with as many rows and columns has 2 GiB, and a fit keeps several.
  static constexpr std::size_t most_features = 16384;
  // How many different values of a target are kept.
  static constexpr std::size_t most_targets = 20000;
  // The square of a larger number exceeds the range of double.
  static constexpr double largest_number = 1e150;

  // The columns that would be features. Throws InputError, without a scan, if a name is unknown or a column cannot be a
  // feature.
  static std::vector<std::string> feature_columns(const Table& table, const EncodingOptions& options);

  // Learns the encoding in one scan. The result depends on rows and their order, not on formats, files or batches.
  // Throws InputError, naming file, column and row, if a number is infinite or too large, a value is missing (with
  // Missing::error), the target does not suit its kind, or a name is unknown; and if a column has too many levels, has
  // one value only (one such column other than zeros is allowed without an intercept), repeats another column, or is
  // text because of a few cells.
  static Encoding learn(const Table& table, const EncodingOptions& options);
  // The same on threads and ranks; a rank reads its share of the table's pieces. `read` gets the number of rows so far.
  static Encoding learn(const Table& table, const EncodingOptions& options, const Execution& execution,
                        const std::function<void(RowId)>& read = nullptr);

  const std::vector<std::string>& feature_names() const { return feature_names_; }
  // The name of each feature's term: origin:hour for origin[JFK]:hour, and cutpoint for a cut point.
  const std::vector<std::string>& terms_of_features() const { return terms_of_features_; }
  const std::vector<EncodedTerm>& terms() const { return terms_; }
  // The layout of a row.
  Layout layout(NumberType number_type = NumberType::float64) const {
    return {feature_names_, number_type, cell_levels_};
  }
  const std::vector<EncodedColumn>& columns() const { return columns_; }
  // The grouping factors, and the effects of their groups.
  const std::vector<EncodedFactor>& factors() const { return factors_; }
  const std::vector<EncodedEffects>& effects() const { return effects_; }
  std::vector<GroupFactor> group_factors() const;
  // The index of a term's first feature; the others follow.
  std::size_t first_feature(std::size_t term) const;
  const TargetEncoding& target() const { return target_; }
  // The mean of exp(offset), if the link is a logarithm.
  double mean_exposure() const { return mean_exposure_; }
  bool intercept() const { return intercept_; }
  // Whether columns are centred. The intercept, or the cut points, take up the shift.
  bool centred() const { return intercept_ || target_.cuts() > 0; }
  FactKinds fact_kinds() const { return {!weights_.empty(), uses_offset() && !target_.is_feature()}; }
  // The rows of the table that were kept, and the rows of the store that are made of them.
  RowId rows() const { return rows_; }
  RowId stored_rows() const { return stored_rows_ > 0 ? stored_rows_ : rows_; }
  RowId dropped() const { return dropped_; }
  // The sum of the weights of the rows that were kept; without weights, their number.
  double total_weight() const { return total_weight_; }
  bool whole_weights() const { return whole_weights_; }
  const std::string& weights() const { return weights_; }
  const std::string& offset() const { return offset_; }
  bool uses_offset() const { return !offset_.empty() && target_.uses_offset(); }
  bool exposure() const { return exposure_; }
  // The total weight of the rows whose event was seen; of all rows without such a column.
  double event_weight() const { return target_.event.empty() ? total_weight_ : target_.seen_weight; }
  // The columns that are read as text, which TableOptions::categorical must contain when new data is opened.
  std::vector<std::string> categorical() const;

  // Calls `visit` for every row that is kept, in order; the target is the index of the class, or the number. With an
  // ordered target, calls it for each row of the store that is made of the row.
  using Visit = std::function<void(const EncodedRow&)>;
  void encode(const Table& table, const Visit& visit) const;
  // The same on threads, for this rank's share of the pieces.
  void encode(const Table& table, const Execution& execution, const Visit& visit) const;
  // How many rows the store has from this rank's share. Known if the encoding was learnt, not if it was read.
  RowId own_rows() const { return own_rows_; }

  // The same for every row of a table that needs no target and no weights; these are given as 0 and 1. Columns that the
  // encoding does not know are ignored. With Missing::drop, a row with a missing value has no cells, so that
  // output per row stays aligned with the table. Throws InputError if a level was not seen when the encoding was
  // learnt,
  // unless it is one of groups alone and these may be new.
  void encode_new(const Table& table, Missing missing, const Visit& visit,
                  NewGroups new_groups = NewGroups::error) const;
  // The same encoding of rows whose groups are of no matter. It does not read columns that are groups alone.
  Encoding without_groups() const;

  // Feature j of a row is (value - shift[j]) / scale[j]; shift 0 and scale 1 for the intercept, true/false and levels.
  const Vector& shift() const { return shift_; }
  const Vector& scale() const { return scale_; }
  // Converts coefficients of the features to coefficients of the table's columns: slope_j / scale_j, and the intercept
  // less the sum of slope_j shift_j / scale_j, or cut points plus that sum. The first `predictors` blocks of theta are
  // coefficients; the rest is unchanged.
  Vector to_original(const Vector& theta, Index predictors = 1) const;
  // The inverse.
  Vector from_original(const Vector& original, Index predictors = 1) const;

  // The version of the JSON that the encoding was read from, or else the present one. In version 1 priors were those of
  // features; version 3 has terms of a formula, and version 4 has groups. The earliest that suffices is written, from 2 on.
  static constexpr int present_version = 4, version_of_terms = 3, version_of_columns = 2;
  int version() const { return version_; }
  // The encoding as JSON, and back; every number is exact.
  std::string to_json() const;
  static Encoding from_json(const std::string& text);

 private:
  friend class EncodingLearner;
  friend class RowEncoder;
  // Throws InputError, naming a column, a term or the target, if the encoding cannot come from any table.
  void check() const;
  // Derives names of features, cells, shifts and scales from the terms.
  void derive_features();
  // Makes each column a term.
  void make_terms_of_columns();
  std::string feature_name(const EncodedTerm& term, std::span<const std::uint32_t> levels) const;

  std::vector<EncodedColumn> columns_;
  std::vector<EncodedTerm> terms_;
  std::vector<EncodedFactor> factors_;
  std::vector<EncodedEffects> effects_;
  bool by_formula_ = false;
  bool intercept_ = true;
  Missing missing_ = Missing::error;
  TargetEncoding target_;
  std::string weights_, offset_;
  double mean_exposure_ = 1.0;
  bool exposure_ = false;
  int version_ = version_of_columns;
  RowId rows_ = 0, dropped_ = 0, own_rows_ = 0, stored_rows_ = 0;
  double total_weight_ = 0.0;
  bool whole_weights_ = true;
  std::vector<std::string> feature_names_, terms_of_features_;
  std::vector<Index> cell_levels_;  // as in Layout
  Vector shift_, scale_;
};

// All rows of the table that the encoding was learnt from, in memory.
Store read_rows(const Table& table, const Encoding& encoding, NumberType number_type = NumberType::float64);

}  // namespace flymc
