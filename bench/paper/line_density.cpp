// Predictors along a line, and the sum of logarithms as logarithms of products.
#include "line_density.hpp"

#include <cmath>

#include "flymc/core/error.hpp"

namespace flymc::paper {

LineDensity::LineDensity(const Store& store, StudentT family, Prior prior)
    : store_(store), family_(family), prior_(std::move(prior)) {
  for (std::size_t b = 0; b < store.blocks(); ++b) {
    const auto targets = store.block(b).facts().target;
    y_.insert(y_.end(), targets.begin(), targets.end());
  }
}

void LineDensity::predict(const Vector& theta, std::vector<double>& out) const {
  out.resize(y_.size());
  const Matrix weights = theta;
  RowMatrix eta;
  for (std::size_t b = 0; b < store_.blocks(); ++b) {
    const Block& block = store_.block(b);
    block.predict(weights, eta);
    std::copy(eta.data(), eta.data() + eta.size(), out.begin() + block.first_row());
  }
}

// -(nu + 1)/2 sum_n log(1 + r_n^2 / (nu sigma^2)), eight rows per logarithm: a factor is below 10^38 as long as a
// residual is below 10^19 scales, so that the product of eight cannot overflow.
double LineDensity::log_likelihood(double t) const {
  constexpr std::size_t together = 8;
  const double scale = 1.0 / (family_.nu * family_.sigma * family_.sigma);
  const std::size_t n = y_.size();
  double sum = 0.0;
  std::size_t i = 0;
  for (; i + together <= n; i += together) {
    double product = 1.0;
    for (std::size_t j = i; j < i + together; ++j) {
      const double r = y_[j] - (eta_[j] + t * slope_[j]);
      product *= 1.0 + r * r * scale;
    }
    sum += std::log(product);
  }
  for (; i < n; ++i) {
    const double r = y_[i] - (eta_[i] + t * slope_[i]);
    sum += std::log1p(r * r * scale);
  }
  return -0.5 * (family_.nu + 1.0) * sum;
}

RowId LineDensity::evaluate(const Vector& theta, const BrightRows&, bool with_gradient, Evaluation& out) const {
  if (with_gradient) throw InputError("a density along lines has no gradient");
  // Updated predictors drift by an ulp per line, so they are recomputed from time to time.
  constexpr int lines_between_refreshes = 200;
  if (origin_.size() == 0) {
    origin_ = theta;
    direction_ = Vector::Zero(theta.size());
    predict(theta, eta_);
    slope_.assign(y_.size(), 0.0);
  }
  const Vector offset = theta - origin_;
  const double length = direction_.squaredNorm();
  const double t = length > 0.0 ? offset.dot(direction_) / length : 0.0;
  const double rounding = 1e-6 * offset.norm() + 1e-13 * theta.norm();
  if ((offset - t * direction_).norm() <= rounding) {
    last_ = t;
  } else {
    origin_ += last_ * direction_;
    if (++lines_ % lines_between_refreshes == 0) {
      predict(origin_, eta_);
    } else {
      for (std::size_t i = 0; i < eta_.size(); ++i) eta_[i] += last_ * slope_[i];
    }
    direction_ = theta - origin_;
    predict(direction_, slope_);
    last_ = 1.0;
  }
  out.log_density = log_likelihood(last_) + prior_.log_density(theta);
  return store_.rows();
}

}  // namespace flymc::paper
