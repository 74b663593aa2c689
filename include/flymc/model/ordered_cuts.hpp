// Cut points between ordered categories, and the part of the log density that they add to the rows.
#pragma once

#include <vector>

#include "flymc/model/ordinal.hpp"
#include "flymc/model/parameter_block.hpp"
#include "flymc/model/prior.hpp"

namespace flymc {

// The total weight of the rows of each category, from the lowest to the highest: three or more, none of them 0. (If a
// category had no rows, the density might be highest where its cut points meet.)
struct OrderedTarget {
  std::vector<double> category_weights;
};

// theta = (-cut points, beta), because rows have the predictor eta - cut (model/ordinal.hpp); the parameters in reports
// are (cut points, beta). With W_k the weight of category k, the density is that of the rows times
//   p(cuts, beta) prod_k (1 - exp(cut_(k-1) - cut_k))^W_k   over the categories between the first and the last
// if cut points ascend, and 0 otherwise. The logarithm is concave in the cut points.
class OrderedCuts final : public ParameterBlock {
 public:
  // The prior is of (cut points, beta), restricted to ascending cut points. Throws InputError if there are fewer than
  // three categories, or one has no weight.
  OrderedCuts(Prior prior, OrderedTarget target);
  // Also throws InputError if a category between the others weighs less than a row. Near the point where its cut points
  // meet, the log density is then W log(distance) with W < 1: the mode lies there, but most of the posterior does not.
  void check(Index parameters) const override;
  std::shared_ptr<const ParameterBlock> with_prior(const Prior& prior) const override {
    return std::make_shared<const OrderedCuts>(prior, target_);
  }

  // The first entries of theta.
  Range own(Index) const override { return {0, cuts()}; }
  Index cuts() const override { return static_cast<Index>(target_.category_weights.size()) - 1; }

  Vector parameters(const Vector& theta) const override;
  Vector theta(const Vector& parameters) const override { return this->parameters(parameters); }
  Vector change(const Vector&, const Vector& direction) const override { return parameters(direction); }

  double log_density(const Vector& theta, Vector* gradient = nullptr) const override;
  double surrogate(const Vector& theta, Vector& gradient) const override;
  // Neighbouring cut points are coupled.
  SparseSymmetric curvature(Of what, const Vector& theta) const override;
  bool quadratic() const override { return false; }
  // The prior's centre, with cut points that give each category its share if no column matters.
  Vector centre(Index parameters) const override;
  // Steps in the first cut point, in beta, and in the logarithms of distances between cut points, which keeps their
  // order.
  Vector away(const Vector& theta, const Vector& step) const override;
  // A draw from the prior with its cut points sorted, which is exact if their priors are all the same.
  Vector simulate(Index parameters, const Random& random, Purpose purpose) const override;

 private:
  // The sum over the categories between the first and the last; adds to the gradient in theta if it is given.
  double between(const Vector& parameters, Vector* gradient) const;

  Prior prior_;
  OrderedTarget target_;
};

// For Ordinal, whose rows have their cut point among their features. The first parameters are the cut points.
inline std::shared_ptr<const ParameterBlock> make_block(const Ordinal&, const Prior& prior, OrderedTarget target) {
  return std::make_shared<const OrderedCuts>(prior, std::move(target));
}

}  // namespace flymc
