// The posterior evaluated with all rows.
#include "flymc/bright/all_rows.hpp"
#include "flymc/bright/density.hpp"

namespace flymc {

FullDensity::FullDensity(const Store& store, const Model& model, const Communicator& communicator)
    : store_(store), model_(model), communicator_(communicator) {
  model_.check(store, {one_, communicator_});
}

RowId FullDensity::evaluate(const Vector& theta, const BrightRows&, bool with_gradient, Evaluation& out) const {
  const LikelihoodSum sum = sum_of_likelihoods(store_, model_.family(), theta, with_gradient, {one_, communicator_});
  out.gradient = with_gradient ? model_.arrangement().entries_of(sum.gradient) : Vector();
  out.log_density = sum.value + model_.term().log_density(theta, with_gradient ? &out.gradient : nullptr);
  return store_.rows();
}

}  // namespace flymc
