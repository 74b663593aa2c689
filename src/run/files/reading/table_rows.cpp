// Maps rows of the table to rows of the store, with a count for every 256 rows.
#include "table_rows.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace flymc {
namespace {

constexpr RowId stride = 256, strides_per_task = 256;

}  // namespace

TableRows::TableRows(const StoreFile& file, Index cuts, const Threads& threads)
    : file_(file), cuts_(cuts), rows_(file.store.rows()) {
  if (cuts_ == 0) return;
  const RowId all = file.store.rows(), strides = (all + stride - 1) / stride;
  std::vector<RowId> begin(static_cast<std::size_t>(strides));  // number of rows of the table that begin in each stride
  threads.run(static_cast<std::size_t>((strides + strides_per_task - 1) / strides_per_task), [&](std::size_t task) {
    const RowId first = static_cast<RowId>(task) * strides_per_task, last = std::min(first + strides_per_task, strides);
    for (RowId s = first; s < last; ++s)
      for (RowId row = s * stride; row < std::min((s + 1) * stride, all); ++row)
        begin[static_cast<std::size_t>(s)] += begins(row) ? 1 : 0;
  });
  begun_.resize(begin.size());
  std::exclusive_scan(begin.begin(), begin.end(), begun_.begin(), RowId{0});
  rows_ = begun_.empty() ? 0 : begun_.back() + begin.back();
}

// Category k is stored as (cut point k - 1, above) and (cut point k, below), in this order. So a "below" row is the
// second of two unless its cut point is the first. An "above" row is followed by a second row unless its cut point is
// the last.
bool TableRows::begins(RowId stored) const {
  return file_.store.target(stored) > 0.5 || file_.store.value(stored, 0) != 0.0;
}

bool TableRows::goes_on(RowId first) const {
  return file_.store.target(first) > 0.5 && file_.store.value(first, cuts_ - 1) == 0.0;
}

std::vector<RowId> TableRows::stored(std::span<const RowId> rows) const {
  std::vector<RowId> out(rows.begin(), rows.end());
  if (cuts_ == 0) return out;
  RowId row = 0, at = 0;  // row `row` of the table begins at row `at` of the store
  for (RowId& wanted : out) {
    if (wanted < row || wanted - row > stride) {
      const auto after = std::ranges::upper_bound(begun_, wanted);
      const auto s = static_cast<std::size_t>(after - begun_.begin()) - 1;
      row = begun_[s];
      at = static_cast<RowId>(s) * stride;
      if (!begins(at)) ++at;
    }
    for (; row < wanted; ++row) at = next(at);
    wanted = at;
  }
  return out;
}

RowId TableRows::of(RowId stored) const {
  if (cuts_ == 0) return stored;
  RowId begun = begun_[static_cast<std::size_t>(stored / stride)];
  for (RowId row = stored / stride * stride; row <= stored; ++row) begun += begins(row) ? 1 : 0;
  return begun - 1;
}

RowFacts TableRows::facts(RowId first) const {
  RowFacts out = file_.store.facts(first);
  if (cuts_ == 0) return out;
  Index cut = 0;
  while (cut + 1 < cuts_ && file_.store.value(first, cut) == 0.0) ++cut;
  out.target = static_cast<double>(cut) + (out.target > 0.5 ? 1.0 : 0.0);
  return out;
}

TableRows::Pieces TableRows::pieces(std::span<const RowId> rows) const {
  Pieces out;
  for (const RowId first : stored(rows)) {
    out.first.push_back(out.stored.size());
    out.stored.push_back(first);
    if (cuts_ > 0 && goes_on(first)) out.stored.push_back(first + 1);
  }
  out.first.push_back(out.stored.size());
  return out;
}

BetweenCuts::BetweenCuts(const Vector& parameters, Index category) {
  const double distance = parameters[category] - parameters[category - 1];
  value = std::log(-std::expm1(-distance));
  slope = 1.0 / std::expm1(distance);
  curvature = slope / -std::expm1(-distance);  // exp(g) / (exp(g) - 1)^2
}

}  // namespace flymc
