// Stratified sampling without replacement, with addressed random numbers.
#include "flymc/anchor/subsample.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_set>
#include <utility>

#include "flymc/core/random.hpp"

namespace flymc {
namespace {

// The class of a target; 0 for all rows if the family has no classes. A target that is no class, as in a forged file of
// rows, gets class 0 here and is refused when the bound is made (BatchedFamily::check).
std::size_t stratum(Index classes, double target) {
  return target > 0.0 && target < static_cast<double>(classes) ? static_cast<std::size_t>(target) : 0;
}

// The number of rows of each class in the table, and in the blocks before each block of this rank.
struct ClassCounts {
  std::vector<RowId> all;
  std::vector<std::vector<RowId>> before;
};

ClassCounts count_classes(const Store& store, Index classes, const Execution& execution) {
  const auto strata = static_cast<std::size_t>(std::max<Index>(classes, 1));
  const Share own = own_share(store.blocks(), execution.communicator);
  ClassCounts out;
  out.before.assign(own.last - own.first, std::vector<RowId>(strata, 0));
  execution.threads.run(out.before.size(), [&](std::size_t b) {
    for (const double y : store.block(own.first + b).facts().target) ++out.before[b][stratum(classes, y)];
  });
  // Replaces counts per block by counts before each block.
  std::vector<RowId> here(strata, 0);
  for (std::vector<RowId>& block : out.before)
    for (std::size_t c = 0; c < strata; ++c) here[c] += std::exchange(block[c], here[c]);
  const std::vector<RowId> ranks = gather_all(execution.communicator, std::span<const RowId>(here));
  out.all.assign(strata, 0);
  const auto rank = static_cast<std::size_t>(execution.communicator.rank());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    out.all[i % strata] += ranks[i];
    if (i / strata < rank)
      for (std::vector<RowId>& block : out.before) block[i % strata] += ranks[i];
  }
  return out;
}

// Equal shares of `size`, assigned from the smallest class up, so that larger classes share the remainder.
std::vector<RowId> shares(const std::vector<RowId>& count, RowId size) {
  std::vector<std::size_t> order(count.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return count[a] < count[b]; });
  std::vector<RowId> share(count.size());
  auto classes_left = static_cast<RowId>(count.size());
  for (const std::size_t c : order) {
    share[c] = std::min(count[c], std::max<RowId>(1, size / classes_left--));
    size -= share[c];
  }
  return share;
}

// `share` distinct numbers below `count`, ascending. Floyd: for j = count - share ... count - 1 take a pick below
// j + 1, or j itself if the pick is taken. The address of each pick is first + j.
std::vector<RowId> distinct(RowId count, RowId share, const Random& random, RowId first) {
  std::vector<RowId> out;
  out.reserve(static_cast<std::size_t>(share));
  std::unordered_set<RowId> taken;
  for (RowId j = count - share; j < count; ++j) {
    const auto pick = static_cast<RowId>(
        random.choose(Purpose::subsample, static_cast<std::uint64_t>(first + j), static_cast<std::uint64_t>(j + 1)));
    out.push_back(taken.insert(pick).second ? pick : j);
    taken.insert(out.back());
  }
  std::sort(out.begin(), out.end());
  return out;
}

// Rows of the table, ascending, each with its class.
struct Chosen {
  std::vector<RowId> rows;
  std::vector<std::size_t> classes;
};

// Concatenates the results of this rank's blocks, and then those of all ranks.
template <class T>
std::vector<T> in_order(const std::vector<std::vector<T>>& blocks, const Communicator& communicator) {
  std::vector<T> own;
  for (const std::vector<T>& block : blocks) own.insert(own.end(), block.begin(), block.end());
  return gather_all(communicator, std::span<const T>(own));
}

Chosen draw_by_class(const Store& store, Index classes, const ClassCounts& counts, RowId size, std::uint64_t seed,
                     const Execution& execution) {
  const std::vector<RowId> share = shares(counts.all, size);
  const PhiloxRandom random(seed, 0, 0);
  std::vector<std::vector<RowId>> picks;  // of each class, as positions among its rows
  RowId first = 0;
  for (std::size_t c = 0; c < share.size(); ++c) {
    picks.push_back(distinct(counts.all[c], share[c], random, first));
    first += counts.all[c];
  }
  const Share own = own_share(store.blocks(), execution.communicator);
  std::vector<std::vector<RowId>> rows(counts.before.size());
  std::vector<std::vector<std::size_t>> classes_of(counts.before.size());
  execution.threads.run(rows.size(), [&](std::size_t b) {
    std::vector<RowId> seen = counts.before[b];  // the number of rows of each class so far,
    std::vector<std::size_t> taken;              // and the number of picked rows among them
    for (std::size_t c = 0; c < seen.size(); ++c)
      taken.push_back(static_cast<std::size_t>(std::ranges::lower_bound(picks[c], seen[c]) - picks[c].begin()));
    RowId row = store.block(own.first + b).first_row();
    for (const double y : store.block(own.first + b).facts().target) {
      const std::size_t c = stratum(classes, y);
      if (taken[c] < picks[c].size() && picks[c][taken[c]] == seen[c]) {
        rows[b].push_back(row);
        classes_of[b].push_back(c);
        ++taken[c];
      }
      ++seen[c];
      ++row;
    }
  });
  return {in_order(rows, execution.communicator), in_order(classes_of, execution.communicator)};
}

