// Prepares and samples in memory.
#include "flymc/run/fit.hpp"

#include <fmt/format.h>

#include <numeric>

#include "flymc/chain/run_chains.hpp"
#include "flymc/run/sampler.hpp"

namespace flymc {

namespace {

// Converts the theta of the chains to parameters.
class ParameterSink final : public Sink {
 public:
  ParameterSink(const Model& model, Sink& to) : model_(model), to_(to) {}
  void write(std::size_t chain, const Vector& theta, const DrawStats& stats) override {
    to_.write(chain, model_.parameters(theta), stats);
  }

 private:
  const Model& model_;
  Sink& to_;
};

}  // namespace

Fit fit(const Store& store, const Model& model, const FitOptions& options, const Communicator& communicator) {
  check(options);
  const Threads threads(options.threads);
  const Preparation preparation = prepare(store, model, options, {threads, communicator});
  const Sampler sampler(store, model, preparation, options, communicator);

  Presentation shown{model.names(store)};
  const BatchedFamily& family = model.family();
  const Index classes = family.only_differences() ? family.predictors() : family.target_classes();
  for (Index k = 0; k < classes; ++k) shown.classes.push_back(fmt::format("{}", k));
  Fit out{report_on(store, model, preparation, options, shown),
          MemorySink(static_cast<std::size_t>(options.chains), model.coefficients(store))};
  out.draws_per_chain = options.draws;
  std::vector<std::uint64_t> chains(static_cast<std::size_t>(options.chains));
  std::iota(chains.begin(), chains.end(), 0u);
  ParameterSink sink(model, out.draws);
  out.chains = run_chains(chains, sampler.plan(), {options.warmup, options.draws, options.thin, options.seed},
                          {threads, communicator}, sink);
  return out;
}

}  // namespace flymc
