// The common parts of sweeps: evaluating dark rows, deciding, and changing z.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>

#include "flymc/kernel/kernel.hpp"

namespace flymc {

// Evaluates the gap of each of these dark rows of this rank, in the order of the rows, and collects those for which
// `becomes_bright(row, gap)`. It works in chunks, so that memory does not grow with the number of rows evaluated.
template <class Rule>
void look_at(const JointDensity& density, State& state, std::span<const RowId> dark, const Rule& becomes_bright,
             Flips& flips) {
  constexpr std::size_t chunk = 4096;
  BoundRows& fixed = state.looked_at;
  Gaps& gaps = state.looked_gaps;
  for (std::size_t first = 0; first < dark.size(); first += chunk) {
    const auto rows = dark.subspan(first, std::min(chunk, dark.size() - first));
    flips.queries += density.evaluate_rows(state, rows, fixed, gaps);
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (becomes_bright(rows[i], gaps.gap[i])) {
        flips.bright.append(fixed, i);
        flips.gaps.append(gaps, i);
      }
  }
}

// Metropolis-Hastings on each z, with the row's own q: a bright row proposes to become dark and is accepted with
// probability min(1, q / expm1(gap)); a dark row in `proposed`, which has probability q, becomes bright with
// probability min(1, expm1(gap) / q). `proposed` has rows of this rank in order; bright rows and rows without a z in it
// are skipped. Both lists use z from before the sweep, so that each row gets one proposal.
template <class Q>
Info flip_by_proposals(const JointDensity& density, State& state, const Random& random, std::vector<RowId> proposed,
                       const Q& q) {
  Flips flips;
  for (std::size_t i = 0; i < state.z.fixed.size(); ++i) {
    const RowId row = state.z.fixed.row[i];
    if (density.owns(row) &&
        random.bernoulli(Purpose::darken, static_cast<std::uint64_t>(row), q(row) / std::expm1(state.at.bright.gap[i])))
      flips.dark.push_back(row);
  }
  std::sort(flips.dark.begin(), flips.dark.end());
  std::erase_if(proposed, [&](RowId row) { return state.z.set.is_bright(row) || !density.has_z(row); });
  look_at(
      density, state, proposed,
      [&](RowId row, double gap) {
        return random.bernoulli(Purpose::brighten, static_cast<std::uint64_t>(row), std::expm1(gap) / q(row));
      },
      flips);
  Info info;
  info.queries = density.flip(state, flips);
  return info;
}

}  // namespace flymc
