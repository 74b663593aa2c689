// A family and a prior, behind one interface that is called on batches of rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "flymc/comm/execution.hpp"
#include "flymc/core/arrangement.hpp"
#include "flymc/data/store.hpp"
#include "flymc/model/family.hpp"
#include "flymc/model/ordered_cuts.hpp"
#include "flymc/model/ordinal.hpp"
#include "flymc/model/parameter_block.hpp"
#include "flymc/model/prior.hpp"
#include "flymc/model/sampled_scale.hpp"
#include "flymc/model/sampled_shape.hpp"
#include "flymc/model/sharp.hpp"

namespace flymc {

// A family as the rest of the library uses it: K predictors per row, batches of n rows laid out row after row. Outputs
// that are not wanted are empty spans. Each row of a batch is one query. The likelihood, the remainder and the
// curvature of a row, and with them gaps and bounds, are multiplied by its weight. The offset is already in eta.
class BatchedFamily {
 public:
  virtual ~BatchedFamily() = default;
  virtual std::string name() const = 0;
  virtual Index predictors() const = 0;
  virtual Arrangement arrangement() const = 0;
  virtual bool only_differences() const = 0;
  // The change of a linear predictor over which the likelihood of a row changes its shape.
  virtual double unit() const = 0;
  // C if targets are classes 0 ... C - 1, else 0.
  virtual Index target_classes() const = 0;
  // Whether Jaakkola and Jordan's bound with one xi for all rows is below their likelihoods.
  virtual bool takes_fixed_xi() const = 0;
  // The variance of a target at the predictors of one row; empty if the family does not have it, or has a scale.
  virtual std::optional<double> variance(Predictor eta) const = 0;
  // The name of a family whose targets may vary more; empty if there is none.
  virtual std::string wider() const = 0;
  // Whether the target is a mean over as many trials as the row's weight, each with that variance.
  virtual bool weight_is_trials() const = 0;
  // The family at `factor` times its scale, whose likelihood is concave further out; null if the family has no such
  // form.
  virtual std::shared_ptr<const BatchedFamily> eased(double factor) const = 0;
  virtual std::string target_problem(double y) const = 0;
  // The index of the first of these targets that the family does not accept; their number if it accepts all.
  virtual std::size_t first_problem(std::span<const double> y) const = 0;
  // Throws InputError if a target, whose row is named, or an offset does not fit the family.
  void check(const Store& store, const Execution& execution) const;
  // For a family with a shape: a family of one predictor with the same mean; else null.
  virtual std::shared_ptr<const BatchedFamily> of_mean() const = 0;
  // The inverse link, K means per row. Not a query.
  virtual void mean(std::span<const double> eta, std::span<double> out) const = 0;
  virtual double simulate(Predictor eta, const Random& random, std::uint64_t index) const = 0;

