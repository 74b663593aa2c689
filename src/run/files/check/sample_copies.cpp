// Without weights, rows are chosen by their hashes. With weights, numbers of copies are chosen.
#include "sample_copies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "../compare/common_rows.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/random.hpp"

namespace flymc {
namespace {

// Chooses `count` of `all` numbers, increasing, without replacement: by Knuth's algorithm S if `all` is small, else by
// random draws without the repeated ones.
std::vector<RowId> chosen_of(RowId all, RowId count, std::uint64_t seed) {
  std::vector<RowId> out;
  const PhiloxRandom random(seed, 0, 0);
  if (all <= 8 * count) {
    for (RowId i = 0; i < all && static_cast<RowId>(out.size()) < count; ++i)
      if (const RowId needed = count - static_cast<RowId>(out.size());
          random.uniform(Purpose::subsample, static_cast<std::uint64_t>(i)) * static_cast<double>(all - i) <
          static_cast<double>(needed))
        out.push_back(i);
    return out;
  }
  for (RowId i = 0; i < count; ++i)
    out.push_back(static_cast<RowId>(
        random.choose(Purpose::subsample, static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(all))));
  std::ranges::sort(out);
  const auto repeated = std::ranges::unique(out);
  out.erase(repeated.begin(), repeated.end());
  return out;
}

}  // namespace

SampledCopies sample_copies(const RunParts& parts, const TableRows& table, RowId count, std::uint64_t seed,
                            const Threads& threads) {
  const Encoding& encoding = parts.encoding;
  if (encoding.weights().empty() || encoding.target().trials) {
    const TableRows* const only = &table;
    const CommonRows all({&only, 1});
    return {table.rows(), all.own(0, all.choose(count, seed, threads).chosen)};
  }
  if (!encoding.whole_weights())
    throw InputError(
        fmt::format("the weights in column '{}' are not whole numbers, so that a row is not so many rows, and nobody "
                    "can say how much targets should vary; a check needs a fit without weights, or with weights that "
                    "count rows",
                    encoding.weights()));
  const auto copies = static_cast<RowId>(std::llround(encoding.total_weight()));
  const std::vector<RowId> chosen = chosen_of(copies, count, seed);
  SampledCopies out{copies, {}};
  RowId before = 0;  // the number of copies of all earlier rows
  std::size_t next = 0;
  constexpr RowId at_once = RowId{1} << 16;
  for (RowId first = 0; first < table.rows() && next < chosen.size(); first += at_once) {
    std::vector<RowId> rows(static_cast<std::size_t>(std::min(at_once, table.rows() - first)));
    std::iota(rows.begin(), rows.end(), first);
    const std::vector<RowId> stored = table.stored(rows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      before += static_cast<RowId>(std::llround(parts.rows.store.facts(stored[i]).weight));
      for (; next < chosen.size() && chosen[next] < before; ++next) out.sampled.push_back(rows[i]);
    }
  }
  return out;
}

}  // namespace flymc
