// Predictive checks: whether the targets of a table look like those that a model draws for the same rows.
//
// Every compared number is a mean over a group of rows: the share of targets that are 1 where about a third is
// predicted, the share of counts that are 0, the share of targets below the model's own 5 % quantile. Each is computed
// for the table and for every replicated table, and gets a band; the bands of all groups hold simultaneously
// (bands.hpp).
#pragma once

#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "flymc/core/linear.hpp"
#include "flymc/core/parallel.hpp"
#include "flymc/core/random.hpp"

namespace flymc {

// How the groups of a part are formed, and what is compared in them.
enum class CheckKind {
  calibration,    // rows grouped by their prediction: the mean target, or the share of a class
  counts,         // the share of rows with each count
  places,         // the place of a target among those drawn for its row: the share of rows with each place
  shares,         // the share of rows in each class
  column_means,   // rows grouped by a column's value: the mean target, or the share of a class
  column_places,  // rows grouped by a column's value: the share of targets above the model's median
};

struct CheckedGroup {
  // The range of the group: predictions, counts, places or values of a column from ... to, both included.
  double from = 0.0, to = 0.0;
  std::string name = {};  // of a class
  std::int64_t rows = 0;
  double observed = 0.0, expected = 0.0, lower = 0.0, upper = 0.0;
  double deviation = 0.0;  // of the observed from the expected number, in standard deviations of the drawn numbers
  bool outside = false;    // whether `observed` is outside its band
};

struct CheckPart {
  CheckKind kind = CheckKind::calibration;
  std::string column = {};  // the column whose values form the groups
  std::string level = {};   // the class whose share is compared
  std::vector<CheckedGroup> groups = {};
};

struct PredictiveCheck {
  std::vector<CheckPart> parts;
  double level = 0.95;     // the probability that all bands hold if the model is right
  double p_value = 1.0;    // see Bands
  std::int64_t draws = 0;  // replicated tables
  bool passed() const;
};

// Tables of targets: row 0 has the table's own targets, each other row has drawn ones.
using Tables = RowMatrix;

// The place of each target among all targets of its row, between 0 and 1 and uniform if the model is right: (rank + u)
// / (S + 1), where equal targets get a random order. For a row with `longer` the target is only known to be larger than
// the given one, so it gets the place of a random one of the larger targets.
RowMatrix places(const Tables& tables, std::span<const char> longer, std::uint64_t seed, const Threads& threads);

// Collects parts, and computes the bands of all of them.
class PredictiveChecker {
 public:
  explicit PredictiveChecker(const Tables& tables, const Threads& threads) : tables_(tables), threads_(threads) {}

  // Groups rows by their predictions. `weights` are the weights of the rows' targets in a mean, such as numbers of
  // trials; if empty, they are equal.
  void add_calibration(std::span<const double> predicted, std::span<const double> weights = {});
  // The same for the share of class k.
  void add_calibration_of_class(std::span<const double> predicted, Index k, const std::string& name);
  void add_counts();
  void add_places(const RowMatrix& places);
  void add_shares(std::span<const std::string> classes);
  void add_column(const std::string& name, std::span<const double> values, std::span<const double> weights = {});
  void add_column_of_class(const std::string& name, std::span<const double> values, Index k, const std::string& level);
  void add_column_places(const std::string& name, std::span<const double> values, const RowMatrix& places);

  PredictiveCheck finish(double level = 0.95) const;

 private:
  struct Rows {
    double from = 0.0, to = 0.0;
    std::vector<Index> rows;
  };
  // At most `most` groups with about equally many rows; equal values are in the same group.
  static std::vector<Rows> by_value(std::span<const double> values, Index most);
  // Adds a part with these groups, which compares the mean of value(table, row) in each.
  template <class Value>
  void add(CheckPart part, const std::vector<Rows>& groups, std::span<const double> weights, const Value& value);
  // Adds a part whose groups depend on targets: group(table, row) is an index, and shares of all rows are compared.
  template <class Group>
  void add_shares_of(CheckPart part, const Group& group);

  const Tables& tables_;
  const Threads& threads_;
  std::vector<CheckPart> parts_;
  std::vector<RowMatrix> numbers_;  // per part: a row per table, a column per group
};

}  // namespace flymc
