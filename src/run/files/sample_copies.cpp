// Rows by their hashes; copies of rows by their numbers in the long table.
#include "sample_copies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common_rows.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/random.hpp"

namespace flymc {
namespace {

// Category k is kept as (cut point k - 1, above) and (cut point k, below), in this order (data/cut_rows.hpp). A row that
// says "below" is the second of two unless its cut point is the first.
bool is_first(const RunParts& parts, RowId row) {
  return parts.encoding.cuts() == 0 || parts.rows.store.target(row) > 0.5 || parts.rows.store.value(row, 0) != 0.0;
}

// Numbers of copies that are chosen, of `all`: rising, without replacement (Knuth's algorithm S for few, else draws of
// which repeated ones are left out).
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

SampledCopies sample_copies(const RunParts& parts, RowId count, std::uint64_t seed, const Threads& threads) {
  const Encoding& encoding = parts.encoding;
  const Store& store = parts.rows.store;
  if (encoding.weights().empty() || encoding.trials()) {
    // Of rows that are kept as two, more are chosen, and the second ones left out.
    const double kept_as = static_cast<double>(store.rows()) / static_cast<double>(encoding.rows());
    const StoreFile* const rows = &parts.rows;
    const CommonRows all({&rows, 1});
    const auto choice = all.choose(static_cast<RowId>(std::ceil(kept_as * static_cast<double>(count))), seed, threads);
    SampledCopies out{encoding.rows(), {}};
    for (const RowId row : all.own(0, choice.chosen))
      if (is_first(parts, row)) out.sampled.push_back(row);
    const std::size_t size = out.sampled.size(), most = static_cast<std::size_t>(count);
    for (std::size_t i = 0; i < most && size > most; ++i) out.sampled[i] = out.sampled[i * size / most];
    out.sampled.resize(std::min(size, most));
    return out;
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
  RowId before = 0;  // copies of the rows so far
  std::size_t next = 0;
  for (RowId row = 0; row < store.rows() && next < chosen.size(); ++row) {
    if (!is_first(parts, row)) continue;
    before += static_cast<RowId>(std::llround(store.facts(row).weight));
    for (; next < chosen.size() && chosen[next] < before; ++next) out.sampled.push_back(row);
  }
  return out;
}

}  // namespace flymc
