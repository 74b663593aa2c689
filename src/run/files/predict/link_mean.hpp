// The mean of an inverse link over thousands of predictors, computed with a polynomial.
//
// The predictors of one row under all draws lie close together. On an interval that is short compared with the distance
// of the link's singularities (pi i for the sigmoid), a polynomial of low degree is exact to all digits: degree 7 for
// an interval of 0.1. Chebyshev interpolation constructs it from a dozen values of any link, and the decay of its
// coefficients shows whether it is accurate. It replaces thousands of exponentials.
#pragma once

#include <optional>
#include <vector>

#include "flymc/core/many_numbers.hpp"
#include "flymc/model/model.hpp"

namespace flymc {

class LinkMean {
 public:
  static constexpr std::size_t most_points = 24;

  // The family must have one predictor.
  explicit LinkMean(const BatchedFamily& family);

  // The mean of family.mean over these predictors. Empty if no polynomial is accurate enough.
  std::optional<double> operator()(VectorWidth width, std::span<const double> eta, const Location& location) const;

 private:
  // Nodes and weights for interpolation at a fixed number of points; see the .cpp.
  struct Rule {
    explicit Rule(std::size_t count);
    std::size_t points;
    std::vector<double> nodes;    // cos((j + 1/2) pi / points)
    std::vector<double> weights;  // c_k = sum_j weights[k points + j] value_j
  };
  // Coefficients of powers of u = (eta - centre) / half. Returns their number, or 0 if they are not accurate enough.
  std::size_t interpolate(const Rule& rule, double centre, double half, double* powers) const;

  const BatchedFamily& family_;
  std::vector<Rule> rules_;
};

}  // namespace flymc
