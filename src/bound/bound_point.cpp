// The point of theta in a bound's zone, and the collapsed sum there.
#include <algorithm>
#include <cmath>

#include "flymc/bound/bound.hpp"

namespace flymc {

void BoundPoint::pull_to_theta(Vector& gradient) const {
  if (!outside()) return;
  const double along = from_anchor.dot(gradient) / (beyond * rho);
  gradient = (gradient - along * rho_gradient) / beyond;
}

BoundPoint Bound::at_distance(Vector change, double rho) const {
  BoundPoint point;
  point.rho = rho;
  point.change = family_->arrangement().columns(change);
  if (rho > radius()) {
    point.beyond = rho / radius();
    point.rho = radius();
    point.change /= point.beyond;
  }
  if (family_->only_differences()) point.change.colwise() -= Vector(point.change.col(0));
  point.from_anchor = std::move(change);
  return point;
}

BoundPoint Bound::at(const Vector& theta, bool with_gradient) const {
  if (!uses_rho()) return at_distance(theta - anchor_, 0.0);
  const Vector white = metric_->whiten(theta - anchor_);
  const double rho = white.norm();
  BoundPoint point = at_distance(theta - anchor_, rho);
  if (with_gradient && (rule_->grows() || point.outside()))
    // d ||L'change|| / d theta = L (L'change) / rho; at the anchor itself rho multiplies terms that vanish.
    point.rho_gradient = rho > 0.0 ? metric_->unwhiten_gradient(white / rho) : Vector(Vector::Zero(theta.size()));
  return point;
}

// V + s'Delta - Delta'C Delta / 2 - rho Delta'Q Delta / 2.
double Bound::log_sum(const BoundPoint& point, Vector* gradient) const {
  const Vector change = family_->arrangement().entries_of(point.change);
  const Vector bend = sums_.curvature.selfadjointView<Eigen::Lower>() * change;
  double sum = sums_.value + sums_.slope.dot(change) - 0.5 * change.dot(bend);
  if (gradient) *gradient += sums_.slope - bend;
  if (rule_->grows()) {
    const Vector grown = sums_.growth.selfadjointView<Eigen::Lower>() * change;
    const double form = change.dot(grown);
    sum -= 0.5 * point.rho * form;
    if (gradient) *gradient -= point.rho * grown + 0.5 * form * point.rho_gradient;
  }
  return sum;
}

double Bound::gap_growth(const BoundPoint& point) const {
  const double times = point.rho / std::sqrt(static_cast<double>(anchor_.size()));
  return std::max(1.0, rule_->grows() ? times * times * times : times * times);
}

}  // namespace flymc
