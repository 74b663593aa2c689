// Learns a target from one scan: its distinct values and the classes they make, the moments of a number, its events.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "column_sums.hpp"
#include "flymc/core/exact_sum.hpp"
#include "flymc/data/files/encoding/target_encoding.hpp"

namespace flymc {

class TargetSums {
 public:
  TargetSums(const TargetOptions& options, ColumnKind column) : options_(&options), column_(column) {}

  // The target is the last column of a batch, j, and its event, if it has one, the column before.
  // Whether the fit leaves row i out. Throws InputError if it should be a count and is none.
  bool leaves_out(const TableBatch& batch, std::size_t j, Index i) const;
  // Counts rows that are left out.
  void leave_out(RowId rows) { zeros_ += rows; }
  RowId left_out() const { return zeros_; }
  // Adds rows. Weights and offsets are those of all rows of the batch; without them, 1 and 0. Throws InputError if a
  // value cannot be a target.
  void add(const TableBatch& batch, std::size_t j, std::span<const Index> rows, std::span<const double> weights,
           std::span<const double> offsets);
  // Adds the sums of later rows. Throws InputError if there are too many values.
  void add(const TargetSums& other);
  // For sending to other ranks.
  nlohmann::json to_json();
  void from_json(const nlohmann::json& value);
  // Throws InputError if there are too few classes or too many, or a target that is a feature has no deviation.
  // `has_offset` is for that message.
  TargetEncoding learnt(bool has_intercept, bool has_offset) const;
  // For an ordered target with such classes: the number of rows after comparing with cut points.
  RowId cut_rows(const TargetEncoding& of) const;

 private:
  struct Seen {
    std::string first_row;  // the first row with this value
    // For an ordered target, or if distinct values are requested:
    RowId rows = 0;
    ExactSum weight = {};
    Seen& operator+=(const Seen& later);
  };
  // Adds one value to the distinct ones.
  void add_value(const TableBatch& batch, std::size_t j, Index i, double weight);
  // Fills in names of classes and, for numbers, their values.
  void classes(std::vector<std::string>& names, std::vector<double>& values) const;
  const Seen* find(const TargetEncoding& of, std::size_t k) const;
  void put_in_order(std::vector<std::string>& names, std::vector<double>& values) const;
  std::string written(double value) const;
  void check_count() const;
  bool counted() const { return options_->kind == TargetKind::ordered || options_->distinct; }
  std::size_t count() const { return numbers_.size() + texts_.size(); }
  // Whether a text is a way to write the number.
  bool is_written(double value, const std::string& text) const;

  const TargetOptions* options_;
  ColumnKind column_;
  std::map<double, Seen> numbers_;
  std::map<std::string, Seen, std::less<>> texts_;
  NumberSums moments_;  // of a number, less its offset
  ExactSum seen_;       // total weight of the rows whose event was seen, if a column says so
  RowId zeros_ = 0;     // rows that are left out
};

}  // namespace flymc
