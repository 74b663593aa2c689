// A row whose target is one of ordered categories, as rows that compare it with cut points.
#pragma once

#include "flymc/core/linear.hpp"

namespace flymc {

// Categories 0 ... C - 1 have cut points 0 ... C - 2 between them. Category k lies above cut point k - 1 and below cut
// point k; the first has none below it and the last none above. Calls visit(cut, target) for each of the two, with target
// 1 if the category is above and 0 if it is below: one row, or two, of a family for 0 and 1 (model/ordinal.hpp).
template <class Visit>
void visit_cuts(Index category, Index categories, const Visit& visit) {
  if (category > 0) visit(category - 1, 1.0);
  if (category + 1 < categories) visit(category, 0.0);
}

}  // namespace flymc
