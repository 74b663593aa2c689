// The state of a chain: theta, z, and the parts of the density there that are already known.
#pragma once

#include <vector>

#include "flymc/bound/bound.hpp"
#include "flymc/bright/bright_set.hpp"

namespace flymc {

// z: the set of bright rows, and in the same order their constants in the bound.
struct BrightRows {
  explicit BrightRows(RowId rows) : set(rows) {}
  BrightSet set;
  BoundRows fixed;
};

// The log density at one theta given z, with the parts that a sweep can reuse without a query.
struct Evaluation {
  double log_density = 0.0;
  // One of the two, if requested: the gradient in theta, or, for a density with a frame, the force, which is the
  // gradient in b without the Gaussian part.
  Vector gradient, force;
  double base = 0.0;  // log density without the bright rows' terms
  // Gradients of `base` in theta: the whole gradient or, if the density has a frame and theta is in the bound's zone,
  // only the lit rows' (the frame computes the others).
  Vector base_gradient, lit_gradient;
  BoundPoint point;  // theta as the bound sees it
  Vector b;          // theta in the coordinates of the density's frame, if it has one
  Gaps bright;       // of the bright rows, in their order

  bool has_slopes() const { return gradient.size() + force.size() > 0; }
};

// A state has only the members that the next step needs. `at` always belongs to `theta` and `z`; `proposed` and the
// members after it are scratch space.
struct State {
  // All rows dark; `rows` is 0 if there is no z. The density is not evaluated yet.
  State(Vector where, RowId rows) : theta(std::move(where)), z(rows) {}
  std::uint64_t iteration = 0;
  Vector theta;
  BrightRows z;
  Evaluation at;
  Evaluation proposed;
  BoundRows looked_at;  // scratch space of sweeps
  Gaps looked_gaps;
};

}  // namespace flymc
