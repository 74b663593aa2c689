// Plain sums for short lags, the Wiener-Khinchin theorem for long ones.
#include "flymc/diagnose/autocovariance.hpp"

#include <bit>
#include <complex>
#include <cstddef>
#include <unsupported/Eigen/FFT>
#include <utility>

namespace flymc {

MeanAutocovariance::MeanAutocovariance(Matrix chains) : centred_(std::move(chains)) {
  centred_.rowwise() -= centred_.colwise().mean().eval();
}

double MeanAutocovariance::operator()(Index lag) {
  if (lag < direct_lags) return direct(lag);
  if (all_.empty()) all_ = transformed();
  return all_[static_cast<std::size_t>(lag)];
}

double MeanAutocovariance::direct(Index lag) const {
  const Index n = centred_.rows();
  double sum = 0.0;
  for (Index chain = 0; chain < centred_.cols(); ++chain) {
    const double* x = centred_.col(chain).data();
    sum += dot(x, x + lag, n - lag);
  }
  return sum / static_cast<double>(n) / static_cast<double>(centred_.cols());
}

// The autocovariance is the transform of the power spectrum. As many zeros as the chain has draws are appended, so that
// its end does not wrap around to its beginning. The spectra are added first, so one inverse transform suffices.
std::vector<double> MeanAutocovariance::transformed() const {
  const auto n = static_cast<std::size_t>(centred_.rows());
  const std::size_t size = std::bit_ceil(2 * n);
  Eigen::FFT<double> fourier;
  std::vector<std::complex<double>> power(size), x(size), spectrum(size);
  for (Index chain = 0; chain < centred_.cols(); ++chain) {
    for (std::size_t i = 0; i < size; ++i) x[i] = i < n ? centred_(static_cast<Index>(i), chain) : 0.0;
    fourier.fwd(spectrum, x);
    for (std::size_t i = 0; i < size; ++i) power[i] += std::norm(spectrum[i]);
  }
  fourier.inv(x, power);
  std::vector<double> lags(n);
  const double divisor = static_cast<double>(n) * static_cast<double>(centred_.cols());
  for (std::size_t t = 0; t < n; ++t) lags[t] = x[t].real() / divisor;
  return lags;
}

}  // namespace flymc