  // l, l' (K per row), -l'' (K x K per row) at eta.
  virtual void likelihood(const FactSpans& rows, std::span<const double> eta, std::span<double> value,
                          std::span<double> slope, std::span<double> curvature) const = 0;
  // l(eta + delta) - l(eta) - l'(eta)'delta, and its slope in delta.
  virtual void remainder(const FactSpans& rows, std::span<const double> eta, std::span<const double> delta,
                         std::span<double> value, std::span<double> slope) const = 0;
  // Whether some quadratic stays below each row's likelihood everywhere,
  virtual bool has_global_curvature() const = 0;
  // and its curvature, that of the anchored bound. Not a query. Throws std::logic_error if there is none.
  virtual void global_curvature(const FactSpans& rows, std::span<const double> eta,
                                std::span<double> curvature) const = 0;
  // An upper scale of a row's curvature, for units and for rounding: the global curvature, or else the size of its own
  // at eta and at least T^(2/3), where T is the largest third derivative. Not a query.
  virtual void scale_curvature(const FactSpans& rows, std::span<const double> eta, std::span<double> curvature) const;
  // An upper bound of |l'''| for one predictor; empty if the family has none.
  virtual std::optional<double> largest_third_derivative() const = 0;
  // c and k of the sharp bound, K x K per row each. Not a query. An infinite c means that no such quadratic is below
  // the row in this zone, and that it must be lit.
  virtual void sharp(const FactSpans& rows, std::span<const double> eta, std::span<const double> spread,
                     const Zone& zone, std::span<double> curvature, std::span<double> growth) const = 0;
};

// Turns a family into its batched form: one virtual call per batch, the loop over rows inlined.
template <Family F>
class BatchedAdapter final : public BatchedFamily {
 public:
  explicit BatchedAdapter(F family) : family_(std::move(family)) {
    if (HasLargestThirdDerivative<F> && !HasSharpBound<F> && family_.predictors() != 1)
      throw std::logic_error("a largest third derivative belongs to a family of one predictor");
  }
  std::string name() const override { return family_.name(); }
  Index predictors() const override { return family_.predictors(); }
  Arrangement arrangement() const override {
    if constexpr (requires { family_.shares_last_predictor(); }) return Arrangement(2, true);
    return Arrangement(family_.predictors());
  }
  bool only_differences() const override {
    if constexpr (requires { family_.only_differences(); }) return family_.only_differences();
    return false;
  }
  double unit() const override {
    if constexpr (requires { family_.unit(); }) return family_.unit();
    return 1.0;
  }
  Index target_classes() const override {
    if constexpr (requires { family_.target_classes(); }) return family_.target_classes();
    return 0;
  }
  bool takes_fixed_xi() const override {
    if constexpr (requires { family_.takes_fixed_xi(); }) return family_.takes_fixed_xi();
    return false;
  }
  std::optional<double> variance([[maybe_unused]] Predictor eta) const override {
    if constexpr (requires { family_.variance(eta); }) return family_.variance(eta);
    return std::nullopt;
  }
  std::string wider() const override {
    if constexpr (requires { family_.wider(); }) return family_.wider();
    return "";
  }
  bool weight_is_trials() const override {
    if constexpr (requires { family_.weight_is_trials(); }) return family_.weight_is_trials();
    return false;
  }
  std::shared_ptr<const BatchedFamily> eased([[maybe_unused]] double factor) const override {
    if constexpr (requires { family_.eased(factor); })
      return std::make_shared<const BatchedAdapter<decltype(family_.eased(factor))>>(family_.eased(factor));
    return nullptr;
  }
  std::string target_problem(double y) const override { return family_.target_problem(y); }
  std::size_t first_problem(std::span<const double> y) const override {
    std::size_t i = 0;
    while (i < y.size() && family_.target_problem(y[i]).empty()) ++i;
    return i;
  }
  std::shared_ptr<const BatchedFamily> of_mean() const override {
    if constexpr (requires { family_.of_mean(); })
      return std::make_shared<const BatchedAdapter<decltype(family_.of_mean())>>(family_.of_mean());
    return nullptr;
  }
  void mean(std::span<const double> eta, std::span<double> out) const override {
    const std::size_t k = width();
    for (std::size_t i = 0; i < eta.size(); i += k) family_.mean(eta.subspan(i, k), out.subspan(i, k));
  }
  double simulate(Predictor eta, const Random& random, std::uint64_t index) const override {
    return family_.simulate(eta, random, index);
  }

  void likelihood(const FactSpans& rows, std::span<const double> eta, std::span<double> value, std::span<double> slope,
                  std::span<double> curvature) const override {
    const std::span<const double> y = rows.target;
    const std::size_t k = width();
    const bool everything = !value.empty() && !slope.empty() && !curvature.empty();
    for (std::size_t i = 0; i < y.size(); ++i) {
      const Predictor e = eta.subspan(i * k, k);
      if (everything) {  // without branches between them, the compiler shares common terms
        value[i] = family_.log_likelihood(y[i], e);
        family_.slope(y[i], e, slope.subspan(i * k, k));
        family_.curvature(y[i], e, curvature.subspan(i * k * k, k * k));
        continue;
      }
      if (!value.empty()) value[i] = family_.log_likelihood(y[i], e);
      if (!slope.empty()) family_.slope(y[i], e, slope.subspan(i * k, k));
      if (!curvature.empty()) family_.curvature(y[i], e, curvature.subspan(i * k * k, k * k));
    }
    weigh(rows, value);
    weigh(rows, slope);
    weigh(rows, curvature);
  }

