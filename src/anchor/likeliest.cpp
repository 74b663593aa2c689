// The anchor of posteriors in which narrow priors with long tails may make a spike beside the likelihood's mode.
#include "flymc/anchor/anchor.hpp"
#include "flymc/anchor/long_tails.hpp"
#include "flymc/core/error.hpp"

namespace flymc {

RowsQuadratic rows_at(const Model& model, const Anchor& anchor) {
  RowsQuadratic rows{anchor.theta, Vector::Zero(anchor.theta.size()), anchor.metric.precision()};
  model.term().surrogate(anchor.theta, rows.slope);
  rows.slope = -rows.slope;
  model.term().curvature(Term::Of::surrogate, anchor.theta).add_to(rows.curvature, -1.0);
  return rows;
}

Anchor find_likeliest_anchor(const Store& store, const Model& model, const Execution& execution, std::uint64_t seed) {
  Anchor first = find_anchor_by_subsample(store, model, execution, seed);
  const LongTails tails(model, rows_at(model, first));
  if (tails.empty()) return first;
  try {
    const Model by_rows = tails.with_wide_priors();
    const Anchor there = find_anchor_by_subsample(store, by_rows, execution, seed, first.theta);
    first.queries += there.queries;
    RowsQuadratic rows = rows_at(by_rows, there);
    const LongTails seen_from_there(model, rows, tails.entries());
    if (seen_from_there.empty()) return first;
    Anchor best =
        find_anchor_by_subsample(store, model, execution, seed, seen_from_there.theta(seen_from_there.likeliest()));
    best.queries += first.queries;
    return best;
  } catch (const InputError&) {
    // Without these priors the likelihood has no mode.
    return first;
  }
}

}  // namespace flymc
