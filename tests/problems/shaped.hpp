// Problems of families with a shape.
#pragma once

#include "flymc/model/gamma.hpp"
#include "flymc/model/negative_binomial.hpp"
#include "problems/problems.hpp"

namespace flymc::problems {

// Targets drawn at parameters, the last of which is the shape, and a model for these targets. Rows end with a 1.
inline Problem shaped_problem(const Model& model, const RowMatrix& x, const Vector& parameters, std::uint64_t seed) {
  RowMatrix extended(x.rows(), x.cols() + 1);
  extended << x, Vector::Ones(x.rows());
  const Vector y = targets(model, extended, model.theta(parameters), seed);
  Store store = Store::from_matrix(extended, y);
  Model knowing = model.with_targets_of(store);
  return {std::move(knowing), std::move(store), parameters};
}

}  // namespace flymc::problems
