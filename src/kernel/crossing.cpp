// Mixtures over the places of one or two coefficients, and their acceptance probabilities.
#include "flymc/kernel/crossing.hpp"

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "flymc/core/error.hpp"
#include "flymc/core/numerics.hpp"
#include "flymc/core/precision.hpp"

namespace flymc {
namespace {

// The least weight of a place, as a share of an equal weight, before the weights are divided by their sum. If the rows
// do not limit a coefficient, only the prior proposes the posterior's tail; if it were proposed rarely, a chain far out
// would stay there for long.
constexpr double least_weight = 0.5;
constexpr double degrees = 5.0;          // of the Student-t around the normal: its tails are longer than a likelihood's
constexpr double correlated = 0.4;       // coefficients with a larger correlation, given all others, also move in pairs
constexpr std::uint64_t addresses = 16;  // number of random addresses of one move

// The mixture over the places of a block: component s has bit i set if coefficient i is in its spike.
class Mixture {
 public:
  Mixture(std::vector<StudentTOfEntry> priors, Vector mean, Matrix covariance)
      : priors_(std::move(priors)), mean_(std::move(mean)), covariance_(std::move(covariance)) {
    const std::size_t n = std::size_t{1} << priors_.size();
    std::vector<double> mass(n);
    for (std::size_t s = 0; s < n; ++s) mass[s] = log_mass(priors_, mean_, covariance_, places(s));
    const double largest = *std::ranges::max_element(mass);
    double sum = 0.0, total = 0.0;
    for (double& m : mass) sum += (m = std::exp(m - largest));
    for (double& m : mass) total += (m = std::max(m / sum, least_weight / static_cast<double>(n)));
    for (const double m : mass) weights_.push_back(m / total);
  }

  Vector draw(const Random& random, std::uint64_t address) const {
    double u = random.uniform(Purpose::move, address);
    std::size_t s = 0;
    while (s + 1 < weights_.size() && u >= weights_[s]) u -= weights_[s++];
    Vector x(mean_.size());
    visit(s, x, [&](Index i, const StudentTOfEntry& density) {
      const auto at = address + 1 + 2 * static_cast<std::uint64_t>(i);
      const double log_u = std::log(random.uniform(Purpose::move, at)), v = random.uniform(Purpose::move, at + 1);
      x[i] = density.location + density.scale * std::sqrt(density.nu * std::expm1(-2.0 / density.nu * log_u)) *
                                    std::cos(2.0 * std::numbers::pi * v);
    });
    return x;
  }

  double log_density(const Vector& at) const {
    std::vector<double> logs;
    for (std::size_t s = 0; s < weights_.size(); ++s) {
      double sum = std::log(weights_[s]);
      Vector x = at;
      visit(s, x, [&](Index i, const StudentTOfEntry& density) { sum += density.log_density(x[i]); });
      logs.push_back(sum);
    }
    const double largest = *std::ranges::max_element(logs);
    double sum = 0.0;
    for (const double l : logs) sum += std::exp(l - largest);
    return largest + std::log(sum);
  }

 private:
  AtPrior places(std::size_t subset) const {
    AtPrior out(priors_.size());
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = (subset >> i & 1) != 0;
    return out;
  }
  // Calls f for each coefficient with its density given the earlier ones: first those in their spikes, then the others.
  template <class F>
  void visit(std::size_t subset, const Vector& x, F&& f) const {
    const AtPrior at_prior = places(subset);
    Vector mean = mean_;
    Matrix covariance = covariance_;
    for (const bool spike : {true, false})
      for (std::size_t k = 0; k < priors_.size(); ++k) {
        if (at_prior[k] != spike) continue;
        const auto i = static_cast<Index>(k);
        const double variance = covariance(i, i);
        f(i, spike ? priors_[k] : StudentTOfEntry{i, degrees, mean[i], std::sqrt(variance)});
        const Vector part = covariance.col(i) / variance;
        mean += (x[i] - mean[i]) * part;
        covariance -= Matrix(part * covariance.row(i));
      }
  }