  void remainder(const FactSpans& rows, std::span<const double> eta, std::span<const double> delta,
                 std::span<double> value, std::span<double> slope) const override {
    const std::span<const double> y = rows.target;
    const std::size_t k = width();
    std::vector<double> work(slope.empty() ? 0 : 2 * k);
    const std::span<double> moved(work.data(), work.size() / 2), before(work.data() + work.size() / 2, work.size() / 2);
    for (std::size_t i = 0; i < y.size(); ++i) {
      const Predictor e = eta.subspan(i * k, k), d = delta.subspan(i * k, k);
      value[i] = family_.remainder(y[i], e, d);
      if (slope.empty()) continue;
      const std::span<double> after = slope.subspan(i * k, k);
      if constexpr (requires { family_.remainder_slope(y[i], e, d, after); }) {
        family_.remainder_slope(y[i], e, d, after);
        continue;
      }
      for (std::size_t j = 0; j < k; ++j) moved[j] = e[j] + d[j];
      family_.slope(y[i], moved, after);
      family_.slope(y[i], e, before);
      for (std::size_t j = 0; j < k; ++j) after[j] -= before[j];
    }
    weigh(rows, value);
    weigh(rows, slope);
  }

  bool has_global_curvature() const override { return HasGlobalCurvature<F>; }
  void global_curvature([[maybe_unused]] const FactSpans& rows, [[maybe_unused]] std::span<const double> eta,
                        [[maybe_unused]] std::span<double> curvature) const override {
    if constexpr (HasGlobalCurvature<F>) {
      const std::size_t k = width();
      for (std::size_t i = 0; i < rows.size(); ++i)
        family_.global_curvature(rows.target[i], eta.subspan(i * k, k), curvature.subspan(i * k * k, k * k));
      weigh(rows, curvature);
    } else {
      throw std::logic_error("the family has no global curvature");
    }
  }
  void scale_curvature(const FactSpans& rows, std::span<const double> eta, std::span<double> curvature) const override {
    if constexpr (requires { family_.size_of_curvature(0.0, eta, curvature); }) {
      const std::size_t k = width();
      for (std::size_t i = 0; i < rows.size(); ++i)
        family_.size_of_curvature(rows.target[i], eta.subspan(i * k, k), curvature.subspan(i * k * k, k * k));
      weigh(rows, curvature);
    } else {
      BatchedFamily::scale_curvature(rows, eta, curvature);
    }
  }
  std::optional<double> largest_third_derivative() const override {
    if constexpr (HasLargestThirdDerivative<F>) return family_.largest_third_derivative();
    return std::nullopt;
  }

  void sharp(const FactSpans& rows, std::span<const double> eta, std::span<const double> spread, const Zone& zone,
             std::span<double> curvature, std::span<double> growth) const override {
    const std::size_t k = width();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto of_row = [&](auto numbers) { return numbers.subspan(i * k * k, k * k); };
      sharp_of(family_, rows.target[i], eta.subspan(i * k, k), of_row(spread), zone, of_row(curvature), of_row(growth));
    }
    weigh(rows, curvature);
    weigh(rows, growth);
  }

 private:
  std::size_t width() const { return static_cast<std::size_t>(family_.predictors()); }
  static void weigh(const FactSpans& rows, std::span<double> numbers) {
    if (rows.weight.empty() || numbers.empty()) return;
    const std::size_t each = numbers.size() / rows.size();
    // A row of weight 0 counts 0, even if its numbers are not finite.
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = rows.weight[i / each] > 0.0 ? rows.weight[i / each] * numbers[i] : 0.0;
  }
  F family_;
};

// Names of the coefficients, in the order of theta: the columns' names, with the class in brackets if there are several
// predictors. The class is a number unless there is a name for each predictor.
std::vector<std::string> coefficient_names(const std::vector<std::string>& columns, Index predictors,
                                           const std::vector<std::string>& classes = {});

