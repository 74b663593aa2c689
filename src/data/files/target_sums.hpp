// The distinct values of a target as they appear, and the classes they make.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "flymc/core/exact_sum.hpp"
#include "flymc/data/files/encoding.hpp"

namespace flymc {

class TargetSums {
 public:
  TargetSums(const EncodingOptions& options, ColumnKind column) : options_(&options), column_(column) {}
  // Takes the target of row i, which stands in column j of the batch. Throws InputError if it cannot be a target.
  void add(const TableBatch& batch, std::size_t j, Index i, double weight);
  // Those of another that come after these. Throws InputError if they are too many.
  void add(const TargetSums& other);
  // For other ranks.
  nlohmann::json to_json();
  void from_json(const nlohmann::json& value);
  // Fills in names of classes and, for numbers, their values. Throws InputError if they are too few or too many.
  void classes(std::vector<std::string>& names, std::vector<double>& values) const;
  // Of an ordered target, with classes as above: the weight of each, and how many rows compare them with cut points.
  std::vector<double> weights(const std::vector<std::string>& names, const std::vector<double>& values) const;
  RowId cut_rows(const std::vector<std::string>& names, const std::vector<double>& values) const;
  // Of a target that is a number: those that it takes, and their weights, where that was asked for.
  void distinct(std::vector<double>& values, std::vector<double>& weights) const;

 private:
  struct Seen {
    std::string first_row;  // that has the value
    // Of an ordered target, or where distinct ones are asked for:
    RowId rows = 0;
    ExactSum weight = {};
    Seen& operator+=(const Seen& later);
  };
  const Seen* find(const std::string& name, const double* value) const;
  void put_in_order(std::vector<std::string>& names, std::vector<double>& values) const;
  std::string written(double value) const;
  void check_count() const;
  bool counted() const { return options_->target_kind == TargetKind::ordered || options_->distinct_targets; }
  std::size_t count() const { return numbers_.size() + texts_.size(); }
  // Whether a text stands for the number.
  bool is_written(double value, const std::string& text) const;

  const EncodingOptions* options_;
  ColumnKind column_;
  std::map<double, Seen> numbers_;
  std::map<std::string, Seen, std::less<>> texts_;
};

}  // namespace flymc
