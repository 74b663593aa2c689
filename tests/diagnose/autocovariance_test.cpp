// The Fourier transform must give the sums that it replaces.
#include "flymc/diagnose/autocovariance.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "diagnose/reference/cases.hpp"

namespace flymc {
namespace {

TEST(Autocovariance, IsItsDefinitionAtEveryLag) {
  for (const Index n : {Index{1}, Index{2}, Index{63}, Index{64}, Index{65}, Index{200}, Index{257}}) {
    Matrix chains(n, 3);
    for (Index c = 0; c < 3; ++c) {
      const std::vector<double> x = reference::chain(5.0 + static_cast<double>(c), static_cast<int>(n), 900, 7, 1, 0);
      chains.col(c) = Vector::Map(x.data(), n);
    }
    MeanAutocovariance gamma(chains);
    for (Index lag = 0; lag < n; ++lag) {
      long double expected = 0;
      for (Index c = 0; c < 3; ++c) {
        const double mean = chains.col(c).mean();
        for (Index i = 0; i + lag < n; ++i)
          expected += static_cast<long double>(chains(i, c) - mean) * (chains(i + lag, c) - mean);
      }
      expected /= static_cast<long double>(3 * n);
      EXPECT_NEAR(gamma(lag), static_cast<double>(expected), 1e-14 * (1.0 + gamma(0))) << "n " << n << " lag " << lag;
    }
  }
}

TEST(Autocovariance, FourierTransformIsItsDefinition) {
  for (const int n : {1, 2, 4, 8, 32}) {
    std::vector<std::complex<double>> x;
    for (int j = 0; j < n; ++j) x.emplace_back(std::sin(3.0 * j * j), std::cos(1.0 + j));
    std::vector<std::complex<double>> expected;
    for (int k = 0; k < n; ++k) {
      std::complex<double> sum = 0.0;
      for (int j = 0; j < n; ++j)
        sum += x[static_cast<std::size_t>(j)] * std::polar(1.0, -2 * std::numbers::pi * j * k / n);
      expected.push_back(sum);
    }
    fourier_transform(x);
    for (std::size_t k = 0; k < x.size(); ++k)
      EXPECT_LT(std::abs(x[k] - expected[k]), 1e-13) << "n " << n << " k " << k;
  }
}

}  // namespace
}  // namespace flymc