// A family, a prior of the parameters, and the family's block of other parameters, if it has one.
class Model {
 public:
  template <Family F>
  Model(F family, Prior prior)
      : Model(std::make_shared<const BatchedAdapter<F>>(std::move(family)), std::move(prior)) {}
  // With the family's block for this target: a ScaledTarget, an OrderedTarget or a ShapedTarget.
  template <Family F, class Target = ScaledTarget>
  Model(const F& family, const Prior& prior, Target target)
      : Model(std::make_shared<const BatchedAdapter<F>>(family), prior, make_block(family, prior, std::move(target))) {}
  // With a likelihood that is known only at run time.
  Model(std::shared_ptr<const BatchedFamily> family, Prior prior,
        std::shared_ptr<const ParameterBlock> block = nullptr);

  // The same model with another prior of the parameters.
  Model with_prior(Prior prior) const;
  // The same model for the targets of a store, whose weights are multiplied by the given ones.
  Model with_targets_of(const Store& store, std::span<const double> weights = {}) const;

  const BatchedFamily& family() const { return *family_; }
  // The prior of the parameters.
  const Prior& prior() const { return *prior_; }
  // The part of the log density of theta that is not in the rows: the prior, and more if there is a block.
  const Term& term() const { return *term_; }
  // For objects that keep one of the two without the model: a bound, a density.
  const std::shared_ptr<const BatchedFamily>& shared_family() const { return family_; }
  const std::shared_ptr<const Term>& shared_term() const { return term_; }
  Index predictors() const { return family_->predictors(); }
  Arrangement arrangement() const { return family_->arrangement(); }

  // Chains move in theta, which multiplies the features of rows; reports show the parameters, which are theta itself
  // unless there is a block. These functions convert one to the other, and give the change of parameters with theta, to
  // first order.
  Vector parameters(const Vector& theta) const { return block_ ? block_->parameters(theta) : theta; }
  Vector theta(const Vector& parameters) const { return block_ ? block_->theta(parameters) : parameters; }
  Vector parameter_change(const Vector& theta, const Vector& direction) const {
    return block_ ? block_->change(theta, direction) : direction;
  }

  // Properties of the block (model/parameter_block.hpp), or those of coefficients if there is none. A family with a
  // block has one entry of theta per feature, so `entry` and `size` may count either.
  bool is_coefficient(Index entry, Index size) const { return !block_ || !block_->own(size).contain(entry); }
  // How many entries, or features, come before a block at the end; all if no block is at the end.
  Index before_block(Index size) const {
    return block_ && block_->own(size).first > 0 ? block_->own(size).first : size;
  }
  bool positive(Index entry, Index size) const { return !is_coefficient(entry, size) && block_->positive(); }
  bool scales_coefficients() const { return block_ && block_->scales_coefficients(); }
  bool censored() const { return block_ && block_->censored(); }
  Index cuts() const { return block_ ? block_->cuts() : 0; }
  double log_likelihood_besides(const Vector& parameters, double target) const {
    return block_ ? block_->log_likelihood_besides(parameters, target) : 0.0;
  }
  // Throws InputError if theta approaches a point where the likelihood is unbounded.
  void check_limits(const Vector& theta) const {
    if (block_) block_->check_limits(theta);
  }

  // The precision matrix of the quadratic that is used in place of the term at theta.
  SparseSymmetric prior_precision(const Vector& theta) const { return term_->curvature(Term::Of::surrogate, theta); }
  // Number of entries of theta, and their names.
  Index coefficients(const Store& store) const { return arrangement().entries(store.features()); }
  std::vector<std::string> names(const Store& store) const {
    return coefficient_names(store.columns(), coefficients(store) / store.features());
  }
  // Throws InputError if a target, an offset or the prior does not fit.
  void check(const Store& store, const Execution& execution) const;

 private:
  std::shared_ptr<const BatchedFamily> family_;
  std::shared_ptr<const Prior> prior_;
  std::shared_ptr<const ParameterBlock> block_;  // null: the parameters are theta
  std::shared_ptr<const Term> term_;
};

}  // namespace flymc
