// The four priors, term by term in u = (theta_j - location_j) / scale_j.
#include "flymc/model/prior.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <numbers>

#include "flymc/core/error.hpp"

namespace flymc {

namespace {
constexpr double half_log_two_pi = 0.91893853320467274178;
}  // namespace

Prior::Prior(Kind kind, double nu, std::vector<double> location, std::vector<double> scale)
    : kind_(kind), nu_(nu), location_(std::move(location)), scale_(std::move(scale)) {
  if (kind_ == Kind::flat) return;
  if (location_.empty() || scale_.empty()) throw InputError("prior: no location or no scale given");
  for (const double x : location_)
    if (!std::isfinite(x)) throw InputError(fmt::format("prior: the location {} is not a finite number", x));
  for (const double s : scale_)
    if (!(s > 0.0) || !std::isfinite(s))
      throw InputError(fmt::format("prior: the scale {} is not {}", s, s > 0.0 ? "a finite number" : "positive"));
  if (kind_ == Kind::student_t && (!(nu_ > 0.0) || !std::isfinite(nu_)))
    throw InputError(fmt::format("prior: {} degrees of freedom are not positive", nu_));
  for (const double s : scale_) log_scale_.push_back(std::log(s));
  // Once, here: lgamma writes to a global and must not be called from several chains.
  if (kind_ == Kind::student_t)
    log_constant_ = std::lgamma((nu_ + 1.0) / 2.0) - std::lgamma(nu_ / 2.0) - 0.5 * std::log(nu_ * std::numbers::pi);
}

Prior Prior::normal(double location, double scale) { return normal(std::vector{location}, std::vector{scale}); }
Prior Prior::normal(std::vector<double> location, std::vector<double> scale) {
  return {Kind::normal, 0.0, std::move(location), std::move(scale)};
}
Prior Prior::laplace(double location, double scale) { return laplace(std::vector{location}, std::vector{scale}); }
Prior Prior::laplace(std::vector<double> location, std::vector<double> scale) {
  return {Kind::laplace, 0.0, std::move(location), std::move(scale)};
}
Prior Prior::student_t(double nu, double location, double scale) {
  return student_t(nu, std::vector{location}, std::vector{scale});
}
Prior Prior::student_t(double nu, std::vector<double> location, std::vector<double> scale) {
  return {Kind::student_t, nu, std::move(location), std::move(scale)};
}
Prior Prior::flat() { return {Kind::flat, 0.0, {}, {}}; }

Prior Prior::parse(const std::string& text) {
  const auto fail = [&] {
    return InputError(
        fmt::format("prior: '{}' is none of normal(location, scale), laplace(location, scale), "
                    "student_t(degrees of freedom, location, scale), flat",
                    text));
  };
  // The word, and the numbers between its brackets.
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
  if (kind_ == Kind::flat) return "flat";
  const auto one = [](const std::vector<double>& values) {
    return values.size() == 1 ? fmt::format("{}", values[0]) : std::string("per coefficient");
  };
  const std::string both = fmt::format("{}, {}", one(location_), one(scale_));
  if (kind_ == Kind::normal) return fmt::format("normal({})", both);
  if (kind_ == Kind::laplace) return fmt::format("laplace({})", both);
  return fmt::format("student_t({}, {})", nu_, both);
}

void Prior::check(Index coefficients) const {
  if (kind_ == Kind::flat) return;
  for (const auto* values : {&location_, &scale_})
    if (values->size() != 1 && static_cast<Index>(values->size()) != coefficients)
      throw InputError(fmt::format("prior: {} locations or scales for {} coefficients; give one, or one for each",
                                   values->size(), coefficients));
}

double Prior::log_density(const Vector& theta, Vector* gradient) const {
  if (kind_ == Kind::flat) return 0.0;
  double sum = 0.0;
  for (Index j = 0; j < theta.size(); ++j) {
    const double s = scale(j);
    const double u = (theta[j] - location(j)) / s;
    double slope = 0.0;  // in u
    switch (kind_) {
      case Kind::normal:
        sum += -0.5 * u * u - half_log_two_pi;
        slope = -u;
        break;
      case Kind::laplace:
        sum += -std::abs(u) - std::numbers::ln2;
        slope = u > 0.0 ? -1.0 : (u < 0.0 ? 1.0 : 0.0);
        break;
      case Kind::student_t:
        sum += log_constant_ - 0.5 * (nu_ + 1.0) * std::log1p(u * u / nu_);
        slope = -(nu_ + 1.0) * u / (nu_ + u * u);
        break;
      case Kind::flat:
        break;
    }
    sum -= log_scale_[scale_.size() == 1 ? 0 : static_cast<std::size_t>(j)];
    if (gradient) (*gradient)[j] += slope / s;
  }
  return sum;
}

double Prior::surrogate(const Vector& theta, Vector& gradient, Vector& curvature) const {
  if (kind_ == Kind::flat) return 0.0;
  double sum = 0.0;
  for (Index j = 0; j < theta.size(); ++j) {
    const double s = scale(j);
    const double u = (theta[j] - location(j)) / s;
    double weight = 0.0;  // slope = -weight u, curvature = weight: each term is a quadratic that is reweighted
    switch (kind_) {
      case Kind::normal:
        sum -= 0.5 * u * u;
        weight = 1.0;
        break;
      case Kind::laplace:
        sum -= std::sqrt(u * u + 0.01);
        weight = 1.0 / std::sqrt(u * u + 0.01);
        break;
      case Kind::student_t:
        sum -= 0.5 * (nu_ + 1.0) * std::log1p(u * u / nu_);
        weight = (nu_ + 1.0) / (nu_ + u * u);
        break;
      case Kind::flat:
        break;
    }
    gradient[j] -= weight * u / s;
    curvature[j] += weight / (s * s);
  }
  return sum;
}

Vector Prior::simulate(Index coefficients, const Random& random, Purpose purpose) const {
  if (!proper()) throw InputError("a flat prior has no draws; start from the anchor, or choose a proper prior");
  check(coefficients);
  Vector theta(coefficients);
  if (kind_ == Kind::normal) random.normals(purpose, 0, {theta.data(), static_cast<std::size_t>(coefficients)});
  for (Index j = 0; j < coefficients; ++j) {
    if (kind_ != Kind::normal) {
      const double u = random.uniform(purpose, static_cast<std::uint64_t>(2 * j));
      const double v = random.uniform(purpose, static_cast<std::uint64_t>(2 * j + 1));
      theta[j] = kind_ == Kind::laplace
                     ? (v < 0.5 ? std::log(u) : -std::log(u))
                     : std::sqrt(nu_ * std::expm1(-2.0 / nu_ * std::log(u))) * std::cos(2.0 * std::numbers::pi * v);
    }
    theta[j] = location(j) + scale(j) * theta[j];
  }
  return theta;
}

}  // namespace flymc
