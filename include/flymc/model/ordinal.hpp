// Ordered categories by a cumulative logit: P(y <= k) = sigmoid(cut_k - x'beta) with cut_0 < cut_1 < ...
#pragma once

#include <string>

#include "flymc/model/logistic.hpp"

namespace flymc {

// Between two cut points a < b the probability is sigmoid(b - eta) - sigmoid(a - eta), with eta = x'beta, and its
// logarithm is
//   log sigmoid(b - eta) + log sigmoid(eta - a) + log(1 - exp(a - b)).
// The first two are logistic rows with the predictors eta - b and eta - a, and targets 0 and 1: "below b" and "above
// a". Each row of a table becomes these two, or one in the first and the last category (data/cut_rows.hpp), with the
// cut point as a level among the columns; so its bounds are those of the logistic family. The third does not depend on
// the row's features, and is in a term of its own (model/ordered_cuts.hpp).
struct Ordinal : Logistic {
  std::string name() const { return "ordinal"; }
};

static_assert(Family<Ordinal>);

}  // namespace flymc
