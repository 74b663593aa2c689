// The preparation, which takes all passes over the data, and the sampler, which runs chains from it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "flymc/anchor/anchor.hpp"
#include "flymc/anchor/long_tails.hpp"
#include "flymc/bound/bound.hpp"
#include "flymc/chain/chain_run.hpp"
#include "flymc/kernel/proposals.hpp"
#include "flymc/kernel/slice.hpp"
#include "flymc/run/recipe.hpp"

namespace flymc {

// The result of the second of the three stages, between the rows and the draws.
struct Preparation {
  std::optional<Anchor> anchor;  // empty if neither bound nor moves nor starts need it
  std::optional<Bound> bound;    // empty for regular MCMC
  RowId bound_queries = 0;       // of the statistics pass, even if no bound came of it
  Recipe recipe = {};
  // Mode and precision of the posterior under a prior other than the anchor's. Chains begin there, and moves use its
  // scale.
  std::optional<Anchor> under_another_prior = std::nullopt;
  const Anchor& centre() const { return under_another_prior ? *under_another_prior : *anchor; }
};
Preparation prepare(const Store& store, const Model& model, const FitOptions& options, const Execution& execution);

// The recipe of a run with these options on this preparation, which may have been made for another run. Throws
// InputError if the preparation lacks what the options request.
Recipe recipe_of(const Preparation& preparation, const FitOptions& options);
// The recipe and its reasons, in words.
std::string describe(const Preparation& preparation, const FitOptions& options);

// The coefficients with a narrow prior whose posterior may have a spike beside the likelihood's mode.
LongTails long_tails_of(const Model& model, const Preparation& preparation);

// The part of the precision at the anchor that does not come from the rows: the prior's, with wide priors in place of
// narrow ones for the coefficients of long_tails_of.
SparseSymmetric precision_besides_rows(const Model& model, const Anchor& anchor);

// The rule of a bound of this kind.
std::shared_ptr<const BoundRule> make_rule(const Model& model, Index coefficients, BoundKind kind);

// Densities, kernels and starts of the chains. Keeps references to the store and the preparation.
class Sampler {
 public:
  Sampler(const Store& store, const Model& model, const Preparation& preparation, const FitOptions& options,
          const Communicator& communicator = Communicator::alone());
  // How chains begin, continue and step. Valid as long as the sampler.
  ChainPlan plan() const;

 private:
  // Starts a chain at `share` of the usual distance from the centre.
  State start(ChainId id, double share, RowId& queries) const;
  Vector start_theta(ChainId id, double share) const;
  Tuners kernels() const;
  SplitFrame own_laplace_frame() const;

  Model model_;
  FitOptions options_;
  Recipe recipe_;
  std::optional<Anchor> centre_;  // with a metric that is as wide as the posterior
  std::shared_ptr<const Precision> metric_;
  std::optional<FullDensity> full_;
  std::optional<JointDensity> joint_;
  std::shared_ptr<const Proposals> proposals_;      // of sweeps by rows
  std::shared_ptr<const Proposals> likely_bright_;  // for the self-check, with any sweep
  std::shared_ptr<const LongTails> tails_;          // may be empty
  std::shared_ptr<const SplitFrame> frame_;         // of split HMC
  std::vector<SliceSome::Coordinate> long_tailed_;  // coefficients with an additional move of their own
};

}  // namespace flymc
