// Newton's method with a check of every step, and messages if there is no mode.
#include "newton.hpp"

#include <fmt/format.h>

#include <cmath>

#include "flymc/core/error.hpp"

namespace flymc {
namespace {

// The coefficient that the data and the prior leave undetermined: the first whose pivot vanishes.
std::string undetermined(const WeightedPosterior& posterior, const Matrix& precision) {
  const auto names = posterior.model().names(posterior.store());
  for (Index j = 0; j < precision.rows(); ++j)
    if (!Precision::of(precision.topLeftCorner(j + 1, j + 1))) return names[static_cast<std::size_t>(j)];
  return names.back();
}

std::string no_end(const Model& model, int steps) {
  if (model.prior().proper())
    return fmt::format(
        "the search for the mode has not settled after {} Newton steps under the prior {}, which is too far from what "
        "the rows say, or too wide; use one that is nearer to it, or narrower, such as normal(0, 2.5)",
        steps, model.prior().describe());
  return fmt::format(
      "the coefficients still grow after {} Newton steps: under a {} prior they do so without end where a column "
      "separates the classes perfectly, or where no row is of a class or has an event; use a proper prior, such as "
      "normal(0, 2.5), or leave out the column that separates",
      steps, model.prior().describe());
}

}  // namespace

Precision metric_of(const WeightedPosterior& posterior, const Expansion& here) {
  const Store& store = posterior.store();
  const Model& model = posterior.model();
  if (here.metric) return *here.metric;
  if (model.prior().proper()) {
    // The prior determines every coefficient, but this is lost in rounding beside such large columns. Any metric will
    // do.
    Matrix eased = here.precision;
    eased.diagonal() *= 1.0 + 1e-10;
    if (auto metric = Precision::of(eased)) return *metric;
    throw InputError(
        "the columns differ so much in size that their posterior is beyond double precision; rescale them");
  }
  if (const Index coefficients = model.coefficients(store); store.rows() < coefficients)
    throw InputError(
        fmt::format("{} row{} cannot determine {} coefficients under a {} prior; use a proper prior, such as normal(0, "
                    "2.5), or fewer "
                    "columns",
                    store.rows(), store.rows() == 1 ? "" : "s", coefficients, model.prior().describe()));
  throw InputError(fmt::format(
      "coefficient '{}' is not determined by the rows under a {} prior: its column is constant, a combination "
      "of the columns before it, or all its rows are of one class; leave out the column or use a proper prior, such as "
      "normal(0, 2.5)",
      undetermined(posterior, here.precision), model.prior().describe()));
}

static Mode climb_from(Vector theta, WeightedPosterior& posterior, const AnchorOptions& options) {
  Expansion here = posterior.expand(theta);
  Vector pivots;  // of the previous step
  for (int steps = 0;; ++steps) {
    if (!std::isfinite(here.value) || !here.precision.allFinite())
      throw InputError(
          "the posterior is beyond double precision at the centre of the prior; rescale the columns, or choose a "
          "prior that "
          "is wider or nearer to 0");
    Precision metric = metric_of(posterior, here);
    // The Newton step is P^-1 gradient, and its length in posterior standard deviations is ||L^-1 gradient||.
    const Vector white = metric.whiten_gradient(here.gradient);
    const double distance = white.norm();
    // If classes are separated and the prior is flat, the likelihood has no maximum: it flattens as fast as the search
    // climbs, so that the distance shrinks although steps do not get shorter. The conditional precision of some
    // coefficient, given those after it, then shrinks with every step; near a mode it does not.
    const Vector now = metric.pivots();
    const bool settled = pivots.size() > 0 && (now.array() > 0.5 * pivots.array()).all();
    pivots = now;
    const auto here_it_is = [&]() -> Mode {
      return {{std::move(theta), std::move(metric), posterior.queries(), steps, distance}, here.value, !here.mended};
    };
    if (settled && distance < options.tolerance) return here_it_is();
    if (steps == options.most_steps) {
      // The search is slow but approaches a mode: any anchor will do.
      if (settled) return here_it_is();
      throw InputError(no_end(posterior.model(), steps));
    }
    const Vector step = metric.unwhiten(white);
    for (double fraction = 1.0;; fraction /= 2.0) {
      Expansion there = posterior.expand(theta + fraction * step);
      // Armijo: the gain must be a small share of what the gradient promises, up to rounding of the sum.
      const double promised = 1e-4 * fraction * distance * distance - 1e-12 * std::abs(here.value);
      if (std::isfinite(there.value) && there.value >= here.value + promised) {
        theta += fraction * step;
        here = std::move(there);
        posterior.model().check_limits(theta);
        break;
      }
      if (fraction < 1e-12) throw InputError("no step improves the log posterior; rescale the columns");
    }
  }
}

Mode climb(WeightedPosterior& posterior, const AnchorOptions& options) {
  if (options.start) return climb_from(*options.start, posterior, options);
  const Model& model = posterior.model();
  const Index size = model.coefficients(posterior.store());
  const Vector centre = model.term().centre(size);
  try {
    return climb_from(centre, posterior, options);
  } catch (const InputError&) {
    // At a prior's centre the likelihood may overflow, or each Newton step may be tiny.
    const Vector nearer = model.with_prior(Prior::normal(0.0, 2.5)).term().centre(size);
    if (nearer == centre) throw;
    try {
      return climb_from(nearer, posterior, options);
    } catch (const InputError&) {
    }
    throw;  // keeps the message about the user's own prior
  }
}

}  // namespace flymc
