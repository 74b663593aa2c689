// From the mode of coefficients and effects to about their mean.
#include <algorithm>
#include <cmath>

#include "flymc/groups/group_anchor.hpp"
#include "flymc/groups/group_sums.hpp"

namespace flymc {

// To first order the mean differs from the mode by P^-1 sum_n t_n v_n (x, w)_n / 2. t_n is the third derivative of the
// row's log likelihood, v_n the variance of its linear predictor, and P the precision. The likelihoods of groups with few
// rows are skewed; with many groups the intercept differs by several of its standard deviations.
void move_to_mean(const GroupedRows& rows, const GroupMetric& metric, const GroupMetric& given_carried,
                  const Execution& execution, Effects& at) {
  const BatchedFamily& family = rows.model().model.family();
  const double apart = 0.02 * family.unit();
  const auto skew = [&](const Block& part, const Vector& eta, RowTerms& out) {
    const auto n = static_cast<std::size_t>(part.rows());
    std::vector<double> above(n), below(n), curvature_above(n), curvature_below(n);
    RowMatrix linear;
    if (!rows.slopes().empty()) part.predict(rows.weights_of(at.border), linear);
    for (std::size_t i = 0; i < n; ++i) {
      above[i] = eta[static_cast<Index>(i)] + apart;
      below[i] = eta[static_cast<Index>(i)] - apart;
    }
    family.likelihood(part.facts(), above, {}, {}, curvature_above);
    family.likelihood(part.facts(), below, {}, {}, curvature_below);
    Vector w;
    for (std::size_t f = 0; f < rows.factors(); ++f) {
      if (rows.is_carried(f)) continue;
      const auto group = part.groups(rows.model().effects[f].factor);
      const Index k = rows.layout().width(f);
      w.resize(k);
      for (std::size_t i = 0; i < n; ++i) {
        for (Index j = 0; j < k; ++j) {
          const Index slope = rows.slope_of(f, j);
          w[j] = slope < 0 ? 1.0 : linear(static_cast<Index>(i), slope + 1);
        }
        metric.groups[f].middleRows(static_cast<Index>(group[i]) * k, k).triangularView<Eigen::Lower>().solveInPlace(w);
        out.slope[static_cast<Index>(i)] -=
            0.5 * (curvature_above[i] - curvature_below[i]) / (2.0 * apart) * w.squaredNorm();
      }
    }
  };
  const GroupSums sums =
      sum_by_groups(rows, at, {std::vector<bool>(rows.factors(), true), false, nullptr}, execution, skew);
  const std::size_t lead = rows.leading();
  constexpr double most = 1.5;  // standard deviations of a group's effects
  const auto white = [&](std::size_t f, Index g) {
    const Index k = rows.layout().width(f);
    Vector out = sums.effects[f].slope.row(g).transpose();
    given_carried.groups[f].middleRows(g * k, k).triangularView<Eigen::Lower>().solveInPlace(out);
    return out;
  };
  // The groups of the leading factor are eliminated first.
  const auto lower = given_carried.border.triangularView<Eigen::Lower>();
  Vector border = sums.slope;
  for (Index g = 0; g < rows.layout().groups(lead); ++g) {
    const Index k = rows.layout().width(lead);
    border.noalias() -= given_carried.couplings.middleRows(g * k, k).transpose() * white(lead, g);
  }
  border = lower.transpose().solve(Vector(lower.solve(border)));
  for (std::size_t f = 0; f < rows.factors(); ++f) {
    if (rows.is_carried(f)) continue;
    const Index k = rows.layout().width(f);
    for (Index g = 0; g < rows.layout().groups(f); ++g) {
      Vector own = white(f, g);
      if (own.norm() > most) own *= most / own.norm();
      if (f == lead) own.noalias() -= given_carried.couplings.middleRows(g * k, k) * border;
      given_carried.groups[f].middleRows(g * k, k).triangularView<Eigen::Lower>().transpose().solveInPlace(own);
      at.groups[f].row(g) += own.transpose();
    }
  }
  at.border += border;
}

}  // namespace flymc
