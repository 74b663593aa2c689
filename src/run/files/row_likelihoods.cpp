// All draws at once in memory, and rows as they are asked for.
#include "row_likelihoods.hpp"

#include <vector>

#include "flymc/bound/bound_rows.hpp"

namespace flymc {

RowLikelihoods::RowLikelihoods(const RunParts& parts, const DrawsFile& draws) : parts_(parts) {
  std::int64_t all = 0;
  for (std::size_t c = 0; c < draws.chains(); ++c) all += draws.draws(c);
  shown_.resize(all, draws.coefficients());
  Index at = 0;
  draws.scan([&](const DrawsBatch& batch) {
    shown_.middleRows(at, batch.theta.rows()) = batch.theta;
    at += batch.theta.rows();
  });
}

RowMatrix RowLikelihoods::of(std::span<const RowId> rows) const {
  const Model& model = parts_.model;
  BoundRows fixed;
  fixed.fetch(parts_.rows.store, rows);
  const Index predictors = model.predictors();
  RowMatrix out(draws(), static_cast<Index>(rows.size()));
  std::vector<double> eta(rows.size() * static_cast<std::size_t>(predictors));
  for (Index at = 0; at < draws(); ++at) {
    const Vector shown = shown_.row(at).transpose();
    fixed.predict(model.arrangement().columns(parts_.theta(shown)), eta);
    model.family().likelihood(fixed.facts.spans(), eta, {out.row(at).data(), rows.size()}, {}, {});
    for (std::size_t r = 0; (model.draws_scale() || model.draws_shape()) && r < rows.size(); ++r) {
      const RowFacts facts = fixed.facts.spans()[r];
      out(at, static_cast<Index>(r)) += facts.weight * model.log_likelihood_besides(shown, facts.target);
    }
  }
  return out;
}

}  // namespace flymc
