// The densities that moves target: the joint of (theta, z) given z, and the full-data posterior.
#pragma once

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
  Index dimension() const override { return bound_.anchor().size(); }
  RowId rows() const { return store_.rows(); }
  const Store& store() const { return store_; }
  const Bound& bound() const { return bound_; }
  RowId evaluate(const Vector& theta, const BrightRows& z, bool with_gradient, Evaluation& out) const override;

  // For sweeps. Looks at rows that may be dark, at the state's theta: one query each.
  RowId look(const State& state, std::span<const RowId> rows, BoundRows& fixed, Gaps& gaps) const;
  // Sets z of row i of a `look` to bright, or of a bright row to dark. `settle` must follow before the next move.
  void brighten(State& state, const BoundRows& fixed, const Gaps& gaps, std::size_t i) const;
  void darken(State& state, RowId row) const;
  // Adds the density up again after z has changed; no query.
  void settle(State& state) const;

 private:
  void add_up(const BrightRows& z, bool with_gradient, Evaluation& at) const;

  const Store& store_;
  const Bound& bound_;
};

}  // namespace flymc
