// Sums over the rows of slopes and curvatures: for the coefficients, and for the effects of every group.
#pragma once

#include <functional>
#include <vector>

#include "flymc/groups/grouped_rows.hpp"

namespace flymc {

// The term of a row has a value, and a slope s and a curvature c in its linear predictor. x are the row's features, and w
// the numbers that its effects multiply. `further` is a second sum of the caller's, as of expected numbers of bright rows.

// For the groups of one factor with k effects each: sum of s w (a line per group), of c w w' (k lines), and of c w x' (k
// lines of D numbers), over the group's rows.
struct EffectSums {
  RowMatrix slope, blocks, couplings;
};

struct GroupSums {
  double value = 0.0, further = 0.0;
  Vector slope;      // sum of s x
  Matrix curvature;  // sum of c x x', the lower triangle
  std::vector<EffectSums> effects;
};

// The terms of the rows of a part of a block: the sum of their values, and a slope and a curvature for each.
struct RowTerms {
  double value = 0.0, further = 0.0;
  Vector slope, curvature;
};

using TermsOfRows = std::function<void(const Block& part, const Vector& eta, RowTerms& out)>;

struct GroupPass {
  // Which factors to sum for; the others' sums stay empty.
  std::vector<bool> factors;
  // Whether factors have couplings to the coefficients. The leading factor always has them.
  bool couplings = false;
  // Keeps the curvature of every row, if given.
  std::vector<double>* curvatures = nullptr;
};

// Visits every row once, on all threads. `eta` has the linear predictor of each row at `at`, with its offset. The result
// does not depend on the number of threads.
GroupSums sum_by_groups(const GroupedRows& rows, const Effects& at, const GroupPass& pass, const Execution& execution,
                        const TermsOfRows& terms);

}  // namespace flymc
