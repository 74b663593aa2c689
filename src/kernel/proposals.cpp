// Poisson thinning with an alias table.
#include "flymc/kernel/proposals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "flymc/core/error.hpp"

namespace flymc {

Proposals::Proposals(const ExpectedGaps& gaps, double s) : gaps_(&gaps) {
  constexpr double most = 0.9;
  if (gaps.empty()) throw InputError("a sweep by rows needs a bound that touches at the anchor, and a metric");
  if (!(s > 0.0) || !std::isfinite(s)) throw InputError(fmt::format("a sweep by rows needs s > 0, not {}", s));
  for (std::size_t level = 0; level < 256; ++level) {
    q_[level] = std::min(most, s * ExpectedGaps::value(static_cast<std::uint8_t>(level)));
    lambda_[level] = -std::log1p(-q_[level]);
  }
  const auto groups = static_cast<std::size_t>((gaps.rows() + group_rows - 1) / group_rows);
  group_lambda_.assign(groups, 0.0);
  for (RowId row = 0; row < gaps.rows(); ++row)
    group_lambda_[static_cast<std::size_t>(row / group_rows)] += lambda_[gaps.level(row)];
  for (const double lambda : group_lambda_) rate_ += lambda;

  // Vose: every cell holds 1 / groups of the whole, of one group or of two.
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
    for (const std::uint32_t g : rest) keep_[g] = 1.0;  // but for rounding
}

// From three uniforms: the cell of the alias table, which of its two groups, and where in the group.
RowId Proposals::row_at(double cell, double threshold, double within) const {
  auto g = static_cast<std::size_t>(cell * static_cast<double>(keep_.size()));
  if (threshold >= keep_[g]) g = alias_[g];
  const RowId first = static_cast<RowId>(g) * group_rows;
  const RowId last = std::min(first + group_rows, rows()) - 1;
  double left = within * group_lambda_[g];
  RowId row = first;
  while (row < last && (left -= lambda_[gaps_->level(row)]) >= 0.0) ++row;
  return row;
}

std::vector<RowId> Proposals::draw(const Random& random) const {
  std::vector<RowId> rows;
  double time = 0.0;
  for (std::uint64_t arrival = 0;; ++arrival) {
    const std::array<double, 4> u = random.uniforms(Purpose::propose, arrival);
    time -= std::log(u[0]);
    if (time > rate_) break;
    rows.push_back(row_at(u[1], u[2], u[3]));
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

}  // namespace flymc
