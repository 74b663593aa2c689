// The mean of an inverse link over thousands of predictors, by a polynomial.
//
// The predictors of one row under all draws lie close together, and on an interval that is short beside the distance of
// the link's singularities (pi i for the sigmoid) a polynomial of low degree has all digits of it: degree 7 for an
// interval of 0.1. Chebyshev interpolation finds it for any link from a dozen of its values, and the decay of the
// coefficients says whether it is good. It takes the place of thousands of exponentials.
#pragma once

#include <optional>
#include <vector>

#include "flymc/core/many_numbers.hpp"
#include "flymc/model/model.hpp"

namespace flymc {

class LinkMean {
 public:
  static constexpr std::size_t most_points = 24;

  // Of a family of one predictor.
  explicit LinkMean(const BatchedFamily& family);

  // The mean of the family's mean over these predictors; none if a polynomial is not accurate enough.
  std::optional<double> operator()(VectorWidth width, std::span<const double> eta, const Location& location) const;

 private:
  // Cosines of some degree; see the .cpp.
  struct Rule {
    explicit Rule(std::size_t count);
    std::size_t points;
    std::vector<double> nodes;    // cos((j + 1/2) pi / points)
    std::vector<double> weights;  // c_k = sum_j weights[k points + j] value_j
  };
  // Coefficients of powers of u = (eta - centre) / half. Returns how many there are, or 0 if they will not do.
  std::size_t interpolate(const Rule& rule, double centre, double half, double* powers) const;

  const BatchedFamily& family_;
  std::vector<Rule> rules_;
};

}  // namespace flymc
