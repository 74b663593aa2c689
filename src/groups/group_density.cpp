// The parts of the density that a chain shares with all others.
#include "flymc/groups/group_density.hpp"

#include <cmath>

#include "flymc/core/error.hpp"

namespace flymc {

GroupDensity::GroupDensity(const GroupBound& bound) : bound_(&bound) {
  const Vector& at = bound.anchor().at.border;
  const Term& term = model().model.term();
  prior_slope_ = Vector::Zero(at.size());
  term.surrogate(at, prior_slope_);
  prior_precision_ = Matrix::Zero(at.size(), at.size());
  term.curvature(Term::Of::surrogate, at).add_to(prior_precision_, 1.0);
  prior_precision_.triangularView<Eigen::StrictlyUpper>() = prior_precision_.transpose();
  border_factor_.compute(Matrix(bound.sums().curvature.selfadjointView<Eigen::Lower>()) + prior_precision_);
  if (border_factor_.info() != Eigen::Success)
    throw InputError("the coefficients are not determined by the rows and their priors");
  // Given the effects, log sd has a standard deviation of about 1 / sqrt(2 G); moved together with them, it has that of
  // the rows' information about a common factor of the effects.
  for (std::size_t f = 0; f < layout().factors(); ++f) {
    const Index k = layout().width(f), groups = layout().groups(f);
    double information = 0.0;
    for (Index g = 0; g < groups; ++g)
      for (Index j = 0; j < k; ++j)
        information += bound.sums().effects[f].blocks(g * k + j, j) * bound.anchor().covariances[f](j, j);
    information_.push_back(information);
  }
}

double GroupDensity::log_prior(const Vector& coefficients, const Vector& theta, Vector* gradient) const {
  double sum = model().model.term().log_density(coefficients, gradient);
  if (!model().model.scales_coefficients() || !std::isfinite(sum)) return sum;
  const Index at = model().model.before_block(coefficients.size());
  const double unit = unit_of_effects(model().model, coefficients);
  double slope = 0.0;  // in the unit
  for (std::size_t f = 0; f < layout().factors(); ++f)
    for (Index j = 0; j < layout().width(f); ++j) {
      const double sd = layout().scales(theta, f)[static_cast<std::size_t>(j)];
      sum += prior(f).of(j).log_density(sd * unit) + std::log(unit);
      slope += sd * prior(f).of(j).slope(sd * unit) + 1.0 / unit;
    }
  if (gradient) {
    Vector along = Vector::Zero(coefficients.size());
    along[at] = 1.0;
    (*gradient)[at] += slope * model().model.parameter_change(coefficients, along)[at];
  }
  return sum;
}

void GroupDensity::slope_of_group(std::size_t f, Index group, const Effects& change, double* out) const {
  const Index k = layout().width(f), d = layout().border();
  const EffectSums& own = bound_->sums().effects[f];
  for (Index j = 0; j < k; ++j) out[j] = 0.0;
  for (std::size_t h = 0; h < layout().factors(); ++h)
    if (h != f) bound_->pairs(f, h).add_product(group, change.groups[h], out);
  for (Index j = 0; j < k; ++j)
    out[j] = own.slope(group, j) - dot(own.couplings.data() + (group * k + j) * d, change.border.data(), d) - out[j];
}

double GroupDensity::collapsed(const Effects& change) const {
  const GroupSums& sums = bound_->sums();
  double sum = sums.value + sums.slope.dot(change.border) -
               0.5 * change.border.dot(sums.curvature.selfadjointView<Eigen::Lower>() * change.border);
  std::vector<double> slope;
  for (std::size_t f = 0; f < layout().factors(); ++f) {
    const Index k = layout().width(f), groups = layout().groups(f);
    const RowMatrix& u = change.groups[f];
    slope.resize(static_cast<std::size_t>(k));
    for (Index g = 0; g < groups; ++g) {
      // Each pair of factors counts once: half from either side.
      slope_of_group(f, g, change, slope.data());
      const auto blocks = sums.effects[f].blocks.middleRows(g * k, k);
      for (Index j = 0; j < k; ++j) {
        double own = 0.0;
        for (Index l = 0; l < k; ++l) own += (l <= j ? blocks(j, l) : blocks(l, j)) * u(g, l);
        const double border = dot(sums.effects[f].couplings.data() + (g * k + j) * layout().border(),
                                  change.border.data(), layout().border());
        const double alone = sums.effects[f].slope(g, j) - border;
        sum += u(g, j) * (0.5 * (alone + slope[static_cast<std::size_t>(j)]) - 0.5 * own);
      }
    }
  }
  return sum;
}

double GroupDensity::log_priors(const Vector& theta) const {
  const Vector coefficients = layout().coefficients(theta);
  double sum = model().model.term().log_density(coefficients, nullptr);
  const double unit = unit_of_effects(model().model, coefficients);
  for (std::size_t f = 0; f < layout().factors(); ++f)
    sum += log_density_of_scales(layout().scales(theta, f), layout().width(f), squares(theta, f),
                                 static_cast<double>(layout().groups(f)), prior(f), unit);
  return sum;
}

double GroupDensity::log_density(GroupPlace& place) const {
  return collapsed(place.change()) + log_priors(place.theta()) + place.rest();
}

}  // namespace flymc
