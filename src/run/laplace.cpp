// A Newton step, and a comparison with draws.
#include "flymc/run/laplace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace flymc {

std::optional<Laplace> laplace_of(const Model& model, const Preparation& preparation) {
  if (!preparation.anchor) return std::nullopt;
  const Anchor& anchor = *preparation.anchor;
  const Bound* bound = preparation.bound ? &*preparation.bound : nullptr;
  const bool has_slope = bound && bound->rule().touches() && bound->anchor() == anchor.theta;
  if (!has_slope && anchor.distance > AnchorOptions{}.tolerance) return std::nullopt;

  const Index d = anchor.theta.size();
  Vector slope = Vector::Zero(d), stand_in = Vector::Zero(d);
  model.prior().surrogate(anchor.theta, slope, stand_in);
  Matrix precision;
  if (has_slope && bound->sums().hessian.size() > 0) {
    precision = bound->sums().hessian.selfadjointView<Eigen::Lower>();
  } else {
    precision = anchor.metric.precision();
    precision.diagonal() -= stand_in;
  }
  precision.diagonal() += model.prior().surrogate_bend(anchor.theta);
  const auto metric = Metric::from_precision(precision);
  if (!metric) return std::nullopt;
  Laplace out{anchor.theta, {}};
  if (has_slope) out.mean += metric->unwhiten(metric->whiten_gradient(slope + bound->sums().slope));
  out.factor = metric->lower().transpose().triangularView<Eigen::Upper>().solve(Matrix::Identity(d, d));
  return out;
}

std::vector<LaplaceCheck> check_laplace(std::span<const ParameterSummary> parameters, const Vector& mean,
                                        const Vector& sd) {
  std::vector<LaplaceCheck> out;
  for (std::size_t j = 0; j < parameters.size(); ++j) {
    const ParameterSummary& p = parameters[j];
    const auto i = static_cast<Index>(j);
    out.push_back({(p.mean - mean[i]) / sd[i], p.mcse_mean / sd[i], p.sd / sd[i], p.mcse_sd / sd[i]});
  }
  return out;
}

std::string format_table(std::span<const ParameterSummary> parameters, std::span<const LaplaceCheck> checks) {
  std::size_t width = 9;
  std::vector<std::string> names;
  for (const ParameterSummary& p : parameters) {
    names.push_back(readable_name(p.name));
    width = std::max(width, display_width(names.back()));
  }
  std::string out =
      fmt::format("{:{}}  {:>7} {:>7}  {:>8} {:>7}\n", "parameter", width, "shift", "mcse", "sd ratio", "mcse");
  for (std::size_t j = 0; j < checks.size(); ++j) {
    const LaplaceCheck& c = checks[j];
    out += names[j] + std::string(width - display_width(names[j]), ' ') +
           fmt::format("  {:>7.3f} {:>7.3f}  {:>8.3f} {:>7.3f}\n", c.shift, c.shift_mcse, c.ratio, c.ratio_mcse);
  }
  return out;
}

}  // namespace flymc
