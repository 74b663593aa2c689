// A sum over all rows of what is known exactly of a few and nearly of all.
#pragma once

#include <cstdint>
#include <span>

namespace flymc {

struct SumEstimate {
  double value;
  double se;              // of the sum over another table of as many rows from the same source: by how rows differ
  double subsampling_se;  // of the sum over this one, since some rows were sampled; 0 if all were
};

// What a pass over all rows knows of their proxies.
struct ProxySums {
  std::int64_t rows = 0;
  double total = 0.0;
  double squares = 0.0;  // the sum of them
};

// The difference estimator (Magnusson and others 2020). With e_n = exact_n - proxy_n of the sampled rows, N rows and m of
// them sampled without replacement,
//   value            = sum of proxies + N mean(e)          without bias, whatever the proxies are
//   subsampling_se^2 = N^2 (1 - m/N) var(e) / m            small, if proxies are good
//   se^2             = N var(terms of all rows)
// where the sample says by how much the squares of terms differ from those of proxies. There are two sampled rows or
// more, and as many proxies as exact terms.
SumEstimate difference_estimate(const ProxySums& all, std::span<const double> proxies, std::span<const double> exact);

}  // namespace flymc
