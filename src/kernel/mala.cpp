// Langevin proposals and their correction.
#include "flymc/kernel/mala.hpp"

namespace flymc {

Info Mala::step(State& state, const Random& random) const {
  Info info;
  // The previous move may have left no gradient.
  if (state.at.gradient.size() == 0) {
    info.queries += density_->evaluate(state.theta, state.z, true, state.at);
    ++info.evaluations;
  }
  Vector z(state.theta.size());
  random.normals(Purpose::move, 0, {z.data(), static_cast<std::size_t>(z.size())});
  const Vector here = metric_->whiten_gradient(state.at.gradient);
  const Vector proposal = state.theta + metric_->unwhiten(0.5 * step_ * step_ * here + step_ * z);
  // The reverse move needs z' = -z - step/2 (w + w'), so log q(theta | theta') - log q(theta' | theta) = (|z|^2 -
  // |z'|^2) / 2.
  const auto correction = [&] {
    const Vector there = metric_->whiten_gradient(state.proposed.gradient);
    return 0.5 * (z.squaredNorm() - (z + 0.5 * step_ * (here + there)).squaredNorm());
  };
  metropolis(*density_, state, proposal, true, random, correction, info);
  return info;
}

}  // namespace flymc
