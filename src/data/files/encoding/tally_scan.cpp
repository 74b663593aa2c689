// One scan of a table: the moments and levels of its columns, the classes of its target.
#include "tally_scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cells.hpp"
#include "column_checks.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"
#include "terms.hpp"

namespace flymc {

Tally TallyScan::own_share(const Execution& execution, const std::function<void(RowId)>& read) const {
  Tally all = empty();
  std::vector<Tally> slots(Table::slots(execution.threads));
  table_.scan(
      names_, flymc::own_share(table_.pieces(), execution.communicator), 1 << 16, execution.threads,
      [&](std::size_t slot, const TableBatch& batch) {
        slots[slot] = empty();
        add_batch(batch, slots[slot]);
      },
      [&](std::size_t slot) {
        add(slots[slot], all);
        if (read) read(all.rows + all.dropped + all.zeros());
      });
  return all;
}

Tally TallyScan::all_shares(Tally own, const Communicator& communicator) const {
  if (communicator.size() == 1) return own;
  Tally all = empty();
  for (const std::vector<std::byte>& bytes : communicator.gather(to_bytes(own))) {
    Tally theirs = empty();
    from_bytes(bytes, theirs);
    add(theirs, all);
  }
  return all;
}

Tally TallyScan::empty() const {
  Tally out;
  out.numbers.resize(columns_.size());
  out.levels.resize(columns_.size());
  out.terms.resize(terms_.size() + combinations_.size());
  out.missing_counts.assign(names_.size(), 0);
  out.target.emplace(options_.target, table_.find(options_.target.name)->kind);
  return out;
}

void TallyScan::add(const Tally& next, Tally& all) const {
  for (std::size_t j = 0; j < all.numbers.size(); ++j) {
    all.numbers[j] += next.numbers[j];
    all.levels[j] += next.levels[j];
    check_levels(j, all.levels[j]);
  }
  for (std::size_t t = 0; t < all.terms.size(); ++t) {
    all.terms[t] += next.terms[t];
    if (t < terms_.size()) check_combinations(terms_[t], all.terms[t]);
    check_group_count(t < terms_.size() ? terms_[t].name : combinations_[t - terms_.size()].name, all.terms[t].levels);
  }
  for (std::size_t j = 0; j < names_.size(); ++j) all.missing_counts[j] += next.missing_counts[j];
  if (!all.first_missing) {
    all.first_missing = next.first_missing;
    all.fact_missing_first = next.fact_missing_first;
  }
  all.target->add(*next.target);
  all.weight += next.weight;
  all.whole_weights = all.whole_weights && next.whole_weights;
  all.exposure += next.exposure;
  all.rows += next.rows;
  all.dropped += next.dropped;
}

void TallyScan::check_levels(std::size_t j, const LevelSums& sums) const {
  if (columns_[j].only_groups)
    check_group_count(names_[j], sums);
  else
    check_level_count(table_, options_, names_[j], sums);
}

void TallyScan::add_batch(const TableBatch& batch, Tally& tally) const {
  const MissingRows missing(batch, names_.size());
  tally.missing_counts = missing.counts();
  std::vector<Index> kept;
  kept.reserve(static_cast<std::size_t>(batch.rows()));
  for (Index i = 0; i < batch.rows(); ++i) {
    if (!missing[i]) {
      kept.push_back(i);
      continue;
    }
    ++tally.dropped;
    if (tally.first_missing) continue;
    tally.first_missing = cell_of(batch, i, names_[missing.column(i)]);
    tally.fact_missing_first = missing.column(i) >= columns_.size();
  }
  // After a missing value that is an error, only missing values are counted.
  if (options_.missing == Missing::error && tally.first_missing) return;
  std::vector<Index> counted = kept;
  const std::size_t target = names_.size() - 1;
  std::erase_if(counted, [&](Index i) { return tally.target->leaves_out(batch, target, i); });
  const std::span<const double> weights = add_facts(batch, counted, tally);
  for (std::size_t j = 0; j < columns_.size(); ++j)
    if (columns_[j].kind == ColumnKind::text)
      add_levels(batch, j, kept, tally.levels[j]);
    else
      add_numbers(batch, j, missing.whole(j), kept, weights, tally.numbers[j]);
  for (std::size_t t = 0; t < terms_.size(); ++t)
    if (!is_column(terms_[t])) {
      add_rows(batch, terms_[t], names_, kept, weights, tally.terms[t]);
      check_combinations(terms_[t], tally.terms[t]);
    }
  for (std::size_t f = 0; f < combinations_.size(); ++f)
    if (!is_column(combinations_[f]))
      add_rows(batch, combinations_[f], names_, kept, weights, tally.terms[terms_.size() + f]);
  const bool less_offset = !options_.offset.empty() && !options_.log_link;
  tally.target->add(batch, target, counted, weights,
                    less_offset ? batch.numbers(columns_.size()) : std::span<const double>());
  tally.target->leave_out(static_cast<RowId>(kept.size() - counted.size()));
  tally.rows += static_cast<RowId>(counted.size());
}

std::span<const double> TallyScan::add_facts(const TableBatch& batch, std::span<const Index> kept, Tally& tally) const {
  const std::size_t offset = columns_.size(), weight_at = offset + (options_.offset.empty() ? 0 : 1);
  std::span<const double> weights;
  if (!options_.weights.empty()) {
    weights = batch.numbers(weight_at);
    for (const Index i : kept) {
      const double weight = weights[static_cast<std::size_t>(i)];
      check_weight(batch, i, names_[weight_at], weight);
      tally.weight.add(weight);
      tally.whole_weights = tally.whole_weights && weight == std::floor(weight);
    }
  }
  if (options_.offset.empty()) return weights;
  constexpr double largest_logarithm = 700.0;  // exp(700) and exp(-700) are normal doubles
  for (const Index row : kept) {
    const auto i = static_cast<std::size_t>(row);
    const double value = offset_of(batch, row, names_[offset], batch.numbers(offset)[i], options_.exposure);
    if (!options_.log_link) continue;
    if (value > largest_logarithm)
      throw cell_error(
          cell_of(batch, row, names_[offset]),
          fmt::format("an offset of {} is an exposure of exp({}), beyond double precision; name a column of "
                      "exposures by {}, or take logarithms",
                      value, value, mention("exposure")));
    if (value < -largest_logarithm)
      throw cell_error(
          cell_of(batch, row, names_[offset]),
          options_.exposure
              ? fmt::format("an exposure of {} is too near to 0 for double precision; give exposures in another unit",
                            batch.numbers(offset)[i])
              : fmt::format("an offset of {} is an exposure of exp({}), too near to 0 for double precision; add a "
                            "constant to all offsets, which the intercept takes up",
                            value, value));
    tally.exposure.add(std::exp(value) * (weights.empty() ? 1.0 : weights[i]));
  }
  return weights;
}

void TallyScan::add_numbers(const TableBatch& batch, std::size_t j, bool usable, std::span<const Index> kept,
                            std::span<const double> weights, NumberSums& sums) const {
  std::span<const double> values = batch.numbers(j);
  const auto row = [&](std::size_t i) { return static_cast<std::size_t>(kept[i]); };
  std::vector<double> of_kept;
  if (kept.size() < values.size()) {
    for (std::size_t i = 0; i < kept.size(); ++i) of_kept.push_back(values[row(i)]);
    values = of_kept;
  }
  if (!usable && !all_usable(values))
    for (std::size_t i = 0; i < values.size(); ++i) check_number(batch, kept[i], names_[j], values[i]);
  if (weights.empty()) {
    sums.count.add(static_cast<double>(values.size()));
    sums.add_uncounted([&](std::size_t i) { return batch.key(kept[i]); }, values);
  } else {
    for (std::size_t i = 0; i < values.size(); ++i)  // a row of weight 0 does not count
      if (weights[row(i)] > 0.0) sums.add(batch.key(kept[i]), values[i], weights[row(i)]);
  }
}

void TallyScan::add_levels(const TableBatch& batch, std::size_t j, std::span<const Index> kept, LevelSums& sums) const {
  constexpr std::size_t not_met = static_cast<std::size_t>(-1);
  std::vector<std::size_t> level_of_code(batch.texts(j).size(), not_met);
  for (const Index i : kept) {
    const auto code = static_cast<std::size_t>(batch.codes(j)[static_cast<std::size_t>(i)]);
    if (level_of_code[code] == not_met) {
      level_of_code[code] = sums.level(batch.texts(j)[code]);
      if (sums.first_cells.size() < sums.hashes.size()) {
        check_level(batch, i, names_[j], batch.texts(j)[code]);
        sums.first_cells.push_back(columns_[j].only_groups ? "" : cell_name(cell_of(batch, i, names_[j])));
      }
      check_levels(j, sums);
    }
    sums.hashes[level_of_code[code]].add(batch.key(i), 1.0);
    ++sums.rows[level_of_code[code]];
  }
}

}  // namespace flymc
