// The scan of a table that computes its tally: batches in parallel, added up in order.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "flymc/data/files/encoding/encoding.hpp"
#include "tally.hpp"

namespace flymc {

class TallyScan {
 public:
  // Keeps references to its arguments. `names` are those of the columns that are scanned (chosen_columns.hpp), and
  // `combinations` are the factors of groups as terms.
  TallyScan(const Table& table, const EncodingOptions& options, const std::vector<EncodedColumn>& columns,
            const std::vector<EncodedTerm>& terms, const std::vector<std::string>& names,
            const std::vector<EncodedTerm>& combinations)
      : table_(table),
        options_(options),
        columns_(columns),
        terms_(terms),
        names_(names),
        combinations_(combinations) {}

  // The tally of this rank's share of the table. `read` gets the number of rows so far.
  Tally own_share(const Execution& execution, const std::function<void(RowId)>& read) const;
  // The tally of all ranks; each passes its own.
  Tally all_shares(Tally own, const Communicator& communicator) const;

 private:
  Tally empty() const;
  void add_batch(const TableBatch& batch, Tally& tally) const;
  // Adds offsets and weights, and returns the weights.
  std::span<const double> add_facts(const TableBatch& batch, std::span<const Index> kept, Tally& tally) const;
  // Those of column j; numbers that are known to be usable are not checked.
  void add_numbers(const TableBatch& batch, std::size_t j, bool usable, std::span<const Index> kept,
                   std::span<const double> weights, NumberSums& sums) const;
  void add_levels(const TableBatch& batch, std::size_t j, std::span<const Index> kept, LevelSums& sums) const;
  // Throws InputError if a column has too many levels. Groups may be many.
  void check_levels(std::size_t j, const LevelSums& sums) const;
  // Adds the tally of rows that come after all that were added before.
  void add(const Tally& next, Tally& all) const;

  const Table& table_;
  const EncodingOptions& options_;
  const std::vector<EncodedColumn>& columns_;
  const std::vector<EncodedTerm>& terms_;
  const std::vector<std::string>& names_;
  const std::vector<EncodedTerm>& combinations_;
};

}  // namespace flymc
