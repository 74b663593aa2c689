// The distinct values of a target as they appear, and the classes they make.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "flymc/core/exact_sum.hpp"
#include "flymc/data/files/encoding/encoding.hpp"

namespace flymc {

class TargetSums {
 public:
  TargetSums(const EncodingOptions& options, ColumnKind column) : options_(&options), column_(column) {}
  // Adds the target of row i, which is in column j of the batch. Throws InputError if it cannot be a target.
  void add(const TableBatch& batch, std::size_t j, Index i, double weight);
  // Adds the values of later rows. Throws InputError if there are too many.
  void add(const TargetSums& other);
  // For sending to other ranks.
  nlohmann::json to_json();
  void from_json(const nlohmann::json& value);
  // Fills in names of classes and, for numbers, their values. Throws InputError if there are too few or too many.
  void classes(std::vector<std::string>& names, std::vector<double>& values) const;
  // For an ordered target with these classes: the weight of each, and the number of rows after comparing with cut
  // points.
  std::vector<double> weights(const std::vector<std::string>& names, const std::vector<double>& values) const;
  RowId cut_rows(const std::vector<std::string>& names, const std::vector<double>& values) const;
  // Fills in the distinct values of a target that is a number, and their weights.
  void distinct(std::vector<double>& values, std::vector<double>& weights) const;

 private:
  struct Seen {
    std::string first_row;  // the first row with this value
    // For an ordered target, or if distinct values are requested:
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
  // Whether a text is a way to write the number.
  bool is_written(double value, const std::string& text) const;

  const EncodingOptions* options_;
  ColumnKind column_;
  std::map<double, Seen> numbers_;
  std::map<std::string, Seen, std::less<>> texts_;
};

}  // namespace flymc
