// Cut points between ordered categories: what the log density has for them besides the rows.
#pragma once

#include <vector>

#include "flymc/model/ordinal.hpp"
#include "flymc/model/parameter_block.hpp"
#include "flymc/model/prior.hpp"

namespace flymc {

// The total weight of the rows of each category, from the lowest to the highest: three or more, none of them 0. (Around a
// category without rows the density may be highest where its cut points meet.)
struct OrderedTarget {
  std::vector<double> category_weights;
};

// theta = (-cut points, beta): rows see eta - cut (model/ordinal.hpp), and people speak of (cut points, beta). With W_k
// the weight of category k, the density has besides the rows
//   p(cuts, beta) prod_k (1 - exp(cut_(k-1) - cut_k))^W_k   over the categories between the first and the last,
// where cut points rise, and nothing elsewhere. The logarithm is concave in the cut points.
class OrderedCuts final : public ParameterBlock {
 public:
  // The prior is of (cut points, beta); that of cut points in any other order does not count. Throws InputError if there
  // are fewer than three categories, or one has no weight.
  OrderedCuts(Prior prior, OrderedTarget target);
  // Throws InputError also if a category between the others weighs less than a row. Near where its cut points meet the
  // density is then W log(distance) with W < 1: the mode lies there, and the posterior does not.
  void check(Index parameters) const override;
  std::shared_ptr<const ParameterBlock> with_prior(const Prior& prior) const override {
    return std::make_shared<const OrderedCuts>(prior, target_);
  }

  // The first entries.
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
  // The prior's, with the cut points where the shares of the categories have them without any column.
  Vector centre(Index parameters) const override;
  // A step of the first cut point, of beta, and of the logarithms of distances between cut points.
  Vector away(const Vector& theta, const Vector& step) const override;
  // Cut points in order: a draw from the prior if that is the same for all of them.
  Vector simulate(Index parameters, const Random& random, Purpose purpose) const override;

 private:
  // The categories between, at these parameters; adds to the gradient in theta if there is one.
  double between(const Vector& parameters, Vector* gradient) const;

  Prior prior_;
  OrderedTarget target_;
};

// Rows have their cut point among their features. The first parameters are the cut points.
inline std::shared_ptr<const ParameterBlock> make_block(const Ordinal&, const Prior& prior, OrderedTarget target) {
  return std::make_shared<const OrderedCuts>(prior, std::move(target));
}

}  // namespace flymc