// The number of rows that each chosen row stands for, per class: the class's rows over its drawn rows.
std::vector<double> weight_per_class(const std::vector<RowId>& count, const Chosen& chosen) {
  std::vector<RowId> drawn(count.size());
  for (const std::size_t c : chosen.classes) ++drawn[c];
  std::vector<double> weight(count.size(), 1.0);
  for (std::size_t c = 0; c < count.size(); ++c)
    if (drawn[c] > 0) weight[c] = static_cast<double>(count[c]) / static_cast<double>(drawn[c]);
  return weight;
}

// Rows that would exceed their share of a column if they were drawn, with their classes.
Chosen rows_that_stand_out(const Store& store, Index classes, const std::vector<double>& weight_of,
                           const Chosen& chosen, const Store& drawn, const Execution& execution) {
  constexpr double share = 1.0 / 50.0;
  Vector squares = Vector::Zero(store.features());
  for (std::size_t b = 0; b < drawn.blocks(); ++b) {
    const Block& block = drawn.block(b);
    Vector weight(block.rows());
    for (Index i = 0; i < block.rows(); ++i)
      weight[i] = block.facts()[static_cast<std::size_t>(i)].weight *
                  weight_of[chosen.classes[static_cast<std::size_t>(block.first_row() + i)]];
    block.add_weighted_squares(weight, squares);
  }
  const Vector limit = share * squares;
  const Share own = own_share(store.blocks(), execution.communicator);
  std::vector<std::vector<RowId>> found(own.last - own.first);
  std::vector<std::vector<std::size_t>> classes_of(found.size());
  execution.threads.run(found.size(), [&](std::size_t b) {
    const Block& block = store.block(own.first + b);
    Vector weight(block.rows());
    for (Index i = 0; i < block.rows(); ++i) {
      const RowFacts facts = block.facts()[static_cast<std::size_t>(i)];
      weight[i] = facts.weight * weight_of[stratum(classes, facts.target)];
    }
    block.add_rows_beyond(weight, limit, found[b]);
    for (const RowId row : found[b]) classes_of[b].push_back(stratum(classes, store.target(row)));
  });
  return {in_order(found, execution.communicator), in_order(classes_of, execution.communicator)};
}

}  // namespace

RowId subsample_size(RowId rows, Index features) {
  const auto n = static_cast<double>(rows), f = static_cast<double>(features);
  return static_cast<RowId>(std::max({20000.0, 1000.0 * f, 8.0 * std::sqrt(f * n)}));
}

Subsample draw_subsample(const Store& store, const Model& model, const Execution& execution, RowId size,
                         std::uint64_t seed) {
  const Index classes = model.family().target_classes();
  const Communicator& communicator = execution.communicator;
  const RowRange own = own_rows(store, communicator);
  const auto select_own = [&](const std::vector<RowId>& rows) {
    const auto first = std::ranges::lower_bound(rows, own.first), last = std::ranges::lower_bound(rows, own.last);
    return select(store, {first, last}, communicator);
  };
  ClassCounts counts = count_classes(store, classes, execution);
  const Chosen chosen = draw_by_class(store, classes, counts, size, seed, execution);
  std::vector<double> weight_of = weight_per_class(counts.all, chosen);
  Store drawn = select_own(chosen.rows);
  const Chosen whole = rows_that_stand_out(store, classes, weight_of, chosen, drawn, execution);

  // Rows that are all included leave their classes: they are not drawn, and drawn rows do not stand for them.
  Chosen rest;
  for (std::size_t i = 0; i < chosen.rows.size(); ++i)
    if (!std::ranges::binary_search(whole.rows, chosen.rows[i])) {
      rest.rows.push_back(chosen.rows[i]);
      rest.classes.push_back(chosen.classes[i]);
    }
  for (const std::size_t c : whole.classes) --counts.all[c];
  weight_of = weight_per_class(counts.all, rest);

  Subsample out;
  std::size_t next = 0;  // index into `whole`
  const auto take_whole_before = [&](RowId row) {
    for (; next < whole.rows.size() && whole.rows[next] < row; ++next) {
      out.rows.push_back(whole.rows[next]);
      out.weights.push_back(1.0);
    }
  };
  for (std::size_t i = 0; i < rest.rows.size(); ++i) {
    take_whole_before(rest.rows[i]);
    out.rows.push_back(rest.rows[i]);
    out.weights.push_back(weight_of[rest.classes[i]]);
  }
  take_whole_before(store.rows());
  out.store = whole.rows.empty() ? std::move(drawn) : select_own(out.rows);
  return out;
}

}  // namespace flymc
