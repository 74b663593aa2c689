// Estimates a sum over all rows from exact terms of a few rows and approximate terms (proxies) of all.
#pragma once

#include <cstdint>
#include <span>

namespace flymc {

struct SumEstimate {
  double value;
  double se;              // for another table of as many rows from the same source: variation between rows
  double subsampling_se;  // for the sum over this table, due to the sampling of rows; 0 if all were sampled
};

// Sums over the proxies of all rows.
struct ProxySums {
  std::int64_t rows = 0;
  double total = 0.0;
  double squares = 0.0;  // sum of squares
};

// The difference estimator (Magnusson and others 2020). With e_n = exact_n - proxy_n for the sampled rows, and m of N
// rows sampled without replacement,
//   value            = sum of proxies + N mean(e)          unbiased for any proxies
//   subsampling_se^2 = N^2 (1 - m/N) var(e) / m            small for good proxies
//   se^2             = N var(terms of all rows)
// where the sample corrects the squares of the proxies to squares of the terms. Needs at least two sampled rows, and as
// many proxies as exact terms.
SumEstimate difference_estimate(const ProxySums& all, std::span<const double> proxies, std::span<const double> exact);

}  // namespace flymc
