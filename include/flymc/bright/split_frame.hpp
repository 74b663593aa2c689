// Coordinates in which the Gaussian part of a density is standard normal: its Hamiltonian flow there is a rotation.
#pragma once

#include <optional>
#include <span>

#include "flymc/anchor/anchor.hpp"
#include "flymc/bound/bound.hpp"
#include "flymc/core/packed_matrix.hpp"

namespace flymc {

// theta = origin + V b, and the Gaussian part is exp(-|b - centre|^2 / 2).
struct SplitFrame {
  Vector origin;
  Matrix to_theta;    // V
  Matrix from_theta;  // V^-1
  Vector centre;
  // Only in the frame of the joint density:
  double value = 0.0;               // the collapsed bound at the anchor
  Vector slope;                     // its slope there
  Vector growth;                    // the diagonal of V'Q V; empty if the bound does not grow
  Matrix to_white;                  // L'V for the bound's metric L L': rho = |L'V b|
  double stretch = 1.0;             // rho is about stretch |b|
  Vector prior_slope;               // of the quadratic in theta that replaces the prior in the frame
  SparseSymmetric prior_curvature;  // its curvature

  // Must be called after the matrices have been set.
  void pack();
  Vector theta(const Vector& b) const { return origin + change(b); }
  Vector position(const Vector& at_theta) const { return packed_from_theta_ * (at_theta - origin); }
  Vector change(const Vector& b) const { return packed_to_theta_ * b; }
  // Converts a gradient in theta to a gradient in b.
  Vector pull(const Vector& gradient) const { return packed_transposed_ * gradient; }
  // The same for a gradient with a single nonzero entry; adds to `out`.
  void add_pulled(Index entry, double slope_there, double* out) const {
    packed_transposed_.add_column(entry, slope_there, out);
  }
  double rho(const Vector& b) const { return to_white.size() > 0 ? (packed_to_white_ * b).norm() : 0.0; }
  double rho_about(const Vector& b) const { return stretch * b.norm(); }

  // sum_n log B_n at b and its change from the anchor, inside the bound's zone: O(D).
  double log_sum(const Vector& b, const Vector& change, double rho) const;
  // The gradient in b of log prior + sum_n log B_n without the Gaussian part and without prior_rest; `rho_weight` is an
  // additional slope in rho. The gradient of rho is computed as if rho were rho_about: kicks may be approximate,
  // because the end of a trajectory uses the exact density.
  Vector rest(const Vector& b, double rho, double rho_weight) const;
  // The additional gradient of a prior that is not quadratic: its gradient in theta minus that of its quadratic.
  Vector prior_rest(const Term& term, const Vector& change) const;

 private:
  PackedMatrix packed_to_theta_, packed_transposed_, packed_from_theta_, packed_to_white_;
};

// The frame of the joint density: A = C + the prior's precision at the anchor, without the priors of the entries
// `tails`, which act only near their spikes. The columns of V solve Q v = growth A v with v'A v = 1, so that A and Q
// are both diagonal and the rest of the collapsed bound costs O(D). Empty if A is not positive definite.
std::optional<SplitFrame> collapsed_frame(const Bound& bound, const Term& term, std::span<const Index> tails = {});

// The frame of the full-data posterior: the Laplace approximation at the anchor, or a normal at another centre with the
// anchor's metric.
SplitFrame laplace_frame(const Anchor& anchor, const std::optional<Vector>& centre = std::nullopt);

}  // namespace flymc
