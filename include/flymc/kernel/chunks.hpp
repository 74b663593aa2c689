// Looking at many dark rows a few thousand at a time, and brightening those that a rule says.
#pragma once

#include <algorithm>
#include <span>

#include "flymc/bright/density.hpp"

namespace flymc {

// Evaluates the gap of each dark row and brightens those for which `becomes_bright(row, gap)`. Returns the queries.
// In chunks, so that memory does not grow with the number of rows looked at.
template <class Rule>
RowId brighten_where(const JointDensity& density, State& state, std::span<const RowId> dark,
                     const Rule& becomes_bright) {
  constexpr std::size_t chunk = 4096;
  BoundRows& fixed = state.looked_at;
  Gaps& gaps = state.looked_gaps;
  RowId queries = 0;
  for (std::size_t first = 0; first < dark.size(); first += chunk) {
    const auto rows = dark.subspan(first, std::min(chunk, dark.size() - first));
    queries += density.look(state, rows, fixed, gaps);
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (becomes_bright(rows[i], gaps.gap[i])) density.brighten(state, fixed, gaps, i);
  }
  return queries;
}

}  // namespace flymc
