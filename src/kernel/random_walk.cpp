// The random walk's proposal is symmetric, so it needs no correction.
#include "flymc/kernel/random_walk.hpp"

namespace flymc {

Info RandomWalk::step(State& state, const Random& random) const {
  Info info;
  Vector z(state.theta.size());
  random.normals(Purpose::move, 0, {z.data(), static_cast<std::size_t>(z.size())});
  const Vector proposal = state.theta + step_ * metric_->unwhiten(z);
  metropolis(
      *density_, state, proposal, false, random, [] { return 0.0; }, info);
  return info;
}

}  // namespace flymc
