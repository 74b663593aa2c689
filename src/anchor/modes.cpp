// Graduated steps from least squares to a mode, and the searches that use them.
#include "modes.hpp"

#include <algorithm>
#include <cmath>

#include "flymc/anchor/subsample.hpp"
#include "flymc/core/error.hpp"

namespace flymc {
namespace {

// Steps from least squares to the family itself, halving the scale each time. Empty if the rows and a flat prior leave
// a coefficient undetermined.
std::optional<Vector> graduate(WeightedPosterior& posterior, const Vector* beside = nullptr) {
  constexpr double least_squares = 1e12;
  Vector theta = Vector::Zero(posterior.model().coefficients(posterior.store()));
  double factor = 1.0;
  for (int i = 0; i < 2; ++i) {  // the second step corrects the first's rounding, and sees the residuals
    const auto step = posterior.ease(theta, least_squares, beside);
    if (!step) return std::nullopt;
    theta = step->theta;
    factor = std::clamp(3.0 * std::sqrt(step->mean_square), 1.0, least_squares);
  }
  for (;; factor = std::max(1.0, factor / 2.0)) {
    const auto step = posterior.ease(theta, factor, beside);
    if (!step) return std::nullopt;
    theta = step->theta;
    if (factor == 1.0) break;
  }
  if (!theta.allFinite()) return std::nullopt;
  return theta;
}

double distance_between(const Mode& from, const Mode& to) {
  return from.anchor.metric.length(to.anchor.theta - from.anchor.theta);
}

// Keeps the modes highest first. If two modes are the same, it keeps the one that was found first.
void add_mode(std::vector<Mode>& modes, Mode found) {
  const auto same = [&](const Mode& known) {
    return (known.value > found.value ? distance_between(known, found) : distance_between(found, known)) < 1.0;
  };
  if (std::ranges::any_of(modes, same)) return;
  modes.push_back(std::move(found));
  std::ranges::stable_sort(modes, [](const Mode& a, const Mode& b) { return a.value > b.value; });
}

// Adds no mode if the search fails: other searches may find one.
void try_to_climb(WeightedPosterior& posterior, const AnchorOptions& options, std::vector<Mode>& modes) {
  try {
    add_mode(modes, climb(posterior, options));
  } catch (const InputError&) {
  }
}

std::vector<Mode> from_several_places(WeightedPosterior& posterior, const AnchorOptions& options) {
  std::vector<Mode> modes;
  AnchorOptions elsewhere = options;
  try_to_climb(posterior, options, modes);
  if ((elsewhere.start = graduate(posterior))) try_to_climb(posterior, elsewhere, modes);
  if (modes.empty()) return modes;
  const Vector best = modes.front().anchor.theta;
  if ((elsewhere.start = graduate(posterior, &best))) try_to_climb(posterior, elsewhere, modes);
  return modes;
}

// The search of from_several_places, on a small subsample of the rows.
std::vector<Mode> by_scouts(WeightedPosterior& posterior, RowId rows, const AnchorOptions& options) {
  constexpr std::uint64_t seed = 2;  // differs from the seed of the subsample that these rows may come from
  Subsample few = draw_subsample(posterior.store(), posterior.model(), posterior.execution(), rows, seed);
  for (std::size_t i = 0; i < few.rows.size(); ++i) few.weights[i] *= posterior.weight(few.rows[i]);
  WeightedPosterior scouts(few.store, posterior.model(), posterior.execution(), few.weights);
  AnchorOptions rough = options;
  rough.tolerance = std::max(rough.tolerance, 0.1);
  const std::vector<Mode> found = from_several_places(scouts, rough);
  posterior.count(scouts.queries());
  std::vector<Mode> modes;
  for (const Mode& mode : found) {
    rough = options;
    rough.start = mode.anchor.theta;
    try_to_climb(posterior, rough, modes);
  }
  return modes;
}

}  // namespace

std::vector<Mode> find_modes(WeightedPosterior& posterior, const AnchorOptions& options) {
  const Store& store = posterior.store();
  std::vector<Mode> modes;
  if (posterior.model().predictors() == 1 && posterior.model().family().eased(1.0)) {
    const RowId few = std::max<RowId>(2000, 20 * store.features());
    modes = store.rows() > 2 * few ? by_scouts(posterior, few, options) : from_several_places(posterior, options);
  }
  if (modes.empty()) modes.push_back(climb(posterior, options));
  return modes;
}

Anchor highest(std::vector<Mode> modes) {
  Mode& best = modes.front();
  const double far = 4.0 * std::sqrt(static_cast<double>(best.anchor.theta.size()));
  for (std::size_t i = 1; i < modes.size() && !best.anchor.other; ++i)
    if (modes[i].peak && modes[i].anchor.distance < 1.0 && distance_between(best, modes[i]) > far)
      best.anchor.other = OtherMode{modes[i].anchor.theta, best.value - modes[i].value};
  return std::move(best.anchor);
}

}  // namespace flymc
