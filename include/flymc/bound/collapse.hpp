// One pass over the rows that sums a quadratic per row: values, slopes and any number of curvatures.
#pragma once

#include <functional>
#include <vector>

#include "flymc/comm/execution.hpp"
#include "flymc/core/arrangement.hpp"
#include "flymc/data/store.hpp"

namespace flymc {

// The terms of some rows of a block: the sum of their values, the slope of each (one column per predictor, K of them),
// and for each curvature K x K numbers per row.
struct BlockTerms {
  double value = 0.0;
  double further = 0.0;  // another number to be summed over rows
  RowMatrix slope;
  std::vector<std::vector<double>> curvature;
};

// sum_n v_n, sum_n s_n (x) x_n and sum_n c_n (x) x_n x_n', in the entries of theta. The curvatures have only their
// lower triangle.
struct Collapsed {
  double value = 0.0, further = 0.0;
  Vector slope;
  std::vector<Matrix> curvature;

  Collapsed& operator+=(const Collapsed& other);
  template <class F>
  void each_part(const F& f) {
    f(std::span<double>(&value, 1));
    f(std::span<double>(&further, 1));
    f(std::span<double>(slope.data(), static_cast<std::size_t>(slope.size())));
    for (Matrix& m : curvature) f(std::span<double>(m.data(), static_cast<std::size_t>(m.size())));
  }
};

// Visits every row once, in blocks, on all threads and ranks. The result depends on neither threads nor ranks. `terms`
// is called with parts of blocks, from several threads at once. A curvature is zero if `terms` always leaves it empty.
Collapsed collapse(const Store& store, const Arrangement& arrangement, std::size_t curvatures,
                   const Execution& execution, const std::function<void(const Block&, BlockTerms&)>& terms);

}  // namespace flymc
