// The anchor in about one pass: Newton's method on a subsample, then a step that the whole table corrects.
#include <algorithm>
#include <cmath>

#include "flymc/anchor/anchor.hpp"
#include "flymc/anchor/subsample.hpp"
#include "flymc/core/error.hpp"
#include "newton.hpp"

namespace flymc {
namespace {

// A third of the posterior's radius sqrt(D), in posterior standard deviations.
double near_enough(Index dimension) { return std::sqrt(static_cast<double>(dimension)) / 3.0; }

// Newton steps from the mode of the subsample, with the gradient of the whole table and the precision of the subsample.
// Nothing if they do not settle; `best` is then where the log posterior was highest.
std::optional<Anchor> correct(Anchor rough, WeightedPosterior& part, WeightedPosterior& whole,
                              std::optional<Vector>& best) {
  const double error =
      2.0 * std::sqrt(static_cast<double>(part.store().features()) / static_cast<double>(part.store().rows()));
  const double enough = near_enough(rough.theta.size());
  double highest = -HUGE_VAL, last = HUGE_VAL;
  constexpr int most_passes = 4;
  for (int pass = 1; pass <= most_passes; ++pass) {
    const Slope here = whole.slope(rough.theta);
    // A step of an error below 1 climbs, and leaves less than it was long. One that does not was wrong.
    if (!(here.value >= highest - 1e-12 * std::abs(highest))) return std::nullopt;
    highest = here.value;
    best = rough.theta;
    const Vector white = rough.metric.whiten_gradient(here.gradient);
    const double length = white.norm();
    if (!(length <= 0.5 * last)) return std::nullopt;
    last = length;
    rough.theta += rough.metric.unwhiten(white);
    ++rough.steps;
    rough.distance = error * length;
    if (rough.distance <= enough) {
      if (auto metric = part.expand(rough.theta).metric) rough.metric = std::move(*metric);
      rough.queries = part.queries() + whole.queries();
      return rough;
    }
  }
  return std::nullopt;
}

}  // namespace

Anchor find_anchor_by_subsample(const Store& store, const Model& model, const Execution& execution,
                                std::uint64_t seed) {
  const RowId size = subsample_size(store.rows(), store.features());
  if (store.rows() <= 2 * size) return find_anchor(store, model, execution);
  model.check(store, execution);
  const Subsample subsample = draw_subsample(store, model, execution, size, seed);
  WeightedPosterior part(subsample.store, model, execution, subsample.weights);
  WeightedPosterior whole(store, model, execution);
  std::optional<Vector> best;
  try {
    // The step that follows takes away what is left here, too. Classes that are separated in the subsample alone should
    // not cost more than the full search: hence few steps.
    Anchor rough = climb(part, {.tolerance = near_enough(model.coefficients(store)), .most_steps = 20});
    if (auto anchor = correct(std::move(rough), part, whole, best)) return std::move(*anchor);
  } catch (const InputError&) {
    // The subsample has no mode. The table may have one; if it has none either, the search over all rows says why.
  }
  Anchor anchor = climb(whole, {.start = std::move(best)});
  anchor.queries += part.queries();
  return anchor;
}

}  // namespace flymc
