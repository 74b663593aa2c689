// Poisson thinning with an alias table.
#include "flymc/kernel/proposals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "flymc/core/error.hpp"

namespace flymc {

Proposals::Proposals(const ExpectedGaps& gaps, double s, const Communicator& communicator) : gaps_(&gaps) {
  constexpr double most = 0.9;
  if (!gaps.known()) throw InputError("a sweep by rows needs a bound that touches at the anchor, and a metric");
  if (!(s > 0.0) || !std::isfinite(s)) throw InputError(fmt::format("a sweep by rows needs s > 0, not {}", s));
  for (std::size_t level = 0; level < 256; ++level) {
    const double q = std::min(most, s * ExpectedGaps::value(static_cast<std::uint8_t>(level)));
    lambda_[level] = -std::log1p(-q);
  }
  // Sums for the rank's own groups, which are complete except for the table's last, and then for all groups.
  std::vector<double> own(static_cast<std::size_t>((gaps.rows() + group_rows - 1) / group_rows), 0.0);
  for (RowId i = 0; i < gaps.rows(); ++i)
    own[static_cast<std::size_t>(i / group_rows)] += lambda_[gaps.level(gaps.first() + i)];
  group_lambda_ = gather_all(communicator, std::span<const double>(own));
  const RowId own_rows = gaps.rows();
  for (const RowId rows : gather_all(communicator, std::span<const RowId>(&own_rows, 1))) rows_ += rows;
  const std::size_t groups = group_lambda_.size();
  for (const double lambda : group_lambda_) rate_ += lambda;
  if (!(rate_ > 0.0)) return;  // no row has a z

  // Vose's alias method: every cell holds 1 / groups of the probability, from one group or from two.
  keep_.resize(groups);
  alias_.resize(groups);
  std::vector<std::uint32_t> small, large;
  for (std::size_t g = 0; g < groups; ++g) {
    keep_[g] = group_lambda_[g] / rate_ * static_cast<double>(groups);
    alias_[g] = static_cast<std::uint32_t>(g);
    (keep_[g] < 1.0 ? small : large).push_back(static_cast<std::uint32_t>(g));
  }
  while (!small.empty() && !large.empty()) {
    const std::uint32_t less = small.back(), more = large.back();
    small.pop_back();
    alias_[less] = more;
    keep_[more] -= 1.0 - keep_[less];
    if (keep_[more] < 1.0) {
      large.pop_back();
      small.push_back(more);
    }
  }
  for (const auto& rest : {small, large})
    for (const std::uint32_t g : rest) keep_[g] = 1.0;  // not exactly 1 due to rounding
}

// Maps two uniforms to a group: one chooses the cell of the alias table, the other one of its two groups.
std::size_t Proposals::group_at(double cell, double threshold) const {
  const auto g = static_cast<std::size_t>(cell * static_cast<double>(keep_.size()));
  return threshold >= keep_[g] ? alias_[g] : g;
}

// Maps a third uniform to a row of the group.
RowId Proposals::row_in(std::size_t group, double within) const {
  const RowId first = static_cast<RowId>(group) * group_rows;
  const RowId last = std::min(first + group_rows, rows_) - 1;
  double left = within * group_lambda_[group];
  RowId row = first;
  while (row < last && (left -= lambda_[gaps_->level(row)]) >= 0.0) ++row;
  return row;
}

RowId Proposals::draw_one(const Random& random, Purpose purpose, std::uint64_t index) const {
  const std::array<double, 4> u = random.uniforms(purpose, index);
  const std::size_t group = group_at(u[1], u[2]);
  return gaps_->has(static_cast<RowId>(group) * group_rows) ? row_in(group, u[3]) : -1;
}

std::vector<RowId> Proposals::draw(const Random& random, double growth) const {
  std::vector<RowId> rows;
  const double end = growth * rate_;
  double time = 0.0;
  for (std::uint64_t arrival = 0;; ++arrival) {
    const std::array<double, 4> u = random.uniforms(Purpose::propose, arrival);
    time -= std::log(u[0]);
    if (time > end) break;
    const std::size_t group = group_at(u[1], u[2]);
    if (!gaps_->has(static_cast<RowId>(group) * group_rows)) continue;
    // Rounding in the alias table or in the group may select a row without a z.
    if (const RowId row = row_in(group, u[3]); lambda_[gaps_->level(row)] > 0.0) rows.push_back(row);
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

}  // namespace flymc
