// Plain sums for short lags, the Wiener-Khinchin theorem for long ones.
#include "flymc/diagnose/autocovariance.hpp"

#include <bit>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <utility>

namespace flymc {

MeanAutocovariance::MeanAutocovariance(Matrix chains) : centred_(std::move(chains)) {
  centred_.rowwise() -= centred_.colwise().mean().eval();
}

double MeanAutocovariance::operator()(Index lag) {
  if (lag < kDirectLags) return direct(lag);
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

// The autocovariance is the transform of the power spectrum. Zeros after the chain, as many as the chain is long, keep
// its end from meeting its beginning. The spectra are added first, so that only one transform leads back.
std::vector<double> MeanAutocovariance::transformed() const {
  const auto n = static_cast<std::size_t>(centred_.rows());
  const std::size_t size = std::bit_ceil(2 * n);
  std::vector<std::complex<double>> power(size), x(size);
  for (Index chain = 0; chain < centred_.cols(); ++chain) {
    for (std::size_t i = 0; i < size; ++i) x[i] = i < n ? centred_(static_cast<Index>(i), chain) : 0.0;
    fourier_transform(x);
    for (std::size_t i = 0; i < size; ++i) power[i] += std::norm(x[i]);
  }
  fourier_transform(power);  // a power spectrum is even, so forward and backward are the same up to the factor `size`
  std::vector<double> lags(n);
  const double divisor = static_cast<double>(size) * static_cast<double>(n) * static_cast<double>(centred_.cols());
  for (std::size_t t = 0; t < n; ++t) lags[t] = power[t].real() / divisor;
  return lags;
}

void fourier_transform(std::span<std::complex<double>> x) {
  const std::size_t n = x.size();

  // Bit-reversed order: j counts upwards with its carry running from the highest bit down.
  for (std::size_t i = 1, j = 0; i < n; ++i) {
    std::size_t bit = n / 2;
    for (; j & bit; bit /= 2) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(x[i], x[j]);
  }

  std::vector<std::complex<double>> root(n / 2);  // exp(-2 pi i k / n); a table, because products of roots drift
  for (std::size_t k = 0; k < n / 2; ++k)
    root[k] = std::polar(1.0, -2.0 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n));

  for (std::size_t half = 1; half < n; half *= 2)
    for (std::size_t start = 0; start < n; start += 2 * half)
      for (std::size_t k = 0; k < half; ++k) {
        const std::complex<double> r = root[k * (n / (2 * half))], y = x[start + half + k];
        // Written out: the operator * of std::complex also looks for infinities, which costs a call.
        const std::complex<double> odd(r.real() * y.real() - r.imag() * y.imag(),
                                       r.real() * y.imag() + r.imag() * y.real());
        x[start + half + k] = x[start + k] - odd;
        x[start + k] += odd;
      }
}

}  // namespace flymc
