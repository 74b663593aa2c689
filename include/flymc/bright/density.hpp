// The densities that moves target: the joint of (theta, z) given z, and the full-data posterior.
#pragma once

#include <memory>

#include "flymc/bright/split_frame.hpp"
#include "flymc/bright/state.hpp"

namespace flymc {

// What a theta move sees. Immutable and shared by chains.
class Density {
 public:
  virtual ~Density() = default;
  virtual Index dimension() const = 0;
  // Log density (up to a constant) at theta given z. Returns the number of queries. A theta where the density cannot be
  // computed gives a log_density that is not finite.
  virtual RowId evaluate(const Vector& theta, const BrightRows& z, bool with_gradient, Evaluation& out) const = 0;
};

// The posterior by all rows, which regular MCMC targets: N queries per evaluation. It has no z.
class FullDensity final : public Density {
 public:
  FullDensity(const Store& store, const Model& model);
  Index dimension() const override { return model_.coefficients(store_); }
  RowId evaluate(const Vector& theta, const BrightRows& z, bool with_gradient, Evaluation& out) const override;

 private:
  const Store& store_;
  Model model_;
};

// log p(theta, z) = log prior + sum_n log B_n + sum over bright rows of log(exp(gap_n) - 1): one query per bright row.
class JointDensity final : public Density {
 public:
  JointDensity(const Store& store, const Bound& bound) : store_(store), bound_(bound) {}
  // With a frame, evaluations are for split HMC: the collapsed bound by its coordinates b, and as gradient what is to
  // be kicked, the gradient in b of the density without its Gaussian part.
  JointDensity(const Store& store, const Bound& bound, std::shared_ptr<const SplitFrame> frame)
      : store_(store), bound_(bound), frame_(std::move(frame)) {}
  Index dimension() const override { return bound_.anchor().size(); }
  RowId rows() const { return store_.rows(); }
  const Store& store() const { return store_; }
  const Bound& bound() const { return bound_; }
  const SplitFrame* frame() const { return frame_.get(); }
  RowId evaluate(const Vector& theta, const BrightRows& z, bool with_gradient, Evaluation& out) const override;

  // The gradient in b of the density without its Gaussian part, by a frame's coordinates. One query per bright row.
  RowId kick(const SplitFrame& frame, const Vector& b, const BrightRows& z, Vector& gradient) const;

  // For sweeps. Looks at rows that may be dark, at the state's theta: one query each.
  RowId look(const State& state, std::span<const RowId> rows, BoundRows& fixed, Gaps& gaps) const;
  // Sets z of row i of a `look` to bright, or of a bright row to dark. `settle` must follow before the next move.
  void brighten(State& state, const BoundRows& fixed, const Gaps& gaps, std::size_t i) const;
  void darken(State& state, RowId row) const;
  // Adds the density up again after z has changed; no query.
  void settle(State& state) const;

 private:
  void add_up(const BrightRows& z, bool with_gradient, Evaluation& at) const;
  // The bright rows' part of the gradient in theta; adds their slope in rho.
  Vector bright_gradient(const BrightRows& z, const Gaps& gaps, double& rho_slope) const;
  Vector rest(const SplitFrame& frame, const Vector& b, const BoundPoint& point, const BrightRows& z,
              const Gaps& gaps) const;

  const Store& store_;
  const Bound& bound_;
  std::shared_ptr<const SplitFrame> frame_;
};

}  // namespace flymc
