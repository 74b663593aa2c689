// Damped Newton on sums over blocks.
#include "flymc/anchor/anchor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "flymc/bound/collapse.hpp"
#include "flymc/core/error.hpp"

namespace flymc {
namespace {

// Log posterior (with the prior's surrogate), gradient and precision at one theta.
struct Expansion {
  double value;
  Vector gradient;
  Matrix precision;
  std::optional<Metric> metric;  // of the precision, if that is positive definite
};

// The precision is minus the second derivative. Where that is not positive definite, because a family is not
// log-concave and theta far from the mode, rows that curve the wrong way count with the curvature of their bound
// instead, as in iteratively reweighted least squares: steps from afar stay sane.
Expansion expand(const Store& store, const Model& model, const Execution& execution, const Vector& theta) {
  const Index k = model.predictors();
  const Matrix weights = by_predictor(theta, k);
  Collapsed sum = collapse(store, k, 2, execution, [&](const Block& block, BlockTerms& terms) {
    const auto n = static_cast<std::size_t>(block.rows());
    const auto width = static_cast<std::size_t>(k);
    RowMatrix eta;
    block.predict(weights, eta);
    std::vector<double> value(n);
    std::vector<double>& curvature = terms.curvature[0];
    curvature.resize(n * width * width);
    model.family().likelihood(block.targets(), {eta.data(), n * width}, value, {terms.slope.data(), n * width},
                              curvature);
    for (const double v : value) terms.value += v;
    if (k == 1 && *std::min_element(curvature.begin(), curvature.end()) < 0.0) {
      std::vector<double>& mended = terms.curvature[1];  // what the bound's curvature has more
      mended.resize(n);
      model.family().global_curvature(block.targets(), {eta.data(), n}, mended);
      for (std::size_t i = 0; i < n; ++i) mended[i] = curvature[i] < 0.0 ? mended[i] - curvature[i] : 0.0;
    }
  });
  Expansion out{sum.value, std::move(sum.slope), {}, {}};
  Vector prior_curvature = Vector::Zero(theta.size());
  out.value += model.prior().surrogate(theta, out.gradient, prior_curvature);
  for (Matrix& m : sum.curvature) m = Matrix(m.selfadjointView<Eigen::Lower>());
  out.precision = std::move(sum.curvature[0]);
  out.precision.diagonal() += prior_curvature;
  out.metric = Metric::from_precision(out.precision);
  if (!out.metric) {
    out.precision += sum.curvature[1];
    out.metric = Metric::from_precision(out.precision);
  }
  return out;
}

// The coefficient that the data and the prior leave undetermined: the first whose pivot vanishes.
std::string undetermined(const Store& store, const Model& model, const Matrix& precision) {
  const auto names = model.names(store);
  for (Index j = 0; j < precision.rows(); ++j)
    if (!Metric::from_precision(precision.topLeftCorner(j + 1, j + 1))) return names[static_cast<std::size_t>(j)];
  return names.back();
}

Metric metric_of(const Store& store, const Model& model, const Expansion& here) {
  if (here.metric) return *here.metric;
  if (model.prior().proper()) {
    // The prior determines every coefficient, but doubles cannot show it beside columns so large. Any metric will do.
    Matrix eased = here.precision;
    eased.diagonal() *= 1.0 + 1e-10;
    if (auto metric = Metric::from_precision(eased)) return *metric;
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
      undetermined(store, model, here.precision), model.prior().describe()));
}

}  // namespace

Anchor anchor_at(const Store& store, const Model& model, const Execution& execution, Vector theta) {
  model.check(store);
  if (theta.size() != model.coefficients(store) || !theta.allFinite())
    throw InputError(fmt::format("the anchor must be {} finite numbers", model.coefficients(store)));
  const Expansion here = expand(store, model, execution, theta);
  Metric metric = metric_of(store, model, here);
  const double distance = metric.whiten_gradient(here.gradient).norm();
  return {std::move(theta), std::move(metric), store.rows(), 0, distance};
}

Anchor find_anchor(const Store& store, const Model& model, const Execution& execution, const AnchorOptions& options) {
  model.check(store);
  Vector theta = Vector::Zero(model.coefficients(store));
  Expansion here = expand(store, model, execution, theta);
  RowId queries = store.rows();
  Vector pivots;  // of the previous step
  for (int steps = 0;; ++steps) {
    if (!std::isfinite(here.value) || !here.precision.allFinite())
      throw InputError(
          "the posterior is beyond double precision where all coefficients are 0; rescale the columns, or choose a "
          "prior that "
          "is wider or nearer to 0");
    Metric metric = metric_of(store, model, here);
    // The Newton step is P^-1 gradient, and its length in posterior standard deviations is ||L^-1 gradient||.
    const Vector white = metric.whiten_gradient(here.gradient);
    const double distance = white.norm();
    // Where classes are separated and the prior is flat, the likelihood has no maximum: it flattens as fast as it is
    // climbed, so that the distance shrinks although each step is as long as the last. There the precision of some
    // coefficient, given those after it, shrinks with every step; near a mode it does not.
    const Vector now = metric.lower().diagonal().cwiseAbs2();
    const bool settled = pivots.size() > 0 && (now.array() > 0.5 * pivots.array()).all();
    pivots = now;
    if (settled && distance < options.tolerance) return {std::move(theta), std::move(metric), queries, steps, distance};
    if (steps == options.most_steps) {
      // Slow, but on its way to a mode: any anchor will do.
      if (settled) return {std::move(theta), std::move(metric), queries, steps, distance};
      throw InputError(fmt::format(
          "the coefficients still grow after {} Newton steps: under a {} prior they do so without end where "
          "a column separates the classes perfectly; use a proper prior of smaller scale, such as "
          "normal(0, 2.5), or leave out the column that separates them",
          steps, model.prior().describe()));
    }
    const Vector step = metric.unwhiten(white);
    for (double fraction = 1.0;; fraction /= 2.0) {
      Expansion there = expand(store, model, execution, theta + fraction * step);
      queries += store.rows();
      // Armijo: at least a sliver of the gain that the gradient promises, as far as a sum so large can show it.
      const double promised = 1e-4 * fraction * distance * distance - 1e-12 * std::abs(here.value);
      if (std::isfinite(there.value) && there.value >= here.value + promised) {
        theta += fraction * step;
        here = std::move(there);
        break;
      }
      if (fraction < 1e-12) throw InputError("no step improves the log posterior; rescale the columns");
    }
  }
}

}  // namespace flymc
