// Arrivals, and the decisions about the rows that they hit.
#include "flymc/groups/group_sweep.hpp"

#include <algorithm>
#include <cmath>

#include "flymc/core/numerics.hpp"
#include "flymc/groups/slice_number.hpp"

namespace flymc {

GroupSweep::GroupSweep(const GroupBound& bound, double s)
    : bound_(&bound), proposals_(std::make_shared<const Proposals>(bound.expected_gaps(), s)) {
  std::vector<Rates> rates(bound.rows().factors());
  for (std::size_t f = 0; f < rates.size(); ++f) {
    const Index groups = bound.rows().layout().groups(f);
    rates[f].sum.resize(static_cast<std::size_t>(groups));
    rates[f].largest.resize(static_cast<std::size_t>(groups));
    for (Index g = 0; g < groups; ++g) {
      const GroupRows members = bound.rows().rows_of(f, g);
      double sum = 0.0, largest = 0.0;
      for (std::size_t i = 0; i < members.size(); ++i) {
        const double rate = proposals_->rate_of(members[i]);
        sum += rate;
        largest = std::max(largest, rate);
      }
      rates[f].sum[static_cast<std::size_t>(g)] = sum;
      rates[f].largest[static_cast<std::size_t>(g)] = largest;
    }
  }
  rates_ = std::make_shared<const std::vector<Rates>>(std::move(rates));
}

GroupSweep::Growth GroupSweep::growth_at(const Effects& change) const {
  const double most = 64.0;
  const auto growth = [most](double squared_length, double usual) {
    return std::clamp(std::pow(squared_length / usual, 1.5), 1.0, most);
  };
  const GroupBound::Border border = bound_->border_of(change);
  Growth out;
  out.border = growth(bound_->border_length(border), static_cast<double>(border.change.size()));
  for (std::size_t f = 0; f < bound_->rows().factors(); ++f) {
    const Index k = bound_->rows().layout().width(f), groups = bound_->rows().layout().groups(f);
    std::vector<double>& own = out.groups.emplace_back(static_cast<std::size_t>(groups), 1.0);
    if (bound_->rows().is_carried(f)) continue;
    Vector seen(k);
    for (Index g = 0; g < groups; ++g) {
      bound_->rows().seen(change, f, g, seen.data());
      own[static_cast<std::size_t>(g)] =
          growth(bound_->group_length(f, g, seen.data(), border), static_cast<double>(k));
    }
  }
  return out;
}

double GroupSweep::growth_of(const Growth& growth, const BoundRows& rows, std::size_t i) const {
  const std::size_t factors = growth.groups.size();
  double sum = growth.border;
  for (std::size_t f = 0; f < factors; ++f) sum += growth.groups[f][rows.group[i * factors + f]] - 1.0;
  return sum;
}

// A Poisson process along the groups, each of which is as long as its further rate. An arrival hits a row of its group
// with a probability in proportion to the row's rate, by rejection.
void GroupSweep::add_arrivals(const Growth& growth, const Random& random, std::vector<RowId>& rows) const {
  for (std::size_t f = 0; f < growth.groups.size(); ++f) {
    const Rates& rates = (*rates_)[f];
    std::uint64_t arrival = 0;
    const auto wait = [&] { return -std::log(random.uniform(Purpose::pick, address(f, arrival++))); };
    double left = wait();
    for (std::size_t g = 0; g < growth.groups[f].size(); ++g) {
      double length = (growth.groups[f][g] - 1.0) * rates.sum[g];
      while (left < length) {
        length -= left;
        left = wait();
        const GroupRows members = bound_->rows().rows_of(f, static_cast<Index>(g));
        for (std::uint64_t attempt = 0;; ++attempt) {
          const auto u = random.uniforms(Purpose::skip, address(f, arrival, attempt));
          const auto at =
              std::min(members.size() - 1, static_cast<std::size_t>(u[0] * static_cast<double>(members.size())));
          if (u[1] * rates.largest[g] >= proposals_->rate_of(members[at])) continue;
          rows.push_back(members[at]);
          break;
        }
      }
      left -= length;
    }
  }
}

Info GroupSweep::step(State& state, const Random& random) const {
  const GroupedRows& rows = bound_->rows();
  const Effects change = bound_->change_of(state.theta);
  const Growth growth = growth_at(change);

  std::vector<RowId> proposed = proposals_->draw(random, growth.border);
  add_arrivals(growth, random, proposed);
  std::ranges::sort(proposed);
  proposed.erase(std::unique(proposed.begin(), proposed.end()), proposed.end());
  std::erase_if(proposed, [&](RowId row) { return state.z.set.is_bright(row); });

  Info info;
  std::vector<RowId> darkened;
  std::vector<double> delta(state.z.fixed.size());
  rows.project(state.z.fixed, change, delta);
  for (std::size_t i = 0; i < state.z.fixed.size(); ++i) {
    const RowId row = state.z.fixed.row[i];
    const double q = proposals_->q(row, growth_of(growth, state.z.fixed, i));
    const double odds = std::expm1(bound_->gap_within(state.z.fixed, i, delta[i]));
    if (random.uniform(Purpose::darken, static_cast<std::uint64_t>(row)) * odds < q) darkened.push_back(row);
  }
  info.queries += static_cast<RowId>(state.z.fixed.size());

  BoundRows& found = state.looked_at;
  bound_->fetch(proposed, found);
  delta.resize(found.size());
  rows.project(found, change, delta);
  info.queries += static_cast<RowId>(found.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found.reach[i] == 0.0) continue;
    const double q = proposals_->q(found.row[i], growth_of(growth, found, i));
    const double odds = std::expm1(bound_->gap_within(found, i, delta[i]));
    if (random.uniform(Purpose::brighten, static_cast<std::uint64_t>(found.row[i])) * q >= odds) continue;
    state.z.set.brighten(found.row[i]);
    state.z.fixed.append(found, i);
  }
  for (const RowId row : darkened) {
    state.z.fixed.remove(static_cast<std::size_t>(state.z.set.position(row)));
    state.z.set.darken(row);
  }
  return info;
}

}  // namespace flymc
