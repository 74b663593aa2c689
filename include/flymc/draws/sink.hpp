// The destinations of draws.
#pragma once

#include <cstddef>
#include <vector>

#include "flymc/core/linear.hpp"

namespace flymc {

// The statistics recorded with theta.
struct DrawStats {
  double log_density = 0.0;  // of the joint given z, or of the posterior
  RowId bright = 0;          // bright rows
  RowId queries = 0;         // row likelihoods since the last draw
  double acceptance = 1.0;   // of the move
};

// Takes the draws of all chains. Calls for one chain come in order; different chains may call at the same time.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void write(std::size_t chain, const Vector& theta, const DrawStats& stats) = 0;
};

// Keeps draws in memory.
class MemorySink final : public Sink {
 public:
  MemorySink(std::size_t chains, Index coefficients) : coefficients_(coefficients), chains_(chains) {}
  void write(std::size_t chain, const Vector& theta, const DrawStats& stats) override;

  std::size_t chains() const { return chains_.size(); }
  std::size_t draws(std::size_t chain) const { return chains_[chain].stats.size(); }
  Index coefficients() const { return coefficients_; }
  double value(std::size_t chain, std::size_t draw, Index coefficient) const;
  const std::vector<DrawStats>& stats(std::size_t chain) const { return chains_[chain].stats; }
  // All draws of one coefficient, chain by chain, as diagnostics need them.
  std::vector<std::vector<double>> coefficient(Index j) const;

 private:
  struct Chain {
    std::vector<double> theta;  // one draw after the other
    std::vector<DrawStats> stats;
  };
  Index coefficients_;
  std::vector<Chain> chains_;
};

// Discards the draws.
class NoSink final : public Sink {
 public:
  void write(std::size_t, const Vector&, const DrawStats&) override {}
};

}  // namespace flymc
