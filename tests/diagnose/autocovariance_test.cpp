// The Fourier transform gives the same sums as the direct formula.
#include "flymc/diagnose/autocovariance.hpp"

#include <gtest/gtest.h>

#include <cmath>
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

}  // namespace
}  // namespace flymc