  std::vector<StudentTOfEntry> priors_;
  Vector mean_;
  Matrix covariance_;
  std::vector<double> weights_;
};

}  // namespace

Crossing::Crossing(const Density& density, std::shared_ptr<const LongTails> tails, int moves)
    : density_(&density), tails_(std::move(tails)), moves_(moves) {
  if (tails_->empty()) throw InputError("there are no coefficients to move");
  if (tails_->mean().size() != density.dimension())
    throw InputError("the coefficients to move are those of another density");
  const Index d = density.dimension();
  kept_ = tails_->entries();
  if (tails_->model().scales_coefficients()) kept_.push_back(d - 1);
  const auto n = static_cast<Index>(kept_.size());
  const Precision metric = Precision::of(tails_->precision()).value();
  Matrix columns(d, n);
  for (Index i = 0; i < n; ++i) columns.col(i) = metric.solve(Vector::Unit(d, kept_[static_cast<std::size_t>(i)]));
  const Matrix covariance = columns(kept_, Eigen::all);
  kept_precision_ =
      Eigen::LLT<Matrix>(Matrix(0.5 * (covariance + covariance.transpose()))).solve(Matrix::Identity(n, n));
  kept_mean_ = tails_->mean()(kept_);
  carry_ = columns * kept_precision_;
  for (const Index entry : kept_) carry_.row(entry).setZero();

  const std::size_t count = tails_->size();
  for (std::size_t i = 0; i < count; ++i) blocks_.push_back({i});
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t k = i + 1; k < count; ++k) {
      const auto a = static_cast<Index>(i), b = static_cast<Index>(k);
      const double size = std::sqrt(kept_precision_(a, a) * kept_precision_(b, b));
      if (std::abs(kept_precision_(a, b)) > correlated * size) blocks_.push_back({i, k});
    }
}

// mu_B = m_B - P_BB^-1 P_BK (theta_K - m_K), with the precision of all entries or of the entries in M.
Crossing::Given Crossing::given_others(const Matrix& precision, const Vector& mean, const Vector& at,
                                       const std::vector<Index>& own) {
  Vector away = at - mean;
  for (const Index j : own) away[j] = 0.0;
  const auto n = static_cast<Index>(own.size());
  Matrix of_own(n, n);
  Vector pull(n), centre(n);
  for (Index i = 0; i < n; ++i) {
    const Index entry = own[static_cast<std::size_t>(i)];
    pull[i] = precision.col(entry).dot(away);
    centre[i] = mean[entry];
    for (Index k = 0; k < n; ++k) of_own(i, k) = precision(entry, own[static_cast<std::size_t>(k)]);
  }
  const Matrix covariance = of_own.inverse();
  return {centre - covariance * pull, covariance};
}

bool Crossing::move(State& state, const Random& random, std::uint64_t first_address, std::uint64_t count,
                    Info& info) const {
  const Block& block = blocks_[random.choose(Purpose::move, first_address, blocks_.size())];
  const bool carries = random.uniform(Purpose::move, first_address + 1) < 0.5;
  std::vector<Index> own;  // the block's indices: in M if the move also shifts C, else in theta
  for (const std::size_t i : block) own.push_back(carries ? static_cast<Index>(i) : kept_[i]);
  const Given given = carries ? given_others(kept_precision_, kept_mean_, state.theta(kept_), own)
                              : given_others(tails_->precision(), tails_->mean(), state.theta, own);
  const auto all_priors = tails_->priors_at(state.theta);
  std::vector<StudentTOfEntry> priors;
  Vector here(block.size());
  for (std::size_t i = 0; i < block.size(); ++i) {
    priors.push_back(all_priors[block[i]]);
    here[static_cast<Index>(i)] = state.theta[kept_[block[i]]];
  }
  const Mixture mixture(std::move(priors), given.mean, given.covariance);
  const Vector there = mixture.draw(random, first_address + 2);

  Vector proposal = state.theta;
  for (std::size_t i = 0; i < block.size(); ++i) {
    const auto at = static_cast<Index>(i);
    if (carries) proposal += (there[at] - here[at]) * carry_.col(static_cast<Index>(block[i]));
    proposal[kept_[block[i]]] = there[at];
  }
  info.queries += density_->evaluate(proposal, state.z, true, state.proposed);
  ++info.evaluations;
  const double log_ratio =
      state.proposed.log_density - state.at.log_density + mixture.log_density(here) - mixture.log_density(there);
  if (!std::isfinite(state.proposed.log_density) || std::isnan(log_ratio)) {
    ++info.not_finite;
    return false;
  }
  if (!random.bernoulli(Purpose::accept, count, std::min(1.0, std::exp(log_ratio)))) return false;
  state.theta = std::move(proposal);
  std::swap(state.at, state.proposed);
  return true;
}

Info Crossing::step(State& state, const Random& random) const {
  Info info;
  int accepted = 0;
  for (int i = 0; i < moves_; ++i) {
    const auto count = static_cast<std::uint64_t>(i);
    accepted += move(state, random, addresses * count, count, info) ? 1 : 0;
  }
  info.acceptance = static_cast<double>(accepted) / moves_;
  return info;
}

}  // namespace flymc
