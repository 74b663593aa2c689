// Groups rows by leaders: a row joins the first leader that it is similar to, or becomes a leader.
#include "flymc/bound/stand_ins.hpp"

#include <Eigen/Cholesky>
#include <cmath>

namespace flymc {
namespace {

// F such that |F'(x - y)|^2 is the posterior variance of the difference between two rows' changes: summed over
// predictors, or over pairs of predictors if the likelihood depends on differences alone.
Matrix change_factor(const Precision& metric, const Arrangement& arrangement, bool only_differences) {
  const Index predictors = arrangement.predictors(), d = arrangement.features(metric.dimension());
  const Matrix half = metric.covariance_factor();  // covariance = half half'
  Matrix sum = Matrix::Zero(d, d);
  if (arrangement.last_is_shared()) {  // the shared predictor is the same for all rows
    sum = half * half.transpose();
    sum.row(d - 1).setZero();
    sum.col(d - 1).setZero();
    sum(d - 1, d - 1) = 1.0;
    return Eigen::LLT<Matrix>(sum).matrixL();
  }
  const auto block = [&](Index p) { return half.middleRows(p * d, d); };
  for (Index p = 0; p < predictors; ++p) {
    if (!only_differences) sum += block(p) * block(p).transpose();
    for (Index q = 0; only_differences && q < p; ++q) {
      const Matrix difference = block(p) - block(q);
      sum += difference * difference.transpose();
    }
  }
  return Eigen::LLT<Matrix>(sum).matrixL();
}

}  // namespace

StandIns stand_ins(const BoundRows& rows, const BatchedFamily& family, const Precision& metric, double likeness) {
  const double alike = 0.002 * std::pow(likeness * family.unit(), 2);  // limit of the variance of their difference
  const double near = 0.25 * likeness;  // limit for predictors and targets, in units of 1 / sqrt(global curvature)
  constexpr std::size_t least = 8, too_few = 64;
  const std::size_t n = rows.size(), k = static_cast<std::size_t>(family.predictors());
  StandIns out;
  if (n < too_few) return out;
  const Index d = rows.x.features();
  const Matrix factor = change_factor(metric, family.arrangement(), family.only_differences());
  RowMatrix place(static_cast<Index>(n), d);
  rows.x.project(factor, {place.data(), static_cast<std::size_t>(place.size())});
  std::vector<double> global(n * k * k);
  family.scale_curvature(rows.facts.target, rows.eta_anchor, global);  // for a row of weight 1

  const std::vector<double>& target = rows.facts.target;
  FactColumns& means = out.rows.facts;  // multiplied by the weight until the end
  means = FactColumns({.offset = rows.facts.kinds.offset});
  std::vector<std::size_t> leaders;
  Matrix sums(d, static_cast<Index>(n / least + 1));  // a column for each leader
  for (std::size_t i = 0; i < n; ++i) {
    const RowFacts own = rows.facts.spans()[i];
    if (own.weight == 0.0) continue;
    const double scale = std::sqrt(global[i * k * k]);
    const auto like = [&](std::size_t leader) {
      if (std::abs(target[i] - target[leader]) * scale > near) return false;
      for (std::size_t j = 0; j < k; ++j)
        if (std::abs(rows.eta_anchor[i * k + j] - rows.eta_anchor[leader * k + j]) * scale > near) return false;
      double squares = 0.0;
      const double *a = place.row(static_cast<Index>(i)).data(), *b = place.row(static_cast<Index>(leader)).data();
      for (Index j = 0; j < d; ++j) {
        squares += (a[j] - b[j]) * (a[j] - b[j]);
        if (squares > alike) return false;
      }
      return true;
    };
    std::size_t c = 0;
    while (c < leaders.size() && !like(leaders[c])) ++c;
    if (c == leaders.size()) {
      if (leaders.size() == n / least) return {};
      leaders.push_back(i);
      out.weight.push_back(0.0);
      out.rows.row.push_back(rows.row[i]);
      means.push_back(0.0);
      sums.col(static_cast<Index>(c)).setZero();
    }
    out.weight[c] += own.weight;
    means.target[c] += own.weight * own.target;
    if (means.kinds.offset) means.offset[c] += own.weight * own.offset;
    rows.x.add_row(i, own.weight, sums.col(static_cast<Index>(c)));
  }
  std::vector<double> features;
  for (std::size_t c = 0; c < leaders.size(); ++c) {
    means.each([&](std::vector<double>& column) { column[c] /= out.weight[c]; });
    for (Index j = 0; j < d; ++j) features.push_back(sums(j, static_cast<Index>(c)) / out.weight[c]);
  }
  out.rows.x.assign(d, features);
  return out;
}

}  // namespace flymc
