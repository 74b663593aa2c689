// Finds the stretches of rows that two lists share, and the rows with the smallest hashes.
#include "common_rows.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "flymc/core/error.hpp"

namespace flymc {
namespace {

constexpr RowId rows_per_task = RowId{1} << 16;

// The end of one of a file's runs of consecutive rows.
RowId run_end(const Origins& origins, std::size_t run, RowId rows) {
  return run + 1 < origins.runs().size() ? origins.runs()[run + 1].first : rows;
}

void check(const StoreFile& store) {
  const auto& runs = store.origins.runs();
  if (runs.empty() || runs.front().first != 0)
    throw InputError(
        "a run was made by an earlier flymc, which did not keep where rows came from, so that its rows cannot be found "
        "in another; fit its table again");
  for (std::size_t r = 1; r < runs.size(); ++r) {
    const RowId next = runs[r - 1].row + (runs[r].first - runs[r - 1].first);
    if (std::pair(runs[r].file, runs[r].row) < std::pair(runs[r - 1].file, next))
      throw InputError(store.row_name(runs[r].first) +
                       ": a run has this row twice, so that it cannot be known by its place in the table; name each "
                       "file once");
  }
}

}  // namespace

CommonRows::CommonRows(std::span<const TableRows* const> runs)
    : counted_(*runs.front()), own_(1), rows_(counted_.rows()) {
  if (runs.size() > 1)
    for (const TableRows* run : runs) check(run->file());
  for (const Origins::Run& run : counted_.file().origins.runs()) {
    stretches_.push_back({run.first, run.file, run.row});
    own_[0].push_back(run.first);
  }
  if (stretches_.empty()) {
    stretches_.push_back({0, 0, 1});
    own_[0].push_back(0);
  }
  for (const TableRows* run : runs.subspan(1)) intersect(run->file().origins, run->rows());
}

// Both lists are sorted by (file, row); advances the list whose current stretch ends first.
void CommonRows::intersect(const Origins& other, RowId other_rows) {
  std::vector<Stretch> stretches;
  std::vector<std::vector<RowId>> own(own_.size() + 1);
  RowId rows = 0;
  for (std::size_t s = 0, r = 0; s < stretches_.size() && r < other.runs().size();) {
    const Stretch& mine = stretches_[s];
    const Origins::Run& run = other.runs()[r];
    const RowId mine_end = mine.row + (end(s) - mine.first),
                run_last = run.row + (run_end(other, r, other_rows) - run.first);
    if (mine.file == run.file) {
      const RowId from = std::max(mine.row, run.row), to = std::min(mine_end, run_last);
      if (from < to) {
        stretches.push_back({rows, mine.file, from});
        for (std::size_t of = 0; of < own_.size(); ++of) own[of].push_back(own_[of][s] + (from - mine.row));
        own.back().push_back(run.first + (from - run.row));
        rows += to - from;
      }
    }
    if (std::pair(mine.file, mine_end) <= std::pair(run.file, run_last))
      ++s;
    else
      ++r;
  }
  stretches_ = std::move(stretches);
  own_ = std::move(own);
  rows_ = rows;
}

std::size_t CommonRows::at(RowId row) const {
  const auto next = std::ranges::upper_bound(stretches_, row, {}, &Stretch::first);
  return static_cast<std::size_t>(next - stretches_.begin()) - 1;
}

template <class Visit>
void CommonRows::walk(RowId first, RowId last, Visit&& visit) const {
  for (std::size_t s = first < last ? at(first) : 0; first < last; ++s) {
    const RowId to = std::min(last, end(s));
    visit(s, first, to);
    first = to;
  }
}

std::vector<RowId> CommonRows::own(std::size_t run, RowId first, RowId last) const {
  std::vector<RowId> out;
  out.reserve(static_cast<std::size_t>(last - first));
  walk(first, last, [&](std::size_t s, RowId from, RowId to) {
    for (RowId row = from; row < to; ++row) out.push_back(own_[run][s] + (row - stretches_[s].first));
  });
  return out;
}

std::vector<RowId> CommonRows::own(std::size_t run, std::span<const RowId> rows) const {
  std::vector<RowId> out;
  for (const RowId row : rows) {
    const std::size_t s = at(row);
    out.push_back(own_[run][s] + (row - stretches_[s].first));
  }
  return out;
}

// Hashes are uniform, so the `count` smallest of N lie below about count / N of the largest possible hash. Only hashes
// below a limit of this size are kept. In the rare case that they are too few, the limit is raised.
CommonRows::Choice CommonRows::choose(RowId count, std::uint64_t seed, const Threads& threads) const {
  using Hashed = std::pair<std::uint64_t, RowId>;
  struct Part {
    std::vector<Hashed> low;
    RowId rows = 0;
  };
  const Store& store = counted_.file().store;
  const bool weighted = store.fact_kinds().weight;
  const auto tasks = static_cast<std::size_t>((rows_ + rows_per_task - 1) / rows_per_task);
  const auto wanted = static_cast<double>(count);
  for (double share = (wanted + 8.0 * std::sqrt(wanted) + 32.0) / static_cast<double>(rows_);; share *= 4.0) {
    const std::uint64_t limit =
        share < 1.0 ? static_cast<std::uint64_t>(std::ldexp(share, 64)) : std::numeric_limits<std::uint64_t>::max();
    std::vector<Part> parts(tasks);
    threads.run(tasks, [&](std::size_t task) {
      const RowId begin = static_cast<RowId>(task) * rows_per_task, end = std::min(begin + rows_per_task, rows_);
      const std::vector<RowId> stored = weighted ? counted_.stored(own(0, begin, end)) : std::vector<RowId>();
      Part part;
      walk(begin, end, [&](std::size_t s, RowId from, RowId to) {
        const Stretch& stretch = stretches_[s];
        for (RowId row = from; row < to; ++row) {
          const RowId in_stretch = row - stretch.first;
          if (weighted && store.facts(stored[static_cast<std::size_t>(row - begin)]).weight == 0.0) continue;
          ++part.rows;
          const std::uint64_t key[2] = {static_cast<std::uint64_t>(stretch.file),
                                        static_cast<std::uint64_t>(stretch.row + in_stretch)};
          if (const std::uint64_t hash = XXH3_64bits_withSeed(key, sizeof key, seed); hash <= limit)
            part.low.emplace_back(hash, row);
        }
      });
      parts[task] = std::move(part);
    });
    Choice out;
    std::vector<Hashed> low;
    for (const Part& part : parts) {
      out.rows += part.rows;
      low.insert(low.end(), part.low.begin(), part.low.end());
    }
    const auto take = static_cast<std::size_t>(std::min(count, out.rows));
    if (low.size() < take) continue;
    std::ranges::nth_element(low, low.begin() + static_cast<std::ptrdiff_t>(take));
    low.resize(take);
    for (const auto& [hash, row] : low) out.chosen.push_back(row);
    std::ranges::sort(out.chosen);
    return out;
  }
}

}  // namespace flymc
