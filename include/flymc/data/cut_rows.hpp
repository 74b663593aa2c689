// A row with a target of ordered categories, as rows that compare it with cut points.
#pragma once

#include <span>
#include <vector>

#include "flymc/core/linear.hpp"

namespace flymc {

// Categories 0 ... C - 1 have cut points 0 ... C - 2 between them. Category k lies above cut point k - 1 and below cut
// point k; the first category has only the latter, the last only the former. Calls visit(cut, target) for each of them,
// with target 1 if the category is above and 0 if it is below: one or two rows for a family with targets 0 and 1
// (model/ordinal.hpp).
template <class Visit>
void visit_cuts(Index category, Index categories, const Visit& visit) {
  if (category > 0) visit(category - 1, 1.0);
  if (category + 1 < categories) visit(category, 0.0);
}

// The same for rows of numbers: calls append(cells, target), where the cells are a number for each cut point, 1 for the
// compared one and 0 for others, followed by x.
template <class Append>
void append_cut_rows(Index category, Index categories, std::span<const double> x, const Append& append) {
  visit_cuts(category, categories, [&](Index cut, double target) {
    std::vector<double> cells(static_cast<std::size_t>(categories) - 1, 0.0);
    cells[static_cast<std::size_t>(cut)] = 1.0;
    cells.insert(cells.end(), x.begin(), x.end());
    append(cells, target);
  });
}

}  // namespace flymc
