// The anchor of posteriors in which narrow priors with long tails may cause a spike apart from the likelihood's mode.
#include <algorithm>
#include <cmath>

#include "flymc/anchor/anchor.hpp"
#include "flymc/anchor/both_places.hpp"
#include "flymc/anchor/long_tails.hpp"
#include "flymc/core/error.hpp"

namespace flymc {

RowsQuadratic rows_at(const Model& model, const Anchor& anchor) {
  RowsQuadratic rows{anchor.theta, Vector::Zero(anchor.theta.size()), anchor.metric.matrix()};
  model.term().surrogate(anchor.theta, rows.slope);
  rows.slope = -rows.slope;
  model.term().curvature(Term::Of::surrogate, anchor.theta).add_to(rows.curvature, -1.0);
  return rows;
}

namespace {

// The model with flat priors in place of Student-t priors that are narrow relative to the rows' curvature; empty if
// none is. It serves posteriors whose rows are not concave where the first search ended, so that LongTails does not
// detect these priors.
std::optional<Model> without_narrow_priors(const Model& model, const RowsQuadratic& rows) {
  std::vector<std::pair<Index, Prior>> flat;
  for (Index j = 0; j < rows.at.size(); ++j) {
    const auto prior = model.prior().student_t_of(j);
    if (!prior || !model.is_coefficient(j, rows.at.size())) continue;
    const double per_entry = model.parameter_change(rows.at, Vector::Unit(rows.at.size(), j))[j];
    const double scale = prior->scale / std::abs(per_entry);
    if (scale * std::sqrt(std::max(0.0, rows.curvature(j, j))) < narrow_share) flat.emplace_back(j, Prior::flat());
  }
  if (flat.empty()) return std::nullopt;
  return model.with_prior(model.prior().with(flat, rows.at.size()));
}

}  // namespace

Anchor find_likeliest_anchor(const Store& store, const Model& model, const Execution& execution, std::uint64_t seed) {
  Anchor first = find_anchor_by_subsample(store, model, execution, seed);
  const RowsQuadratic rows = rows_at(model, first);
  const LongTails tails(model, rows);
  const std::optional<Model> by_rows = tails.empty() ? without_narrow_priors(model, rows) : tails.with_wide_priors();
  if (!by_rows) return first;
  try {
    const Anchor there = find_anchor_by_subsample(store, *by_rows, execution, seed, first.theta);
    first.queries += there.queries;
    const RowsQuadratic rows_there = rows_at(*by_rows, there);
    const LongTails seen_from_there =
        tails.empty() ? LongTails(model, rows_there) : LongTails(model, rows_there, tails.entries());
    if (seen_from_there.empty()) return first;
    Anchor best =
        find_anchor_by_subsample(store, model, execution, seed, seen_from_there.theta(seen_from_there.likeliest()));
    // The first search may have found a spike whose mass the expansion at the likelihood's mode underestimates, such as
    // one with another scale.
    constexpr double clearly = 1.0;  // nats
    best.queries += first.queries + 2 * store.rows();
    if (laplace_mass(store, model, execution, first) <= laplace_mass(store, model, execution, best) + clearly)
      return best;
    first.queries = best.queries;
    return first;
  } catch (const InputError&) {
    // The likelihood has no mode without these priors.
    return first;
  }
}

}  // namespace flymc
