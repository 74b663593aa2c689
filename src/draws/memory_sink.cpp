// Draws in memory, one list per chain.
#include "flymc/draws/sink.hpp"

namespace flymc {

void MemorySink::write(std::size_t chain, const Vector& theta, const DrawStats& stats) {
  Chain& own = chains_[chain];
  own.theta.insert(own.theta.end(), theta.data(), theta.data() + theta.size());
  own.stats.push_back(stats);
}

double MemorySink::value(std::size_t chain, std::size_t draw, Index coefficient) const {
  return chains_[chain].theta[draw * static_cast<std::size_t>(coefficients_) + static_cast<std::size_t>(coefficient)];
}

std::vector<std::vector<double>> MemorySink::coefficient(Index j) const {
  std::vector<std::vector<double>> out(chains());
  for (std::size_t c = 0; c < chains(); ++c)
    for (std::size_t i = 0; i < draws(c); ++i) out[c].push_back(value(c, i, j));
  return out;
}

}  // namespace flymc
