// The densities that moves target: the joint of (theta, z) given z, and the full-data posterior.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "flymc/bright/rows_in_frame.hpp"
#include "flymc/bright/split_frame.hpp"
#include "flymc/bright/state.hpp"

namespace flymc {

// The density that a theta move samples. Immutable and shared by chains.
class Density {
 public:
  virtual ~Density() = default;
  virtual Index dimension() const = 0;
  // Log density (up to a constant) at theta given z. Returns the number of queries. If the density cannot be computed
  // at theta, log_density is not finite.
  virtual RowId evaluate(const Vector& theta, const BrightRows& z, bool with_gradient, Evaluation& out) const = 0;
};

// The posterior evaluated with all rows, which regular MCMC targets: N queries per evaluation. It has no z. Concurrent
// chains share the cores, so an evaluation uses one thread on every rank.
class FullDensity final : public Density {
 public:
  FullDensity(const Store& store, const Model& model, const Communicator& communicator = Communicator::alone());
  Index dimension() const override { return model_.coefficients(store_); }
  RowId evaluate(const Vector& theta, const BrightRows& z, bool with_gradient, Evaluation& out) const override;

 private:
  const Store& store_;
  Model model_;
  const Communicator& communicator_;
  Threads one_{1};
};

// A sweep's decisions about the rows of this rank: rows that become bright, with their constants and gaps, and rows
// that become dark; both in the order of the rows.
struct Flips {
  BoundRows bright;
  Gaps gaps;
  std::vector<RowId> dark;
  RowId queries = 0;
};

// log p(theta, z) = log prior + sum_n log B_n + sum over lit rows of gap_n + sum over bright rows of log(exp(gap_n) -
// 1) within the bound's zone: one query per lit row and per bright row. Beyond the radius z has the distribution of
// the nearest point of the zone, and the density of theta evaluates all rows: two passes (docs/mathematics.md, "Beyond
// the radius"). The density is continuous there.
//
// Every rank has the whole state, bright rows included, so moves need no communication. A sweep is made where the rows
// are: each rank evaluates its own proposed rows and decides about its own bright rows; `flip` exchanges the decisions,
// in one message per sweep.
class JointDensity final : public Density {
 public:
  // With a frame, evaluations are for split HMC: they compute the collapsed bound from the coordinates b, and the force
  // instead of the gradient.
  JointDensity(const Store& store, const Bound& bound, std::shared_ptr<const Term> prior,
               std::shared_ptr<const SplitFrame> frame = nullptr,
               const Communicator& communicator = Communicator::alone())
      : store_(store),
        bound_(bound),
        prior_(std::move(prior)),
        frame_(std::move(frame)),
        communicator_(communicator),
        own_(own_rows(store, communicator)),
        at_anchor_(prior_->log_density(bound.anchor()) + bound.log_sum(bound.at(bound.anchor(), false))) {
    see_lit_in_frame();
  }
  Index dimension() const override { return bound_.anchor().size(); }
  RowId rows() const { return store_.rows(); }
  const Store& store() const { return store_; }
  const Bound& bound() const { return bound_; }
  const Term& prior() const { return *prior_; }
  const SplitFrame* frame() const { return frame_.get(); }
  RowId evaluate(const Vector& theta, const BrightRows& z, bool with_gradient, Evaluation& out) const override;

  // The force in a frame's coordinates: the gradient in b of the density without its Gaussian part. One query per
  // bright row. `bright` holds the bright rows in the frame, or is null.
  RowId kick(const SplitFrame& frame, const Vector& b, const BrightRows& z, Vector& force,
             const RowsInFrame* bright = nullptr) const;
  // The bright rows in the density's frame; empty unless that makes this number of kicks cheaper.
  std::optional<RowsInFrame> bright_in_frame(const BrightRows& z, int kicks) const;

  // Whether a row belongs to this rank.
  bool owns(RowId row) const { return own_.contains(row); }
  // Whether a row is either bright or dark; lit rows are neither.
  bool has_z(RowId row) const { return !bound_.lit().contains(row); }
  // Returns every rank's number.
  std::vector<double> gather(double own) const { return gather_all(communicator_, std::span<const double>(&own, 1)); }
  // The constants of rows of any rank, in the order of `rows`. No query.
  void fetch(std::span<const RowId> rows, BoundRows& out) const;

  // For sweeps. Evaluates rows of this rank that may be dark, at the state's theta: one query each.
  RowId evaluate_rows(const State& state, std::span<const RowId> rows, BoundRows& fixed, Gaps& gaps) const;
  // The parts of `flip`, on this rank only. Sets z of row i of `evaluate_rows` to bright, or of a bright row to dark;
  // `update` must follow before the next move.
  void brighten(State& state, const BoundRows& fixed, const Gaps& gaps, std::size_t i) const;
  void darken(State& state, RowId row) const;
  // Recomputes the density from its parts after z has changed; no query.
  void update(State& state) const;
  // Ends a sweep with the flips of all ranks: rows become bright, then rows become dark, each in their order. Returns
  // the queries of all ranks.
  RowId flip(State& state, const Flips& flips) const;

 private:
  void see_lit_in_frame();
  // The force inside the zone, with the rows in the frame.
  Vector force_in_frame(const Vector& b, double rho, const BrightRows& z, const RowsInFrame& bright) const;
  void add_up(const BrightRows& z, bool with_gradient, Evaluation& at) const;
  // The part that does not depend on z. Adds its gradient in theta to `gradient` if that is given. Returns the queries.
  RowId base_at(const Vector& theta, const BoundPoint& point, double& base, Vector* gradient) const;
  std::vector<double> outer_slopes(const Gaps& gaps, double& rho_slope) const;
  // The bright rows' part of the gradient: at the zone's point, with the slope in rho separate, and in theta.
  Vector point_gradient(const BrightRows& z, const Gaps& gaps, double& rho_slope) const;
  Vector bright_gradient(const BrightRows& z, const BoundPoint& point, const Gaps& gaps) const;
  // The force: `rest` inside the zone, from the frame, the lit rows' gradient in theta and the bright rows' gaps;
  // `without_gaussian` everywhere, from the whole gradient in theta.
  Vector rest(const SplitFrame& frame, const Vector& b, const BoundPoint& point, const Vector& lit, const BrightRows& z,
              const Gaps& gaps) const;
  static Vector without_gaussian(const SplitFrame& frame, const Vector& b, const Vector& gradient);

  const Store& store_;
  const Bound& bound_;
  std::shared_ptr<const Term> prior_;
  std::shared_ptr<const SplitFrame> frame_;
  std::shared_ptr<const RowsInFrame> lit_in_frame_;  // or their stand-ins; null if that would cost more
  const Communicator& communicator_;
  RowRange own_;
  double at_anchor_;  // the density there without bright rows
  Threads one_{1};    // concurrent chains share the cores
};

}  // namespace flymc
