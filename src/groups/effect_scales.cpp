// Densities of standard deviations and correlations, and their slice updates.
#include "flymc/groups/effect_scales.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <cstdio>
#include <optional>

#include "flymc/core/error.hpp"
#include "flymc/core/names.hpp"
#include "flymc/groups/slice_number.hpp"

namespace flymc {
namespace {

// The factor of the correlations; empty if they are not positive definite.
std::optional<Matrix> correlation_factor(std::span<const double> scales, Index effects) {
  Matrix r = Matrix::Identity(effects, effects);
  auto next = scales.begin() + effects;
  for (Index i = 1; i < effects; ++i)
    for (Index j = 0; j < i; ++j) r(i, j) = r(j, i) = *next++;
  const Eigen::LLT<Matrix> llt(r);
  if (llt.info() != Eigen::Success || !(llt.matrixLLT().diagonal().array() > 1e-7).all()) return std::nullopt;
  return Matrix(llt.matrixL());
}

}  // namespace

ScalePrior::ScalePrior(Kind kind, double nu, double scale) : kind_(kind), nu_(nu), scale_(scale) {
  if (!(scale > 0.0) || !std::isfinite(scale) || !(nu > 0.0) || !std::isfinite(nu))
    throw InputError("the prior of a standard deviation needs positive finite numbers");
}

ScalePrior ScalePrior::half_student_t(double nu, double scale) { return {Kind::half_student_t, nu, scale}; }
ScalePrior ScalePrior::half_normal(double scale) { return {Kind::half_normal, 1.0, scale}; }
ScalePrior ScalePrior::exponential(double rate) { return {Kind::exponential, 1.0, 1.0 / rate}; }

ScalePrior ScalePrior::parse(const std::string& text) {
  double a = 0.0, b = 0.0;
  int end = 0;
  const auto whole = [&] { return end > 0 && static_cast<std::size_t>(end) == text.size(); };
  if (std::sscanf(text.c_str(), "half_student_t(%lf ,%lf )%n", &a, &b, &end) == 2 && whole())
    return half_student_t(a, b);
  if (std::sscanf(text.c_str(), "student_t(%lf , 0 ,%lf )%n", &a, &b, &end) == 2 && whole())
    return half_student_t(a, b);
  if (std::sscanf(text.c_str(), "normal( 0 ,%lf )%n", &a, &end) == 1 && whole()) return half_normal(a);
  if (std::sscanf(text.c_str(), "half_normal(%lf )%n", &a, &end) == 1 && whole()) return half_normal(a);
  if (std::sscanf(text.c_str(), "exponential(%lf )%n", &a, &end) == 1 && whole()) return exponential(a);
  throw InputError(fmt::format(
      "'{}' is no prior of a standard deviation; write half_student_t(3, 2.5), half_normal(1) or exponential(1)",
      on_one_line(text)));
}

double ScalePrior::log_density(double sd) const {
  if (!(sd > 0.0)) return -HUGE_VAL;
  const double u = sd / scale_;
  switch (kind_) {
    case Kind::half_student_t:
      return -0.5 * (nu_ + 1.0) * std::log1p(u * u / nu_);
    case Kind::half_normal:
      return -0.5 * u * u;
    case Kind::exponential:
      break;
  }
  return -u;
}

double ScalePrior::slope(double sd) const {
  const double u = sd / scale_;
  switch (kind_) {
    case Kind::half_student_t:
      return -(nu_ + 1.0) * u / (nu_ + u * u) / scale_;
    case Kind::half_normal:
      return -u / scale_;
    case Kind::exponential:
      break;
  }
  return -1.0 / scale_;
}

std::string ScalePrior::describe() const {
  switch (kind_) {
    case Kind::half_student_t:
      return fmt::format("half_student_t({:g}, {:g})", nu_, scale_);
    case Kind::half_normal:
      return fmt::format("half_normal({:g})", scale_);
    case Kind::exponential:
      break;
  }
  return fmt::format("exponential({:g})", 1.0 / scale_);
}

Matrix covariance_of(std::span<const double> scales, Index effects) {
  Matrix out(effects, effects);
  auto next = scales.begin() + effects;
  for (Index i = 0; i < effects; ++i) {
    const double sd = scales[static_cast<std::size_t>(i)];
    out(i, i) = sd * sd;
    for (Index j = 0; j < i; ++j)
      out(i, j) = out(j, i) = next == scales.end() ? 0.0 : *next++ * sd * scales[static_cast<std::size_t>(j)];
  }
  return out;
}

std::vector<double> scales_of(const Matrix& covariance, bool correlated) {
  std::vector<double> out;
  const Vector sd = covariance.diagonal().cwiseSqrt();
  out.assign(sd.data(), sd.data() + sd.size());
  for (Index i = 1; correlated && i < sd.size(); ++i)
    for (Index j = 0; j < i; ++j) out.push_back(covariance(i, j) / (sd[i] * sd[j]));
  return out;
}

double log_density_of_scales(std::span<const double> scales, Index effects, const Matrix& squares, double groups,
                             const EffectsPrior& prior, double unit) {
  double sum = 0.0;
  for (Index j = 0; j < effects; ++j) {
    const double sd = scales[static_cast<std::size_t>(j)];
    if (!(sd > 0.0) || !std::isfinite(sd)) return -HUGE_VAL;
    sum += prior.of(j).log_density(sd * unit) + std::log(unit) - groups * std::log(sd);
  }
  if (static_cast<Index>(scales.size()) == effects) {
    for (Index j = 0; j < effects; ++j) {
      const double sd = scales[static_cast<std::size_t>(j)];
      sum -= 0.5 * squares(j, j) / (sd * sd);
    }
    return sum;
  }
  const auto lower = correlation_factor(scales, effects);
  if (!lower) return -HUGE_VAL;
  // tr(covariance^-1 squares) = tr(R^-1 D^-1 squares D^-1).
  const Eigen::Map<const Vector> sd(scales.data(), effects);
  Matrix scaled = sd.cwiseInverse().asDiagonal() * squares * sd.cwiseInverse().asDiagonal();
  const auto solver = lower->triangularView<Eigen::Lower>();
  solver.solveInPlace(scaled);
  const double trace = solver.solve(Matrix(scaled.transpose())).trace();
  return sum + (2.0 * (prior.lkj - 1.0) - groups) * lower->diagonal().array().log().sum() - 0.5 * trace;
}

void draw_scales(std::span<double> scales, Index effects, const Matrix& squares, double groups,
                 const EffectsPrior& prior, double unit, const Random& random, std::uint64_t update) {
  const auto density = [&](double& number, double value) {
    const double kept = number;
    number = value;
    const double out = log_density_of_scales(scales, effects, squares, groups, prior, unit);
    number = kept;
    return out;
  };
  const double width = 3.0 / std::sqrt(2.0 * std::max(1.0, groups));
  for (std::size_t j = 0; j < scales.size(); ++j) {
    double& number = scales[j];
    if (static_cast<Index>(j) < effects) {
      // The logarithm of a standard deviation is drawn: the density of log sd is sd times that of sd.
      const double drawn = slice_number(
          std::log(number), width, [&](double x) { return density(number, std::exp(x)) + x; }, random,
          numbered(update, j));
      number = std::exp(drawn);
    } else {
      number = slice_number(
          number, width, [&](double x) { return std::abs(x) < 1.0 ? density(number, x) : -HUGE_VAL; }, random,
          numbered(update, j));
    }
  }
}

}  // namespace flymc
