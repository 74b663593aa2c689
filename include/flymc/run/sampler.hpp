// What the passes over the data leave behind, and the chains that need nothing else.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "flymc/anchor/anchor.hpp"
#include "flymc/bound/bound.hpp"
#include "flymc/chain/chain_run.hpp"
#include "flymc/kernel/proposals.hpp"
#include "flymc/run/choices.hpp"

namespace flymc {

// The second of the three stages, between the rows and the draws.
struct Preparation {
  std::optional<Anchor> anchor;  // none where neither bound nor moves nor starts need it
  std::optional<Bound> bound;    // none for regular MCMC
  RowId bound_queries = 0;       // of the statistics pass, also where no bound came of it
  DrawCosts costs = {};          // by which the program chose between the bound and regular MCMC, where it could choose
};
Preparation prepare(const Store& store, const Model& model, const FitOptions& options, const Execution& execution);

// The options with every `automatic` replaced by what it means for a table that was prepared like this: never again
// another choice than `prepare` made.
FitOptions chosen(const FitOptions& options, const TableShape& shape, const Preparation& preparation);
// What was chosen and why, in words: a line, or two where rows are lit.
std::string describe_choices(const FitOptions& options, const TableShape& shape, const Preparation& preparation);

// The rule of the bound that the options ask for.
std::shared_ptr<const BoundRule> make_rule(const Model& model, Index coefficients, const FitOptions& options);

// Densities, kernels and starts of the chains. Keeps references to the store and the preparation.
class Sampler {
 public:
  Sampler(const Store& store, const Model& model, const Preparation& preparation, const FitOptions& options,
          const Communicator& communicator = Communicator::alone());
  // How chains begin, go on and step; valid as long as the sampler.
  ChainPlan plan() const;

 private:
  Vector start_theta(ChainId id) const;
  Tuners kernels() const;

  Model model_;
  const Preparation& preparation_;
  FitOptions options_;
  std::shared_ptr<const Metric> metric_;
  std::optional<FullDensity> full_;
  std::optional<JointDensity> joint_;
  std::shared_ptr<const Proposals> proposals_;      // of sweeps by rows
  std::shared_ptr<const Proposals> likely_bright_;  // of the self-check, whatever the sweep
  std::shared_ptr<const SplitFrame> frame_;         // of split HMC
};

}  // namespace flymc
