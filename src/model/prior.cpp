// The four priors, written in u = (theta_j - location_j) / scale_j.
#include "flymc/model/prior.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>

#include "flymc/core/error.hpp"
#include "flymc/core/numerics.hpp"
#include "prior_error.hpp"

namespace flymc {

namespace {
constexpr double half_log_two_pi = 0.91893853320467274178;
}  // namespace

Prior::Prior(Kind kind, double nu, const std::vector<double>& location, const std::vector<double>& scale) {
  if (location.empty() || scale.empty()) throw prior_error("no location or no scale given");
  if (location.size() != scale.size() && location.size() != 1 && scale.size() != 1)
    throw prior_error(fmt::format("{} locations and {} scales; give one, or one for each coefficient", location.size(),
                                  scale.size()));
  for (const double x : location)
    if (!std::isfinite(x)) throw prior_error(fmt::format("the location {} is not a finite number", x));
  for (const double s : scale)
    if (!(s > 0.0) || !std::isfinite(s))
      throw prior_error(fmt::format("the scale {} is not {}", s, s > 0.0 ? "a finite number" : "positive"));
  if (kind == Kind::student_t && (!(nu > 0.0) || !std::isfinite(nu)))
    throw prior_error(fmt::format("{} degrees of freedom are not positive", nu));
  const double constant = kind == Kind::student_t ? student_t_log_constant(nu) : 0.0;
  for (std::size_t j = 0; j < std::max(location.size(), scale.size()); ++j) {
    const double s = scale[scale.size() == 1 ? 0 : j];
    marginals_.push_back({kind, nu, location[location.size() == 1 ? 0 : j], s, std::log(s), constant});
  }
}

bool Prior::all(Kind kind) const {
  return std::ranges::all_of(marginals_, [&](const Marginal& of) { return of.kind == kind; });
}
bool Prior::proper() const {
  return std::ranges::none_of(marginals_, [](const Marginal& of) { return of.kind == Kind::flat; });
}
bool Prior::quadratic() const {
  return std::ranges::all_of(marginals_,
                             [](const Marginal& t) { return t.kind == Kind::normal || t.kind == Kind::flat; });
}

Prior Prior::normal(double location, double scale) { return normal(std::vector{location}, std::vector{scale}); }
Prior Prior::normal(const std::vector<double>& location, const std::vector<double>& scale) {
  return {Kind::normal, 0.0, location, scale};
}
Prior Prior::laplace(double location, double scale) { return laplace(std::vector{location}, std::vector{scale}); }
Prior Prior::laplace(const std::vector<double>& location, const std::vector<double>& scale) {
  return {Kind::laplace, 0.0, location, scale};
}
Prior Prior::student_t(double nu, double location, double scale) {
  return student_t(nu, std::vector{location}, std::vector{scale});
}
Prior Prior::student_t(double nu, const std::vector<double>& location, const std::vector<double>& scale) {
  return {Kind::student_t, nu, location, scale};
}
Prior Prior::flat() { return {Kind::flat, 0.0, {0.0}, {1.0}}; }

Prior Prior::each(const std::vector<Prior>& priors) {
  if (priors.empty()) throw prior_error("none is given");
  Prior all = priors.front();
  all.marginals_.clear();
  for (const Prior& prior : priors) {
    prior.check(1);
    all.marginals_.push_back(prior.marginals_.front());
  }
  return all;
}

Prior Prior::one(Index j) const {
  Prior out = *this;
  out.marginals_ = {marginal(j)};
  return out;
}

Prior Prior::scaled(const Vector& scale) const {
  check(scale.size());
  Prior out = *this;
  out.marginals_.clear();
  for (Index j = 0; j < scale.size(); ++j) {
    Marginal of = marginal(j);
    if (of.kind != Kind::flat) {
      of.location *= scale[j];
      of.scale *= scale[j];
      of.log_scale = std::log(of.scale);
      if (!(of.scale > 0.0) || !std::isfinite(of.scale) || !std::isfinite(of.location))
        throw prior_error(
            "beside the size of its column it is beyond double precision; choose a prior nearer to 0, or rescale the "
            "column");
    }
    out.marginals_.push_back(of);
  }
  return out;
}

Prior Prior::parse(const std::string& text) {
  const auto fail = [&] {
    return prior_error(
        fmt::format("'{}' is none of normal(location, scale), laplace(location, scale), "
                    "student_t(degrees of freedom, location, scale), flat",
                    text));
  };
  // Separates the word from the numbers in its brackets.
  std::string plain;
  for (const char c : text)
    if (c != ' ' && c != '\t') plain += c;
  const std::size_t open = plain.find('(');
  const std::string word = plain.substr(0, open);
  std::vector<double> numbers;
  if (open != std::string::npos) {
    if (plain.back() != ')') throw fail();
    const char* at = plain.data() + open + 1;
    const char* const end = plain.data() + plain.size() - 1;
    while (at < end) {
      double number = 0.0;
      const auto [next, error] = std::from_chars(at + (*at == '+' ? 1 : 0), end, number);
      if (error != std::errc() || (next != end && *next != ',') || next + 1 == end) throw fail();
      numbers.push_back(number);
      at = next + 1;
    }
  }
  if (word == "normal" && numbers.size() == 2) return normal(numbers[0], numbers[1]);
  if (word == "laplace" && numbers.size() == 2) return laplace(numbers[0], numbers[1]);
  if (word == "student_t" && numbers.size() == 3) return student_t(numbers[0], numbers[1], numbers[2]);
  if (word == "flat" && numbers.empty()) return flat();
  throw fail();
}

std::string Prior::describe() const {
  const auto one = [&](double Marginal::*member) {
    const double first = marginals_.front().*member;
    const bool same = std::ranges::all_of(marginals_, [&](const Marginal& of) { return of.*member == first; });
    return same ? fmt::format("{}", first) : std::string("per coefficient");
  };
  if (!all(marginals_.front().kind)) return "per coefficient";
  const std::string both = fmt::format("{}, {}", one(&Marginal::location), one(&Marginal::scale));
  switch (marginals_.front().kind) {
    case Kind::normal:
      return fmt::format("normal({})", both);
    case Kind::laplace:
      return fmt::format("laplace({})", both);
    case Kind::student_t:
      return fmt::format("student_t({}, {})", one(&Marginal::nu), both);
    case Kind::flat:
      break;
  }
  return "flat";
}

void Prior::check(Index coefficients) const {
  if (marginals_.size() != 1 && static_cast<Index>(marginals_.size()) != coefficients)
    throw prior_error(fmt::format("{} locations or scales for {} coefficients; give one, or one for each",
                                  marginals_.size(), coefficients));
}

double Prior::log_density(const Vector& theta, Vector* gradient) const {
  if (all(Kind::flat)) return 0.0;
  double sum = 0.0;
  for (Index j = 0; j < theta.size(); ++j) {
    const Marginal& of = marginal(j);
    const double s = of.scale, nu = of.nu;
    const double u = (theta[j] - of.location) / s;
    double slope = 0.0;  // in u
    switch (of.kind) {
      case Kind::normal:
        sum += -0.5 * u * u - half_log_two_pi;
        slope = -u;
        break;
      case Kind::laplace:
        sum += -std::abs(u) - std::numbers::ln2;
        slope = u > 0.0 ? -1.0 : (u < 0.0 ? 1.0 : 0.0);
        break;
      case Kind::student_t:
        sum += of.log_constant - 0.5 * (nu + 1.0) * std::log1p(u * u / nu);
        slope = -(nu + 1.0) * u / (nu + u * u);
        break;
      case Kind::flat:
        break;
    }
    sum -= of.log_scale;
    if (gradient) (*gradient)[j] += slope / s;
  }
  return sum;
}

namespace {
constexpr double corner = 0.01;  // |u| becomes sqrt(u^2 + corner)
}  // namespace

double Prior::Marginal::weight(double u) const {
  if (kind == Kind::normal) return 1.0;
  if (kind == Kind::laplace) return 1.0 / std::sqrt(u * u + corner);
  return kind == Kind::student_t ? (nu + 1.0) / (nu + u * u) : 0.0;
}

double Prior::surrogate(const Vector& theta, Vector& gradient) const {
  if (all(Kind::flat)) return 0.0;
  double sum = 0.0;
  for (Index j = 0; j < theta.size(); ++j) {
    const Marginal& of = marginal(j);
    const double u = (theta[j] - of.location) / of.scale;
    if (of.kind == Kind::normal) sum -= 0.5 * u * u;
    if (of.kind == Kind::laplace) sum -= std::sqrt(u * u + corner);
    if (of.kind == Kind::student_t) sum -= 0.5 * (of.nu + 1.0) * std::log1p(u * u / of.nu);
    gradient[j] -= of.weight(u) * u / of.scale;
  }
  return sum;
}

SparseSymmetric Prior::curvature(Of what, const Vector& theta) const {
  SparseSymmetric out{Vector::Zero(theta.size())};
  if (all(Kind::flat)) return out;
  for (Index j = 0; j < theta.size(); ++j) {
    const Marginal& of = marginal(j);
    const double u = (theta[j] - of.location) / of.scale;
    double of_u = of.weight(u);
    if (what == Of::bend && of.kind == Kind::laplace) of_u = corner / std::pow(u * u + corner, 1.5);
    if (what == Of::bend && of.kind == Kind::student_t)
      of_u = (of.nu + 1.0) * (of.nu - u * u) / ((of.nu + u * u) * (of.nu + u * u));
    // The variance of a Laplace is 2 b^2.
    if (what == Of::corner) of_u = of.kind == Kind::laplace ? std::max(0.0, of_u - 0.5) : 0.0;
    out.diagonal[j] = of_u / (of.scale * of.scale);
  }
  return out;
}

Vector Prior::centre(Index coefficients) const {
  Vector out = Vector::Zero(coefficients);
  for (Index j = 0; j < coefficients; ++j)
    if (marginal(j).kind != Kind::flat) out[j] = marginal(j).location;
  return out;
}

double Prior::strain(Index j, double theta) const {
  const Marginal& of = marginal(j);
  return of.kind == Kind::normal ? std::abs(theta - of.location) / of.scale : 0.0;
}

double Prior::tail_scale(Index j) const {
  const Marginal& of = marginal(j);
  return of.kind == Kind::laplace || of.kind == Kind::student_t ? of.scale : 0.0;
}

std::optional<Prior::StudentT> Prior::student_t_of(Index j) const {
  const Marginal& of = marginal(j);
  if (of.kind != Kind::student_t) return std::nullopt;
  return StudentT{of.nu, of.location, of.scale};
}

Prior Prior::with(std::span<const std::pair<Index, Prior>> others, Index coefficients) const {
  std::vector<Prior> all;
  for (Index j = 0; j < coefficients; ++j) all.push_back(one(j));
  for (const auto& [entry, prior] : others) all[static_cast<std::size_t>(entry)] = prior;
  return each(all);
}

double Prior::deviation(Index j) const {
  const Marginal& of = marginal(j);
  if (of.kind == Kind::normal) return of.scale;
  if (of.kind == Kind::laplace) return std::sqrt(2.0) * of.scale;
  const bool has_one = of.kind == Kind::student_t && of.nu > 2.0;
  return has_one ? of.scale * std::sqrt(of.nu / (of.nu - 2.0)) : HUGE_VAL;
}

Vector Prior::simulate(Index coefficients, const Random& random, Purpose purpose) const {
  if (!proper()) throw InputError("a flat prior has no draws; start from the anchor, or choose a proper prior");
  check(coefficients);
  Vector theta(coefficients);
  const bool normal = all(Kind::normal);
  if (normal) random.normals(purpose, 0, {theta.data(), static_cast<std::size_t>(coefficients)});
  for (Index j = 0; j < coefficients; ++j) {
    const Marginal& of = marginal(j);
    if (!normal) {
      const double log_u = std::log(random.uniform(purpose, static_cast<std::uint64_t>(2 * j)));
      const double v = random.uniform(purpose, static_cast<std::uint64_t>(2 * j + 1));
      // Box and Muller for the normal, Bailey for the t.
      const auto polar = [&](double radius) { return std::sqrt(radius) * std::cos(2.0 * std::numbers::pi * v); };
      theta[j] = of.kind == Kind::laplace  ? (v < 0.5 ? log_u : -log_u)
                 : of.kind == Kind::normal ? polar(-2.0 * log_u)
                                           : polar(of.nu * std::expm1(-2.0 / of.nu * log_u));
    }
    theta[j] = of.location + of.scale * theta[j];
  }
  return theta;
}

}  // namespace flymc
