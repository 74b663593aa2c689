// Checks that a store suits a model, and names coefficients.
#include "flymc/model/model.hpp"

#include <fmt/format.h>

#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"

namespace flymc {

std::vector<std::string> coefficient_names(const std::vector<std::string>& columns, Index predictors,
                                           const std::vector<std::string>& classes) {
  if (predictors == 1) return columns;
  const auto count = static_cast<std::size_t>(predictors);
  std::vector<std::string> names;
  for (std::size_t k = 0; k < count; ++k)
    for (const std::string& column : columns)
      names.push_back(fmt::format("{}[{}]", column, classes.size() == count ? classes[k] : std::to_string(k)));
  return names;
}

void BatchedFamily::scale_curvature(const FactSpans& rows, std::span<const double> eta,
                                    std::span<double> curvature) const {
  if (has_global_curvature()) return global_curvature(rows, eta, curvature);
  likelihood(rows, eta, {}, {}, curvature);
  const double usual = std::pow(largest_third_derivative().value_or(0.0), 2.0 / 3.0);
  const std::size_t each = rows.size() > 0 ? curvature.size() / rows.size() : 1;
  for (std::size_t i = 0; i < curvature.size(); ++i)
    curvature[i] = std::max(std::abs(curvature[i]), rows[i / each].weight * usual);
}

void BatchedFamily::check(const Store& store, const Execution& execution) const {
  if (only_differences() && store.fact_kinds().offset)
    throw InputError(
        fmt::format("{}: the {} likelihood depends on differences between its predictors alone, and an "
                    "offset that all of them have changes nothing; leave it out",
                    mention("offset"), name()));
  const Share own = own_share(store.blocks(), execution.communicator);
  execution.threads.run(own.last - own.first, [&](std::size_t b) {
    const Block& block = store.block(own.first + b);
    const auto targets = block.facts().target;
    if (const std::size_t i = first_problem(targets); i < targets.size())
      throw InputError(fmt::format("row {}: the target {} does not fit the {} family, which needs {}",
                                   block.first_row() + static_cast<RowId>(i), targets[i], name(),
                                   target_problem(targets[i])));
  });
}

Model::Model(std::shared_ptr<const BatchedFamily> family, Prior prior, std::shared_ptr<const ParameterBlock> block)
    : family_(std::move(family)),
      prior_(std::make_shared<const Prior>(std::move(prior))),
      block_(std::move(block)),
      term_(block_ ? std::static_pointer_cast<const Term>(block_) : prior_) {}

Model Model::with_prior(Prior prior) const {
  auto block = block_ ? block_->with_prior(prior) : nullptr;
  return {family_, std::move(prior), std::move(block)};
}

Model Model::with_targets_of(const Store& store, std::span<const double> weights) const {
  auto block = block_ ? block_->with_targets_of(store, weights) : nullptr;
  if (!block) return *this;
  return {family_, *prior_, std::move(block)};
}

void Model::check(const Store& store, const Execution& execution) const {
  prior_->check(coefficients(store));
  if (block_) block_->check(coefficients(store));
  if (family_->only_differences() && !prior_->proper())
    throw InputError(
        fmt::format("the {} likelihood depends on differences between its predictors alone, so a flat prior has "
                    "no posterior; use a proper prior",
                    family_->name()));
  family_->check(store, execution);
}

}  // namespace flymc
