// The anchor in about one pass: Newton's method on a subsample, then a correction step with the whole table's gradient.
#include <algorithm>
#include <cmath>

#include "flymc/anchor/anchor.hpp"
#include "flymc/anchor/subsample.hpp"
#include "flymc/core/error.hpp"
#include "modes.hpp"

namespace flymc {
namespace {

// A third of the posterior's radius sqrt(D), in posterior standard deviations.
double near_enough(Index dimension) { return std::sqrt(static_cast<double>(dimension)) / 3.0; }

// (sum of weights)^2 / sum of their squares: the number of rows of equal weight with the same information.
double rows_of_equal_weight(const Store& store) {
  if (!store.fact_kinds().weight) return static_cast<double>(store.rows());
  double sum = 0.0, squares = 0.0;
  for (std::size_t b = 0; b < store.blocks(); ++b)
    for (const double weight : store.block(b).facts().weight) sum += weight, squares += weight * weight;
  return squares > 0.0 ? sum * sum / squares : 1.0;
}

// Newton steps from the mode of the subsample, with the gradient of the whole table and the precision of the subsample.
// Empty if they do not settle; `best` is then the theta with the highest log posterior.
std::optional<Mode> correct(Mode mode, WeightedPosterior& part, WeightedPosterior& whole, std::optional<Vector>& best) {
  Anchor& rough = mode.anchor;
  const double error =
      2.0 * std::sqrt(static_cast<double>(part.store().features()) / rows_of_equal_weight(part.store()));
  const double enough = near_enough(rough.theta.size());
  double highest = -HUGE_VAL, last = HUGE_VAL;
  constexpr int most_passes = 4;
  for (int pass = 1; pass <= most_passes; ++pass) {
    const Slope here = whole.slope(rough.theta);
    // With a relative error below 1 a step climbs, and leaves less than its length. If it did not climb, the error is
    // larger.
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
      mode.value = here.value + 0.5 * length * length;
      return mode;
    }
  }
  return std::nullopt;
}

// Whether in the whole table the other mode may be higher than the subsample's highest, or only slightly lower.
bool in_question(const Mode& highest, const Mode& other, WeightedPosterior& part) {
  const double variance = part.variance_of_difference(highest.anchor.theta, other.anchor.theta);
  return highest.value - other.value <= 20.0 + 6.0 * std::sqrt(variance);
}

}  // namespace

Anchor find_anchor_by_subsample(const Store& store, const Model& model, const Execution& execution, std::uint64_t seed,
                                const std::optional<Vector>& start) {
  const RowId size = subsample_size(store.rows(), store.features());
  if (store.rows() <= 2 * size) return find_anchor(store, model, execution, {.start = start});
  model.check(store, execution);
  const Subsample subsample = draw_subsample(store, model, execution, size, seed);
  // A shape's term depends on targets and cancels with terms of the rows, so both must use the same rows.
  const Model of_subsample = model.with_targets_of(subsample.store, subsample.weights);
  WeightedPosterior part(subsample.store, of_subsample, execution, subsample.weights);
  WeightedPosterior whole(store, model, execution);
  std::optional<Vector> best;
  std::vector<Mode> modes;
  try {
    // The steps that follow reduce the remaining error. Few steps suffice, so that classes that are separated only in
    // the subsample do not cost more than the full search.
    const std::vector<Mode> rough =
        find_modes(part, {.tolerance = near_enough(model.coefficients(store)), .most_steps = 20, .start = start});
    for (const Mode& mode : rough) {
      if (&mode != &rough.front() && !in_question(rough.front(), mode, part)) continue;
      std::optional<Vector> reached;
      if (auto corrected = correct(mode, part, whole, reached)) modes.push_back(std::move(*corrected));
      if (!best) best = std::move(reached);
    }
  } catch (const InputError&) {
    // The subsample has no mode. The table may have one; if not, the search over all rows throws with the reason.
  }
  if (modes.empty()) {
    if (best)
      modes.push_back(climb(whole, {.start = std::move(best)}));
    else
      modes = find_modes(whole, {.start = start});
  }
  std::ranges::stable_sort(modes, [](const Mode& a, const Mode& b) { return a.value > b.value; });
  Anchor anchor = highest(std::move(modes));
  anchor.queries = part.queries() + whole.queries();
  return anchor;
}

}  // namespace flymc
