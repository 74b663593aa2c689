// Turns batches of a table into rows of cells, by an encoding.
#pragma once

#include <map>
#include <memory>
#include <unordered_map>

#include "../table/table_file.hpp"
#include "cells.hpp"
#include "flymc/data/files/encoding/encoding.hpp"
#include "target_reader.hpp"
#include "terms.hpp"

namespace flymc {

// Turns batches into rows. The columns of a scan are those of the encoding, then the offset if there is one, and the
// weights, the event and the target if they are wanted.
class RowEncoder {
 public:
  RowEncoder(const Encoding& encoding, const Table& table, bool with_target, NewGroups new_groups = NewGroups::error);
  // Calls visit(EncodedRow) per row, which has no cells if a value is missing and that is allowed.
  template <class Visit>
  void run(const TableBatch& batch, Missing missing, const Visit& visit);
  const std::vector<std::string>& names() const { return names_; }

 private:
  static constexpr std::int64_t unknown = -1;
  using Lookup = std::unordered_map<std::string_view, std::int64_t>;

  void check_kind(const Table& table, const std::string& name, ColumnKind learnt) const;
  void refuse_text(const Table& table, const std::string& name) const;
  void prepare(const TableBatch& batch, const MissingRows& missing_rows);
  // Levels of the row's columns; numbers are checked, if the batch has any that need it.
  void read_levels(const TableBatch& batch, Index i);
  RowFacts facts_of(const TableBatch& batch, Index i) const;
  // The row's group in each factor, from its levels.
  void read_groups(const TableBatch& batch, Index i);
  // A hash of the texts that name the row's group.
  std::uint64_t group_key(const TableBatch& batch, const EncodedFactor& factor, Index i);
  [[noreturn]] void refuse_level(const TableBatch& batch, std::size_t column, Index i) const;

  const Encoding& encoding_;
  bool with_target_;
  NewGroups new_groups_;
  std::vector<std::string> names_;
  // The place of a term's features in a row of cells, and the feature of each combination of levels.
  struct Place {
    const EncodedTerm* term = nullptr;
    std::size_t feature = 0;  // the first one
    std::size_t cell = 0;     // the first cell, or the code
    bool code = false;
    bool number = false;  // whether the term has numbers
    // For a column of numbers by itself, the usual case: its position in the table, and its shift and scale.
    bool plain = false;
    std::size_t column = 0;
    double shift = 0.0, scale = 1.0;
    std::vector<std::size_t> columns = {};
    std::vector<bool> has_reference = {};
    // The feature, counted from 1, of each level (for one column) or combination of levels; 0 if there is none.
    std::vector<std::int64_t> of_level = {};
    std::map<std::vector<std::uint32_t>, std::int64_t> of_levels = {};
  };
  // Sets the places of the terms, in order.
  void set_places();
  // The feature of a term in a row, counted from 1; 0 if there is none. Uses the row's `levels_`.
  std::int64_t feature_of(const TableBatch& batch, Index i, const Place& place);
  // `why` says why the row cannot be used, and what to do.
  [[noreturn]] void refuse_combination(const TableBatch& batch, Index i, std::span<const std::size_t> columns,
                                       const std::string& why) const;
  // The cells of rows first, first + 1, ..., which `x` has next to each other: columns of numbers, a column at a time.
  // Rows that lack something have any numbers there.
  void encode_columns(const TableBatch& batch, Index first, std::span<double> x) const;
  // The other cells of row i.
  void encode_terms(const TableBatch& batch, Index i, std::span<double> x);

  std::vector<Place> places_;
  std::vector<double> empty_;           // a row of which no more is known than that it has an intercept
  std::vector<std::size_t> to_read_;    // columns of the batch at hand that are looked at before terms are made
  std::vector<std::uint32_t> levels_;   // of the row at hand, by column
  std::vector<std::uint32_t> at_hand_;  // of a term
  std::vector<Group> groups_;           // of the row at hand, by factor
  std::vector<std::uint64_t> keys_;     // of those that are new
  std::shared_ptr<const std::vector<Lookup>> slots_;  // per text column: from level to its number
  // For each factor of several columns, from a combination's key to its number.
  std::shared_ptr<const std::vector<std::unordered_map<std::uint64_t, Group>>> combinations_;
  std::vector<std::vector<std::int64_t>> slot_of_code_;
  TargetReader target_;
};

template <class Visit>
void RowEncoder::run(const TableBatch& batch, Missing missing, const Visit& visit) {
  const MissingRows missing_rows(batch, names_.size());
  prepare(batch, missing_rows);
  constexpr Index together = 16;  // rows: so many numbers of a column are in two lines of a cache
  std::vector<double> cells;
  for (Index i = 0; i < batch.rows(); ++i) {
    if (i % together == 0) {
      cells.clear();
      for (Index row = i; row < std::min(i + together, batch.rows()); ++row)
        cells.insert(cells.end(), empty_.begin(), empty_.end());
      encode_columns(batch, i, cells);
    }
    const RowOrigin origin{batch.file(), batch.row(i)};
    if (missing_rows[i]) {
      if (missing == Missing::error) missing_rows.refuse(i, names_);
      visit(EncodedRow{{}, RowFacts(0.0), origin});
      continue;
    }
    if (with_target_ && target_.leaves_out(batch, i)) continue;
    const std::span x(cells.data() + static_cast<std::size_t>(i % together) * empty_.size(), empty_.size());
    read_levels(batch, i);
    encode_terms(batch, i, x);
    read_groups(batch, i);
    RowFacts facts = facts_of(batch, i);
    // The target of a new row is not known, so its last number is 0: the predictor is then that of its columns alone.
    if (with_target_) target_.end_row(batch, i, x, facts);
    if (with_target_ && encoding_.target_.cuts() > 0)
      target_.visit_each_cut(x, facts, [&](const RowFacts& of_cut) { visit(EncodedRow{x, of_cut, origin, groups_}); });
    else
      visit(EncodedRow{x, facts, origin, groups_, keys_});
  }
}

}  // namespace flymc
