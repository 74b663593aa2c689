// The anchor from the whole table.
#include "flymc/anchor/anchor.hpp"

#include <fmt/format.h>

#include "flymc/core/error.hpp"
#include "modes.hpp"

namespace flymc {
namespace {

void check(const Vector& theta, const Store& store, const Model& model) {
  if (theta.size() != model.coefficients(store) || !theta.allFinite())
    throw InputError(fmt::format("the anchor must be {} finite numbers", model.coefficients(store)));
}

}  // namespace

Anchor anchor_at(const Store& store, const Model& model, const Execution& execution, Vector theta) {
  model.check(store, execution);
  check(theta, store, model);
  WeightedPosterior posterior(store, model, execution);
  const Expansion here = posterior.expand(theta);
  Precision metric = metric_of(posterior, here);
  const double distance = metric.whiten_gradient(here.gradient).norm();
  return {std::move(theta), std::move(metric), posterior.queries(), 0, distance};
}

Anchor find_anchor(const Store& store, const Model& model, const Execution& execution, const AnchorOptions& options) {
  model.check(store, execution);
  if (options.start) check(*options.start, store, model);
  WeightedPosterior posterior(store, model, execution);
  Anchor anchor = highest(find_modes(posterior, options));
  anchor.queries = posterior.queries();
  return anchor;
}

}  // namespace flymc
