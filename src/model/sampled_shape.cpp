// The chain rule between s = log kappa and kappa.
#include "flymc/model/sampled_shape.hpp"

#include <fmt/format.h>

#include <cmath>

#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/data/store.hpp"

namespace flymc {

SampledShape::SampledShape(Prior prior, ShapedTarget target, ShapeParts parts)
    : prior_(std::move(prior)), target_(std::move(target)), parts_(std::move(parts)) {}

void SampledShape::check(Index parameters) const {
  prior_.check(parameters);
  if (parts_.may_be_endless && !prior_.one(parameters - 1).proper())
    throw InputError(
        "the shape has no posterior under a flat prior: however large it is, the likelihood does not vanish; give it a "
        "proper prior, such as student_t(3, 0, 10)");
}

void SampledShape::check_limits(const Vector& theta) const {
  constexpr double least = 1e-6;  // of a target's deviation, relative to its mean: sums of squares hardly resolve less
  if (parts_.may_be_endless || theta[theta.size() - 1] < -2.0 * std::log(least)) return;
  throw InputError(fmt::format(
      "the columns explain the target exactly: it differs from its means by less than {:g} of them, so the "
      "shape grows without limit and has no posterior; leave out the column that holds the target ({}), or, "
      "if the target is one number per level or per value of a column, look it up instead of fitting it",
      least, mention("exclude")));
}

std::shared_ptr<const ParameterBlock> SampledShape::with_targets_of(const Store& store,
                                                                    std::span<const double> weights) const {
  ShapedTarget target;
  for (RowId i = 0; i < store.rows(); ++i) {
    const RowFacts facts = store.facts(i);
    target.targets.push_back(
        {facts.target, facts.weight * (weights.empty() ? 1.0 : weights[static_cast<std::size_t>(i)])});
  }
  return std::make_shared<const SampledShape>(prior_, std::move(target), parts_);
}

double SampledShape::log_likelihood_besides(const Vector& parameters, double target) const {
  return parts_.one(target, std::log(parameters[parameters.size() - 1])).value;
}

Vector SampledShape::parameters(const Vector& theta) const {
  Vector out = theta;
  out[out.size() - 1] = std::exp(theta[theta.size() - 1]);
  return out;
}

Vector SampledShape::theta(const Vector& parameters) const {
  Vector out = parameters;
  out[out.size() - 1] = std::log(parameters[parameters.size() - 1]);
  return out;
}

Vector SampledShape::change(const Vector& theta, const Vector& direction) const {
  Vector out = direction;
  out[out.size() - 1] *= std::exp(theta[theta.size() - 1]);
  return out;
}

double SampledShape::finish(const Vector& theta, double prior, Vector* gradient) const {
  const double s = theta[theta.size() - 1];
  const ShapePart sum = parts(s);
  if (gradient) {
    double& last = (*gradient)[theta.size() - 1];
    last = last * std::exp(s) + 1.0 + sum.slope;
  }
  return prior + s + sum.value;
}

double SampledShape::log_density(const Vector& theta, Vector* gradient) const {
  if (!gradient) return finish(theta, prior_.log_density(parameters(theta)), nullptr);
  Vector slope = Vector::Zero(theta.size());
  const double value = finish(theta, prior_.log_density(parameters(theta), &slope), &slope);
  *gradient += slope;
  return value;
}

double SampledShape::surrogate(const Vector& theta, Vector& gradient) const {
  Vector slope = Vector::Zero(theta.size());
  const double value = finish(theta, prior_.surrogate(parameters(theta), slope), &slope);
  gradient += slope;
  return value;
}

SparseSymmetric SampledShape::curvature(Of what, const Vector& theta) const {
  const Index last = theta.size() - 1;
  const double kappa = std::exp(theta[last]);
  SparseSymmetric out = prior_.curvature(what, parameters(theta));
  out.diagonal[last] *= kappa * kappa;
  if (what == Of::corner) return out;
  Vector slope = Vector::Zero(theta.size());
  prior_.surrogate(parameters(theta), slope);
  out.diagonal[last] -= kappa * slope[last] + parts(theta[last]).bend;
  return out;
}

Vector SampledShape::centre(Index parameters) const {
  Vector at = prior_.centre(parameters);
  at[parameters - 1] = 1.0;
  return theta(at);
}

Vector SampledShape::simulate(Index parameters, const Random& random, Purpose purpose) const {
  Vector at = prior_.simulate(parameters, random, purpose);
  at[parameters - 1] = std::max(std::abs(at[parameters - 1]), 1e-100);
  return theta(at);
}

}  // namespace flymc
