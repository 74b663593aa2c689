// Predictive checks: whether the targets of a table look like those that a model draws for the same rows.
//
// Every number that is compared is a mean over a group of rows: how many targets are 1 where about a third is predicted,
// how many counts are 0, how many targets lie below the model's own 5 % quantile. Each is computed of the table and of
// every replicated one, and gets a band; the bands of all groups hold at once (bands.hpp).
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

// What the groups of a part are made by, and what is compared in them.
enum class CheckKind {
  calibration,    // rows by what is predicted for them: the mean target, or the share of a class
  counts,         // counts: the share of rows that have each
  places,         // the place of a target among those that are drawn for its row: the share of rows that have each
  shares,         // classes: the share of rows
  column_means,   // rows by the values of a column: the mean target, or the share of a class
  column_places,  // rows by the values of a column: the share of targets above the model's median
};

struct CheckedGroup {
  // Where the group lies: a predicted number, a count, a place or the value of a column, from ... to, both included.
  double from = 0.0, to = 0.0;
  std::string name = {};  // of a class
  std::int64_t rows = 0;
  double observed = 0.0, expected = 0.0, lower = 0.0, upper = 0.0;
  double deviation = 0.0;  // of what is observed, in standard deviations of what is drawn
  bool outside = false;    // of its band
};

struct CheckPart {
  CheckKind kind = CheckKind::calibration;
  std::string column = {};  // whose values make the groups
  std::string level = {};   // the class whose share is looked at
  std::vector<CheckedGroup> groups = {};
};

struct PredictiveCheck {
  std::vector<CheckPart> parts;
  double level = 0.95;     // the probability that all bands of a right model hold
  double p_value = 1.0;    // see Bands
  std::int64_t draws = 0;  // replicated tables
  bool passed() const;
};

// Tables of targets: row 0 is the table's own, each other one is drawn.
using Tables = RowMatrix;

// The place of each target among all those of its row, between 0 and 1 and uniform if the model is right: (rank + u) /
// (S + 1), where equal targets share their ranks at random. Of a row in `longer` the target is known to be larger than
// what stands there, and gets the place of any of the larger ones.
RowMatrix places(const Tables& tables, std::span<const char> longer, std::uint64_t seed, const Threads& threads);

// Collects parts, and gives all of them their bands.
class PredictiveChecker {
 public:
  explicit PredictiveChecker(const Tables& tables, const Threads& threads) : tables_(tables), threads_(threads) {}

  // Rows by what is predicted for each. `weights`: of the rows' targets in a mean, as numbers of trials; empty: equal.
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
  // At most `most` groups of about as many rows each; equal values are in one group.
  static std::vector<Rows> by_value(std::span<const double> values, Index most);
  // A part of such groups, in each of which the mean of value(table, row) is compared.
  template <class Value>
  void add(CheckPart part, const std::vector<Rows>& groups, std::span<const double> weights, const Value& value);
  // A part of groups into which targets fall: group(table, row) is an index, and shares of all rows are compared.
  template <class Group>
  void add_shares_of(CheckPart part, const Group& group);

  const Tables& tables_;
  const Threads& threads_;
  std::vector<CheckPart> parts_;
  std::vector<RowMatrix> numbers_;  // of each part: a row per table, a column per group
};

}  // namespace flymc
