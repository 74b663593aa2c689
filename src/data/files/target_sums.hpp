// The distinct values of a target as they appear, and the classes they make.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "flymc/data/files/encoding.hpp"

namespace flymc {

class TargetSums {
 public:
  TargetSums(const EncodingOptions& options, ColumnKind column) : options_(&options), column_(column) {}
  // Takes the target of row i, which stands in column j of the batch. Throws InputError if it cannot be a target.
  void add(const TableBatch& batch, std::size_t j, Index i);
  // Those of another that come after these. Throws InputError if they are too many.
  void add(const TargetSums& other);
  // For other ranks.
  nlohmann::json to_json() const;
  void from_json(const nlohmann::json& value);
  // Fills in names of classes and, for numbers, their values. Throws InputError if they are too few or too many.
  void classes(std::vector<std::string>& names, std::vector<double>& values) const;

 private:
  std::string written(double value) const;
  void check_count() const;
  std::size_t count() const { return numbers_.size() + texts_.size(); }
  bool is_positive(double value) const;

  const EncodingOptions* options_;
  ColumnKind column_;
  // From a value to the first row that has it.
  std::map<double, std::string> numbers_;
  std::map<std::string, std::string, std::less<>> texts_;
};

}  // namespace flymc
