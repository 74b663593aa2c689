// A Newton step, and a comparison with draws.
#include "flymc/run/laplace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace flymc {

std::optional<Laplace> laplace_of(const Model& model, const Preparation& preparation) {
  if (!preparation.anchor) return std::nullopt;
  const Vector& anchor = preparation.anchor->theta;
  const Index d = anchor.size();
  Metric metric = preparation.anchor->metric;
  Laplace out{anchor, {}};
  if (const auto& bound = preparation.bound; bound && bound->rule().touches() && bound->anchor() == anchor) {
    Vector slope = bound->sums().slope, curvature = Vector::Zero(d);
    model.prior().surrogate(anchor, slope, curvature);
    if (const Matrix& lower = bound->sums().hessian; lower.size() > 0) {
      Matrix precision = lower.selfadjointView<Eigen::Lower>();
      precision.diagonal() += curvature;
      if (auto exact = Metric::from_precision(precision)) metric = *std::move(exact);
    }
    out.mean += metric.unwhiten(metric.whiten_gradient(slope));
  }
  out.factor = metric.lower().transpose().triangularView<Eigen::Upper>().solve(Matrix::Identity(d, d));
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
