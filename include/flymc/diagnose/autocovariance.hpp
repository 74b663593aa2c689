// Autocovariance of chains, averaged over the chains and computed only up to the requested lags.
#pragma once

#include <vector>

#include "flymc/core/linear.hpp"

namespace flymc {

// The mean over chains of
//   gamma_t = 1/n sum_{i < n - t} (x_i - mean)(x_{i + t} - mean),
// each chain about its own mean, with the divisor n at every lag (so that the sequence is positive definite).
//
// Chains that mix need a few dozen lags and chains that do not mix need all of them. The first lags are plain sums; the
// first request beyond them computes all lags by a Fourier transform in O(n log n).
class MeanAutocovariance {
 public:
  static constexpr Index direct_lags = 64;

  // One chain per column.
  explicit MeanAutocovariance(Matrix chains);

  // For 0 <= lag < n.
  double operator()(Index lag);

 private:
  double direct(Index lag) const;
  std::vector<double> transformed() const;

  Matrix centred_;
  std::vector<double> all_;  // every lag, once the transform has been taken
};

}  // namespace flymc
