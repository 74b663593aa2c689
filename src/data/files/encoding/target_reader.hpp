// Turns the target of a row of a table into numbers, by its encoding.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../table/table_file.hpp"
#include "flymc/data/cut_rows.hpp"
#include "flymc/data/files/encoding/target_encoding.hpp"
#include "flymc/data/store.hpp"

namespace flymc {

// The target is the last column of a batch, and its event, if it has one, the column before.
class TargetReader {
 public:
  // Keeps a reference. With `cut_code` the cut points of an ordered target are one cell with a code.
  TargetReader(const TargetEncoding& encoding, bool cut_code);
  // Prepares for the rows of a batch. Column j is the target.
  void prepare(const TableBatch& batch, std::size_t j);

  // Whether the fit has no such row.
  bool leaves_out(const TableBatch& batch, Index i) const;
  // The index of the class, or the number. Throws InputError if the encoding does not know the class.
  double value(const TableBatch& batch, Index i) const;
  // The share of successes among `trials`, if the target is a number of successes; else the value.
  double share(const TableBatch& batch, Index i, double value, double trials) const;
  // Puts the target, or the 1 of a shape, at the end of a row that has one. The fact of the row is then whether its
  // event was seen.
  void end_row(const TableBatch& batch, Index i, std::span<double> x, RowFacts& facts) const;
  // For an ordered target, calls visit(facts) for each cut point beside the class, while x has that cut point.
  template <class Visit>
  void visit_each_cut(std::span<double> x, const RowFacts& facts, const Visit& visit) const;

 private:
  static constexpr std::int64_t unknown = -1;

  const TargetEncoding& encoding_;
  bool cut_code_;
  std::size_t column_ = 0;  // of the target, in the batch at hand
  std::unordered_map<std::string_view, std::int64_t> class_of_text_;
  std::vector<std::int64_t> class_of_code_;  // for the batch at hand
  std::vector<std::pair<double, double>> class_of_value_;
};

template <class Visit>
void TargetReader::visit_each_cut(std::span<double> x, const RowFacts& facts, const Visit& visit) const {
  visit_cuts(static_cast<Index>(facts.target), encoding_.cuts() + 1, [&](Index cut, double target) {
    RowFacts of_cut = facts;
    of_cut.target = target;
    const auto cell = static_cast<std::size_t>(cut_code_ ? 0 : cut);
    x[cell] = cut_code_ ? static_cast<double>(cut + 1) : 1.0;
    visit(of_cut);
    x[cell] = 0.0;
  });
}

}  // namespace flymc
