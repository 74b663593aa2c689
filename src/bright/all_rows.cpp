// Sums of likelihoods over blocks.
#include "flymc/bright/all_rows.hpp"

#include <bit>
#include <stdexcept>

namespace flymc {

std::uint64_t fingerprint(const Vector& theta, double log_density) {
  std::uint64_t out = std::bit_cast<std::uint64_t>(log_density);
  for (const double x : theta) out = (out ^ std::bit_cast<std::uint64_t>(x)) * 0x9e3779b97f4a7c15u;
  return out;
}

void ranks_differ() {
  throw std::runtime_error(
      "the ranks of a chain have come apart; they need the same flymc on the same kind of processor, with the same C "
      "library");
}

LikelihoodSum sum_of_likelihoods(const Store& store, const BatchedFamily& family, const Vector& theta,
                                 bool with_gradient, const Execution& execution) {
  if (const Communicator& communicator = execution.communicator; communicator.size() > 1) {
    const std::uint64_t own = fingerprint(theta, 0.0);
    for (const std::uint64_t other : gather_all(communicator, std::span<const std::uint64_t>(&own, 1)))
      if (other != own) ranks_differ();
  }
  const Index k = family.predictors();
  const Matrix weights = family.arrangement().columns(theta);
  const LikelihoodSum zero{0.0, Matrix::Zero(with_gradient ? store.features() : 0, k)};
  return execution.reduce(store.blocks(), zero, [&](LikelihoodSum& part, std::size_t b) {
    const Block& block = store.block(b);
    RowMatrix eta, slope;
    std::vector<double> value;
    const auto n = static_cast<std::size_t>(block.rows());
    const auto entries = n * static_cast<std::size_t>(k);
    block.predict(weights, eta);
    value.resize(n);
    if (with_gradient) slope.resize(block.rows(), k);
    family.likelihood(block.facts(), {eta.data(), entries}, value,
                      with_gradient ? std::span<double>(slope.data(), entries) : std::span<double>(), {});
    for (const double v : value) part.value += v;
    if (with_gradient) block.add_weighted_rows(slope, part.gradient);
  });
}

}  // namespace flymc
