// Holds all draws in memory and evaluates rows on request.
#include "row_likelihoods.hpp"

#include <vector>

#include "../reading/row_targets.hpp"
#include "flymc/bound/bound_rows.hpp"

namespace flymc {

RowLikelihoods::RowLikelihoods(const RunParts& parts, const TableRows& table, const DrawsFile& draws)
    : parts_(parts), table_(table) {
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
  const TableRows::Pieces of = table_.pieces(rows);
  BoundRows fixed;
  fixed.fetch(parts_.rows.store, of.stored);
  const Index predictors = model.predictors();
  RowMatrix out(draws(), static_cast<Index>(rows.size()));
  std::vector<double> eta(of.stored.size() * static_cast<std::size_t>(predictors)), pieces(of.stored.size());
  std::vector<RowFacts> facts;  // facts of the rows of the table
  std::vector<double> constant;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    facts.push_back(table_.facts(of.stored[of.first[r]]));
    constant.push_back(likelihood_constant(parts_, of.stored[of.first[r]], facts.back()));
  }
  for (Index at = 0; at < draws(); ++at) {
    const Vector shown = shown_.row(at).transpose();
    fixed.predict(model.arrangement().columns(parts_.theta(shown)), eta);
    model.family().likelihood(fixed.facts.spans(), eta, pieces, {}, {});
    for (std::size_t r = 0; r < rows.size(); ++r) {
      double value = pieces[of.first[r]] + constant[r];
      if (of.two(r))
        value +=
            pieces[of.first[r] + 1] + facts[r].weight * BetweenCuts(shown, static_cast<Index>(facts[r].target)).value;
      value += facts[r].weight * model.log_likelihood_besides(shown, facts[r].target);
      out(at, static_cast<Index>(r)) = value;
    }
  }
  return out;
}

}  // namespace flymc
